"""The way from the stream to the number, sketch by sketch."""

from __future__ import annotations

from ..plan import Plan
from ..plan.in_words import amount
from ..plan.mechanism import mechanism_of
from ..spoken import short
from ..statistic import Distinct, Shannon, total_is_public

__all__ = ["computed"]


_ENTROPY_TOTALS = "All keys were held in memory, as keyed fingerprints with their totals."
_ENTROPY_COUNT = (
    "The total of all values was given discrete Laplace noise, drawn exactly, on integers; so was a bound on how much "
    "one person can change what follows."
)
_ENTROPY_NOISE = (
    "Entropy times the total, which rises with every pair by no more than a known amount, was computed exactly, "
    "rounded to a public grid, given discrete Laplace noise, and divided by the total."
)


def computed(plan: Plan) -> list[str]:
    """What was done, in order."""
    parts = plan.parts or (plan,)
    found = [sentence for part in parts for sentence in _measured(part)]
    found += list(dict.fromkeys(reason for part in parts for reason in _reason(part)))
    if any(part.mechanism == "bare" for part in parts):
        found.append("What the numbers say was rounded to a public grid; what finite precision costs is part of δ.")
    found.append(
        "All randomness comes from a secret of 256 bits that was drawn for this release alone, and is spent: weights "
        "by AES-128, noise by SHAKE-256."
    )
    if plan.parts:
        names = " and ".join(str(part.statistic) for part in parts)
        found.append(
            f"From {names}, as released, the {plan.statistic} and its limits were computed. That looks at no data, and "
            "costs no privacy."
        )
    return found


def _measured(part: Plan) -> list[str]:
    if mechanism_of(part).counter:
        return [
            "One counter held the total of all values. Noise was drawn exactly, on integers, from the discrete Laplace "
            f"law of scale {amount(mechanism_of(part).noise_scale(part))}, and added."
        ]
    if part.mechanism == "exact" and isinstance(part.statistic, Shannon):
        return [_ENTROPY_TOTALS, *([] if total_is_public(part.privacy) else [_ENTROPY_COUNT]), _ENTROPY_NOISE]
    if part.mechanism == "exact":
        return [
            f"All keys were held in memory, as keyed fingerprints with their totals, and {part.statistic} was computed "
            "exactly, then rounded to a public grid.",
            f"Noise was drawn exactly, on integers, from the discrete Laplace law of scale "
            f"{amount(mechanism_of(part).noise_scale(part))}, and added.",
        ]
    if isinstance(part.statistic, Distinct):
        return [
            f"The keys were counted by {part.size:,} registers of 32 bits, which remember the largest random numbers "
            "that keys drew. No key was stored.",
            f"Made-up keys were added, in a secret random number of about {part.phantoms.count:,}, so that the "
            "registers tell only of the number of keys with that noise. Its mean was taken off. This is private for "
            "any stream.",
        ]
    if isinstance(part.statistic, Shannon) and part.mechanism == "bare":
        return [
            f"The stream was folded into {part.size:,} numbers, each a sum of the totals of all keys with secret "
            "random weights of the skewed stable law of order 1. No key was stored. Divided by the total, each is "
            "noise of a known law less the entropy.",
            "No phantom keys were needed: the stream is long enough for so many numbers.",
        ]
    if isinstance(part.statistic, Shannon):
        return _entropy(part)
    return [*_sampled(part), *_bare_moment(part)] if part.mechanism == "bare" else _moment(part)


def _moment(part: Plan) -> list[str]:
    law = "positive" if part.statistic.p < 1.0 else "symmetric"
    places, whose, spread = "", "all keys", []
    if part.buckets > 1:
        places = f", in {part.buckets:,} buckets, of which a secret hash gave each key one"
        whose = "the keys of its bucket"
        spread = [
            "How evenly the buckets are filled was given discrete Laplace noise too, for a 32nd of the budget: the "
            "interval depends on it."
        ]
    measured = mechanism_of(part).measured(part)
    return [
        f"The stream was folded into {part.size:,} numbers{places}: each a sum of the totals of {whose} with secret "
        f"random weights of the {law} stable law of order {part.statistic.p:g}. {measured} was "
        "estimated from them. No key was stored.",
        f"Noise was drawn exactly, on a public grid, from the discrete Laplace law of scale {amount(part.noise)}, and "
        "added to the estimate.",
        *spread,
    ]


def _reason(part: Plan) -> list[str]:
    """Why it is private: docs/math-noisy-estimate.md."""
    if part.mechanism != "sketch" or isinstance(part.statistic, Distinct):
        return []
    entropy = isinstance(part.statistic, Shannon)
    estimate = "entropy plus a random error" if entropy else "value times a random factor"
    return [
        f"This is private for any stream, short or long: {'that' if entropy else 'an'} estimate is the true {estimate} "
        "whose law is the same for every stream, so one person moves it little, and the noise hides how much. What "
        "finite precision costs is part of δ."
    ]


def _entropy(part: Plan) -> list[str]:
    grid = "was rounded to a public grid and given discrete Laplace noise"
    noise = f"Entropy times the total {grid}, and divided by the total, which is public."
    if not total_is_public(part.privacy):
        noise = (
            "The total was given discrete Laplace noise first. Entropy, less a number that follows from that, times "
            f"the total {grid}. Entropy follows from both."
        )
    law = "with secret random weights of the skewed stable law of order 1"
    if part.buckets > 1:
        return [
            f"The stream was folded into {part.size:,} numbers in {part.buckets:,} buckets. A secret hash gave every "
            f"key one bucket of {part.entries_per_key:,} numbers, each a sum of the totals of its keys {law}. Every "
            "bucket has its total. Entropy was estimated from them. No key was stored.",
            noise,
            "How evenly the buckets are filled was given discrete Laplace noise too, for a sixteenth of ε: the "
            "interval depends on it.",
        ]
    return [
        f"The stream was folded into {part.size:,} numbers, each a sum of the totals of all keys {law}, and into the "
        "total. Entropy was estimated from them. No key was stored.",
        noise,
    ]


def _bare_moment(part: Plan) -> list[str]:
    floor = (
        f"Before the release, phantom keys of a known mass of {short(part.floor)} were added, so that the entries "
        "are random enough for the privacy asked; that mass was taken off the estimate."
        if part.floor
        else "No phantom keys were needed: the stream is long enough."
    )
    return [
        f"The stream was folded into {part.size:,} numbers, each a sum of the totals of all keys with secret random "
        f"weights of the symmetric stable law of order {part.statistic.p:g}. No key was stored.",
        floor,
    ]


def _sampled(part: Plan) -> list[str]:
    if part.sampled is None:
        return []
    return [f"Every pair was kept with a probability of {part.sampled.sampling.rate:g}; the value is biased by it."]
