"""A release in sentences: what it cost, what it protects and what it does not, and what was done."""

from __future__ import annotations

import math

from ..bounding.persons import groups_of_each
from ..plan import Plan
from ..plan.mechanism import mechanism_of, needs_promise
from ..privacy.advice import EXCEEDED, WEAK_EPSILON, suspicion
from ..release.shares import Share, in_words
from ..statistic.published import Release
from ..text.spoken import at_most, one_in
from .definitions import most_allowed

_EXPONENT = 700.0  # e^709 is the largest float


def cost(
    plan: Plan, release: Release, groups: int, person: bool, shares: tuple[Share, ...] = (), *, pair: str = "row"
) -> str:
    """ε and δ, what they mean, and, if they were divided, what they were spent on."""
    whole = " for the whole table" if groups else ""
    divided = f": {in_words(shares, release.epsilon, grouped=bool(groups))}" if len(shares) > 1 else ""
    used = at_most(release.epsilon)
    factor = at_most(math.exp(release.epsilon), 3) if release.epsilon < _EXPONENT else f"e^{used}"
    excess = f", plus a probability of at most {one_in(release.delta)} (δ)" if release.delta else ""
    most = at_most(most_allowed(plan, shares)[0])
    asked = f" At most ε = {most} was asked for; {used} was used." if most != used else ""
    return (
        f"ε = {used} and δ = {at_most(release.delta, 3)}{whole}{divided}.{asked} Any conclusion from "
        f"what is published here is at most {factor} times as likely because of {_act(plan, person, pair)}"
        f"{excess}. Every further release of the same data costs its own ε on top of this."
    )


def whom(plan: Plan, person: bool, release: Release, published: str = "this page", *, pair: str = "row") -> str:
    """Who is protected, and how well, in words that need no explanation. `pair` is the word for a pair.

    The bound on a suspicion and its exception are proved in `privacy.advice.suspicion`. ε and δ are those of the
    release: everything that was spent, including on names of groups. Those of the plan are for the numbers only.

    Under add_remove ε is for whether a person is in the data. Two things that they may have done are two steps apart,
    through data without the person: 2 ε and (1 + e^ε) δ.
    """
    c, epsilon = plan.privacy.pairs_per_person, release.epsilon
    weak = epsilon > WEAK_EPSILON
    same = f"{published} {'could have come out quite differently' if weak else 'would have come out much the same'}"
    verdict = " That is little protection." if weak else ""
    end = f"{_becomes(epsilon, release.delta)}.{verdict}"
    record = "record" if pair == "row" else pair
    records = f"one {record}" if c == 1 else f"{c:,} {record}s of one person"
    if plan.privacy.unit == "key":
        records = "one person's total" if c == 1 else f"{c:,} totals of one person"
    if plan.privacy.unit == "individual":
        records = "one individual" if c == 1 else f"{c:,} individuals"
    if plan.privacy.relation == "replace":
        which = "it says" if c == 1 else "they say"
        return f"Whatever any {records} had said, {same}. A suspicion of 50% about what {which} {end}"
    if person or plan.privacy.unit == "key":
        twice = _becomes(2.0 * epsilon, (1.0 + math.exp(min(epsilon, _EXPONENT))) * release.delta)
        return (
            f"Every person is protected. With or without any one person's data, {same}. A suspicion of 50% that "
            f"someone is in the data {_becomes(epsilon, release.delta)}. One about what they did {twice}.{verdict}"
        )
    them = "it is" if c == 1 else "they are"
    unit = unit_in_words(plan, pair)
    more = f"several {unit}s" if c == 1 else f"more than {c:,} {unit}s"
    less = f"{more[:1].upper()}{more[1:]} together are" if unit == "individual" else f"A person with {more} is"
    return (
        f"With or without any {records}, {same}. A suspicion of 50% that {them} in the data {end} "
        f"{less} protected less."
    )


def _becomes(epsilon: float, delta: float) -> str:
    """What a suspicion of 50% becomes by reading something (ε, δ)-private."""
    most, chance = suspicion(epsilon, delta), min(EXCEEDED * delta, 1.0)
    no_exception = chance == 0.0 or (chance == 1.0 and most == "100%")
    apart = "" if no_exception else f", except with a chance of at most {one_in(chance)}"
    return f"becomes at most {most} by reading it{apart}"


def limits(plan: Plan, release: Release, person: bool, groups: int | None = None, *, pair: str = "row") -> str:
    """What the interval covers, and what it does not."""
    most = plan.privacy.pairs_per_person
    used = f"{pair}s used, at most {most:,} of each person" if person else "data"
    left_out = f" {_left_out(plan, pair)}" if person else ""
    if person and groups is not None:
        left_out = f" {groups_of_each(groups, pair)}{left_out}"
    return (
        f"Limits hold the true value in {100 * release.confidence:g} of 100 releases: the value of the {used}, "
        f"before sketch and noise. They say nothing about a population that the data were sampled from.{left_out}"
    )


def _left_out(plan: Plan, pair: str) -> str:
    """How far the pairs that were not used may have moved the value. No public number bounds it."""
    shares = any(point.of_shares for point in plan.statistic.points)
    moved = "can move the value either way" if shares else "can only lower the value"
    return (
        f"Leaving out the other {pair}s {moved}; the limits do not include that. How far cannot be published, because "
        f"one person with very many {pair}s could decide it; those who hold the data can compute it."
    )


