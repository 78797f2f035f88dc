"""A release in sentences: what a manager can repeat, what it cost, what it protects and what it does not."""

from __future__ import annotations

import math

from ..pictures.words import at_most, short
from ..plan import Plan
from ..release import Release

__all__ = ["asked", "computed", "cost", "effective", "headline", "not_protected", "protected"]


def effective(f: float, release: Release) -> float | None:
    """(F/n^p)^{1/(1-p)}: how many equally frequent keys would be as varied, where n is public and every pair counts 1.

    None where it cannot be said: n is private, values vary, or p is so near 1 that the error of F would be magnified
    beyond use.
    """
    if release.pairs is None or release.max_value != 1 or release.p > 0.9 or f <= 0.0:
        return None
    return float((f / float(release.pairs) ** release.p) ** (1.0 / (1.0 - release.p)))


def headline(release: Release, key: str) -> str:
    """One sentence, to be repeated by people who know nothing of moments."""
    shares = f"{100 * release.confidence:g}%"
    if release.value <= 0.0 or release.high <= 0.0:
        return f"The variety of {key} is too small to be told from the noise that protects it."
    values = [effective(f, release) for f in (release.value, release.low, release.high)]
    if values[0] is not None and values[2] is not None:
        low = _about(values[1]) if values[1] is not None else "0"
        return (
            f"The {release.pairs:,} rows are as varied as if they were spread evenly over about {_about(values[0])} "
            f"different {key}: between {low} and {_about(values[2])} at {shares} confidence."
        )
    return (
        f"The variety of {key}, measured as {release.statistic}, is about {_about(release.value)}: between "
        f"{_about(release.low)} and {_about(release.high)} at {shares} confidence."
    )


def asked(plan: Plan, release: Release, grouped: bool) -> list[tuple[str, str]]:
    """The question, as it stood before any data were read."""
    privacy = plan.privacy
    p = plan.statistic.p
    return [
        ("statistic", f"{plan.statistic}: the sum over all keys of (total of the key)^{p:g}"),
        ("for each group" if grouped else "privacy asked", f"ε = {privacy.epsilon:.6g}, δ = {privacy.delta:.3g}"),
        ("relation", f"{privacy.relation}: {_change(release)}"),
        ("promised", f"at least {privacy.pairs:,} pairs" if privacy.pairs else "nothing about the number of pairs"),
        (
            "values",
            f"whole numbers from 1 to {release.max_value:,}" if release.max_value > 1 else "every pair counts 1",
        ),
    ]


def cost(release: Release, groups: int) -> str:
    """ε and δ, and what they mean."""
    whole = " for the whole table" if groups else ""
    factor = math.exp(release.epsilon)
    chance = f"but for a chance of {at_most(release.delta, 2)}" if release.delta else "without exception"
    return (
        f"ε = {at_most(release.epsilon)} and δ = {at_most(release.delta, 3)}{whole}. No conclusion from what is "
        f"published here is more than {at_most(factor, 3)} times as likely because of {_act(release)}, {chance}. Every "
        "further release of the same data costs its own ε on top of this."
    )


def protected(release: Release, person: bool) -> list[str]:
    """What cannot be learnt from the release."""
    c = release.pairs_per_person
    rows = "any one row" if c == 1 else f"any {c} rows of one person"
    if release.relation == "replace":
        return [f"What {rows} said: key and value. It could have been anything else."]
    if person:
        return [
            f"Whether any one person is in the data at all, however many rows they had: {c} of them at most were used."
        ]
    return [f"Whether {rows} {'is' if c == 1 else 'are'} in the data at all."]


def not_protected(release: Release, person: bool, groups: int) -> list[str]:
    """What the guarantee is silent about, so that nobody believes more than is true."""
    c = release.pairs_per_person
    found = []
    if release.relation == "replace":
        found.append(
            f"How many rows there are{'' if release.pairs is None else f' ({release.pairs:,})'}. It is public."
        )
    if not person:
        more = "more than one row" if c == 1 else f"more than {c} rows"
        found.append(f"Somebody with {more}: the more rows, the less they are protected.")
    if groups:
        found.append("The names of the groups that are shown.")
    found += [
        "What is true of everybody. If the number itself says something about a group, so does this release.",
        "Anything from those who hold the data, or held the secret or the state while it was computed.",
        "Other releases from the same data. Together they cost more than each alone.",
    ]
    return found


def computed(plan: Plan, release: Release) -> list[str]:
    """The way from the stream to the number."""
    if plan.mechanism == "exact":
        return [
            f"All keys were held in memory, as keyed fingerprints with their totals, and {plan.statistic} was computed "
            "exactly, then rounded to a public grid.",
            f"Noise was drawn exactly, on integers, from the discrete Laplace law that ε = {plan.epsilon:.4g} asks "
            "for, and added.",
        ]
    floor = (
        f"Before the release, phantom keys of a known mass of {short(release.floor)} were added, so that the entries "
        "are random enough for the privacy asked; that mass was taken off the estimate."
        if release.floor
        else "No phantom keys were needed: the stream is long enough."
    )
    sampled = []
    if plan.sampled is not None:
        sampled = [
            f"Every pair was kept with a probability of {plan.sampled.sampling.rate:g}; the value is biased by it."
        ]
    return [
        *sampled,
        f"The stream was folded into {plan.size:,} numbers, each a sum of the totals of all keys with secret random "
        f"weights of the symmetric stable law of order {plan.statistic.p:g}. No key was stored.",
        floor,
        "The estimate of their common scale was rounded to a public grid; what finite precision costs is part of δ.",
        "The weights come by AES-128 from a secret of 256 bits that was drawn for this release alone, and is spent.",
    ]


def _about(value: float) -> str:
    """Three digits that count, as somebody would say them aloud."""
    return short(float(f"{value:.3g}"))


def _change(release: Release) -> str:
    pairs = "1 pair" if release.pairs_per_person == 1 else f"up to {release.pairs_per_person:,} pairs of one person"
    return f"{pairs} replaced by others" if release.relation == "replace" else f"{pairs} added or removed"


def _act(release: Release) -> str:
    rows = "one row" if release.pairs_per_person == 1 else f"{release.pairs_per_person:,} rows of one person"
    return f"what {rows} said" if release.relation == "replace" else f"{rows} being in the data"
