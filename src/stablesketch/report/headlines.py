"""A release in one sentence, and the question it answers; one function for each statistic.

Sentences are to be repeated by people who know nothing of moments, so they speak of keys, totals and shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from ..pictures.words import short
from ..published import Release
from ..statistic import (
    HHI,
    Atkinson,
    Distinct,
    GeneralisedEntropy,
    Hill,
    Moment,
    Profile,
    Renyi,
    Shannon,
    Simpson,
    Statistic,
    Total,
    Tsallis,
)

__all__ = ["Subject", "effective", "headline", "leading", "title"]


@dataclass(frozen=True)
class Subject:
    """What a stream is of: the names of its columns of keys and of values, None where they are not known."""

    key: str | None = None
    value: str | None = None

    @property
    def keys(self) -> str:
        """Several of them, as they are spoken of."""
        return f"values of {self.key}" if self.key else "lines"


def title(statistic: Statistic, subject: Subject, by: str | None) -> str:
    """The question that is answered."""
    whole = subject.key or "the stream"
    groups = f", by {by}" if by else ""
    if isinstance(statistic, Distinct):
        return f"How many different {subject.keys} are there{groups}?"
    if isinstance(statistic, Total):
        return f"How much is there of {subject.value or whole}{groups}?"
    if isinstance(statistic, Atkinson | GeneralisedEntropy):
        return f"How unequal is {subject.value or whole}{groups}?"
    if _rises_with_concentration(statistic):
        return f"How concentrated is {whole}{groups}?"
    return f"How varied is {whole}{groups}?"


def _rises_with_concentration(statistic: Statistic) -> bool:
    above_one = isinstance(statistic, Moment) and statistic.p > 1.0
    return above_one or isinstance(statistic, HHI) or statistic == Simpson()


def leading(statistic: Statistic, subject: Subject) -> str:
    """What is said of the group with the largest value."""
    if isinstance(statistic, Distinct):
        return f"has the most different {subject.keys}"
    if isinstance(statistic, Total):
        return "has the largest total"
    if isinstance(statistic, Atkinson | GeneralisedEntropy):
        return f"is the most unequal{f' in {subject.value}' if subject.value else ''}"
    if _rises_with_concentration(statistic):
        return f"is the most concentrated, by {subject.keys}"
    return f"has the greatest variety of {subject.keys}"


def headline(statistic: Statistic, release: Release, subject: Subject) -> str:
    """One sentence, with limits."""
    return _SENTENCES[type(statistic)](statistic, release, subject)


def effective(f: float, release: Release) -> float | None:
    """(F/n^p)^{1/(1-p)}: how many equally frequent keys would be as varied, where n is public and every pair counts 1.

    None where it cannot be said: n is private, values vary, or p is so near 1 that the error of F would be magnified
    beyond use.
    """
    near_one = 0.9 < release.p < 1.5
    if release.pairs is None or release.max_value != 1 or near_one or f <= 0.0:
        return None
    return float((f / float(release.pairs) ** release.p) ** (1.0 / (1.0 - release.p)))


def _moment(statistic: Statistic, release: Release, subject: Subject) -> str:
    if release.value <= 0.0 or release.high <= 0.0:
        return f"The variety of {subject.keys} is too small to be told from the noise that protects it."
    value, *ends = (effective(f, release) for f in (release.value, release.low, release.high))
    known = [end or 0.0 for end in ends]
    if value is not None and any(known):  # above order 1 the effective number falls with the moment
        return _as_varied(release, subject, value, min(known), max(known))
    what = "concentration" if statistic.p > 1.0 else "variety"
    said = f"The {what} of {subject.keys}, measured as {statistic}, is about {_about(release.value)}"
    return f"{said}: {_between(release, _about)}."


def _hill(statistic: Statistic, release: Release, subject: Subject) -> str:
    return _as_varied(release, subject, release.value, release.low, release.high)


def _as_varied(release: Release, subject: Subject, value: float, low: float, high: float) -> str:
    return (
        f"{_rows(release, subject)} are as varied as if they were spread evenly over about {_about(value)} different "
        f"{subject.keys}: between {_about(low)} and {_about(high)} at {_sure(release)} confidence."
    )


def _entropy(statistic: Statistic, release: Release, subject: Subject) -> str:
    """Shannon's and Rényi's, in nats and bits, and the Hill number that goes with them."""
    name = "entropy" if isinstance(statistic, Shannon) else str(statistic)
    if release.value <= 0.0:
        return (
            f"The {name} of {subject.keys} is too small to be told from the noise that protects it: at most "
            f"{short(max(release.high, 0.0))} nats at {_sure(release)} confidence."
        )
    bits = short(release.value / math.log(2.0))
    return (
        f"The {name} of {subject.keys} is about {short(release.value)} nats ({bits} bits), as varied as about "
        f"{_about(math.exp(release.value))} equally common {subject.keys}: {_between(release, short)}, in nats."
    )


def _tsallis(statistic: Statistic, release: Release, subject: Subject) -> str:
    log_hill = cast(Tsallis, statistic).log_hill_of(release.value)
    return (
        f"The {statistic} of {subject.keys} is about {short(release.value)}, as varied as about "
        f"{_about(math.exp(log_hill))} equally common {subject.keys}: {_between(release, short)}."
    )


def _simpson(statistic: Statistic, release: Release, subject: Subject) -> str:
    form = cast(Simpson, statistic).form
    if form == "inverse":
        return _as_varied(release, subject, release.value, release.low, release.high)
    alike = "the same" if form == "index" else "different"
    return (
        f"Two rows drawn at random have {alike} {subject.keys} with a probability of about {_percent(release.value)}: "
        f"{_between(release, _percent)}."
    )


def _hhi(statistic: Statistic, release: Release, subject: Subject) -> str:
    most = cast(HHI, statistic).scale
    return (
        f"The Herfindahl-Hirschman index of {subject.keys} is about {short(release.value)} (of {most:,}, if one had "
        f"everything): {_between(release, short)}."
    )


def _distinct(statistic: Statistic, release: Release, subject: Subject) -> str:
    if release.value <= 0.0 or release.high <= 0.0:
        return f"The number of different {subject.keys} is too small to be told from the noise that protects it."
    return f"There are about {_about(release.value)} different {subject.keys}: {_between(release, _about)}."


def _atkinson(statistic: Statistic, release: Release, subject: Subject) -> str:
    return (
        f"About {_percent(release.value)} of the total{_of(subject)} could be given up if the rest were spread evenly, "
        f"and all would be as well off together (for an aversion to inequality of "
        f"{cast(Atkinson, statistic).aversion:g}): {_between(release, _percent)}."
    )


def _generalised_entropy(statistic: Statistic, release: Release, subject: Subject) -> str:
    most = cast(GeneralisedEntropy, statistic).range()[1]
    return (
        f"The inequality{_of(subject)}, measured as {statistic}, is about {short(release.value)} (0 if all had the "
        f"same, at most {short(most)}): {_between(release, short)}."
    )


def _profile(statistic: Statistic, release: Release, subject: Subject) -> str:
    first, last = release.points[0], release.points[-1]
    limits = f"{_about(first.low)} to {_about(first.high)}"
    said = f"about {_about(first.value)} different {subject.keys} in effect at order {first.order:g} ({limits})"
    if len(release.points) == 1:
        return f"{_rows(release, subject)} have {said} at {_sure(release)} confidence."
    return (
        f"{_rows(release, subject)} have {said}, and about {_about(last.value)} at order {last.order:g} "
        f"({_about(last.low)} to {_about(last.high)}), where common ones weigh more; each at {_sure(release)} "
        "confidence."
    )


def _total(statistic: Statistic, release: Release, subject: Subject) -> str:
    return f"The total{_of(subject)} is about {_about(release.value)}: {_between(release, _about)}."


_Sentence = Callable[[Statistic, Release, Subject], str]
_SENTENCES: dict[type[Statistic], _Sentence] = {
    Moment: _moment,
    Hill: _hill,
    Renyi: _entropy,
    Shannon: _entropy,
    Tsallis: _tsallis,
    Distinct: _distinct,
    Atkinson: _atkinson,
    GeneralisedEntropy: _generalised_entropy,
    Profile: _profile,
    Total: _total,
    Simpson: _simpson,
    HHI: _hhi,
}


def _rows(release: Release, subject: Subject) -> str:
    """The stream: how many rows only where that is public."""
    number = "" if release.pairs is None else f"{release.pairs:,} "
    weighed = f", weighed by {subject.value or 'their values'}," if release.max_value > 1 else ""
    return f"The {number}rows{weighed}"


def _of(subject: Subject) -> str:
    return f" of {subject.value}" if subject.value else ""


def _between(release: Release, say: Callable[[float], str]) -> str:
    return f"between {say(release.low)} and {say(release.high)} at {_sure(release)} confidence"


def _sure(release: Release) -> str:
    return f"{100 * release.confidence:g}%"


def _about(value: float) -> str:
    """Three digits that count, as somebody would say them aloud."""
    return short(float(f"{value:.3g}"))


def _percent(value: float) -> str:
    return f"{100 * value:.3g}%"