def protected(plan: Plan, person: bool, shares: tuple[Share, ...] = (), *, pair: str = "row") -> list[str]:
    """What the release does not reveal."""
    unit, purposes = unit_in_words(plan, pair), {share.purpose for share in shares}
    found = _protected(plan, person, unit)
    whom = "that person" if person or plan.privacy.pairs_per_person > 1 else f"that {unit}"
    if "names" in purposes:
        counted = "people" if person else f"{unit}s"
        found.append(
            f"That a group is shown because of {whom}: its name appears only if a noisy count of its {counted} is "
            "large enough. Groups that are not shown may exist."
        )
    if "max_value" in purposes:
        found.append(
            f"That the values are as large as they are because of {whom}: the maximum value, "
            f"{plan.privacy.max_value:,}, was found from noisy counts. Larger values count as the maximum."
        )
    return found


def _protected(plan: Plan, person: bool, unit: str) -> list[str]:
    privacy = plan.privacy
    c = privacy.pairs_per_person
    if privacy.unit == "key":
        whole = "any one key, which is one person," if c == 1 else f"any {c} keys of one person"
        if privacy.relation == "replace":
            whole = f"What {whole} {'has' if c == 1 else 'have'}: the whole total"
            return [f"{whole}. It could have been anything from 1 to {privacy.max_value:,}."]
        return [f"Whether {whole} {'is' if c == 1 else 'are'} in the data at all, and with what total."]
    rows = f"any one {unit}" if c == 1 else f"any {c} {unit}s of one person"
    if privacy.relation == "replace":
        return [f"What {rows} said: key and value. It could have been anything else."]
    if person:
        had = f"however many {unit}s they had: at most {c} of these were used"
        return [f"Whether any one person is in the data at all, {had}."]
    return [f"Whether {rows} {'is' if c == 1 else 'are'} in the data at all."]


def chosen(plan: Plan, shares: tuple[Share, ...], person: bool, *, pair: str = "row") -> list[str]:
    """How the choices before the release were made."""
    counted = "people" if person else f"{unit_in_words(plan, pair)}s"
    noise = "was given discrete Laplace noise, drawn exactly, from the operating system"
    ways = {
        "max_value": f"Values were counted by their number of binary digits; every count {noise}, and "
        "the maximum value was taken from them. Larger values count as that maximum.",
        "names": f"The {counted} of every group were counted; every count {noise}, and names of "
        "groups with small counts are not shown.",
    }
    return [ways[share.purpose] for share in shares if share.purpose in ways]


def computed(plan: Plan) -> list[str]:
    """How the number was computed from the stream, measurement by measurement."""
    measured = [(mechanism_of(one), one) for one in plan.measurements]
    found = [sentence for way, one in measured for sentence in way.methods(one)]
    found += dict.fromkeys(reason for way, one in measured if (reason := way.reason(one)))
    if needs_promise(plan):
        found.append("The numbers were rounded to a public grid; the cost of finite precision is part of δ.")
    found.append(
        "All randomness comes from a secret of 256 bits that was drawn for this release only and is now spent: weights "
        "by AES-128, noise by SHAKE-256."
    )
    return [*found, *mechanism_of(plan).methods(plan)] if plan.inputs else found


def not_protected(
    plan: Plan, release: Release, person: bool, groups: int, shares: tuple[Share, ...] = (), *, pair: str = "row"
) -> list[str]:
    """What the guarantee does not cover, so that nobody relies on more than is true."""
    c, unit = release.pairs_per_person, unit_in_words(plan, pair)
    found = []
    if release.relation == "replace":
        found.append(
            f"How many {unit}s there are{'' if release.pairs is None else f' ({release.pairs:,})'}. It is public."
        )
    if not person:
        more = f"more than one {unit}" if c == 1 else f"more than {c} {unit}s"
        who = f"{more[:1].upper()}{more[1:]} together" if unit == "individual" else f"A person with {more}"
        found.append(f"{who}: the more {unit}s, the less they are protected.")
    if groups and not any(share.purpose == "names" for share in shares):
        found.append("The names of the groups: they were listed and are public. A listed group may be empty.")
    found += [
        "What is true of everyone. If the number itself says something about a group, so does this release.",
        "Anything from those who hold the data, or who held the secret or the state during the computation.",
        "Other releases from the same data. Together they cost more than each alone.",
    ]
    return found


def unit_in_words(plan: Plan, pair: str) -> str:
    """What is protected if it is not a person, in words; `pair` is the word for a pair."""
    return pair if plan.privacy.unit == "pair" else plan.privacy.unit


def _act(plan: Plan, person: bool, pair: str) -> str:
    if person:  # whose rows were bounded
        return "one person being in the data"
    c, unit = plan.privacy.pairs_per_person, unit_in_words(plan, pair)
    units = f"one {unit}" if c == 1 else f"{c:,} {unit}s of one person"
    if plan.privacy.relation == "replace":
        return f"what {units} {'said' if plan.privacy.unit == 'pair' else 'had'}"
    return f"{units} being in the data"
