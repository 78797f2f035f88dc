"""The common parts of sentences about statistics: the stream, the question, and how sure the answer is.

The sentences are for people who know nothing about moments, so they speak of keys, totals and shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..text.spoken import about, short, with_limits

if TYPE_CHECKING:
    from .published import Release


@dataclass(frozen=True)
class Subject:
    """What a stream contains: the names of its columns of keys and of values, None if unknown.

    `noun` is the user's plural word for the keys; `person` says that the release protects the people who use them;
    `pair` is the word for a pair.
    """

    key: str | None = None
    value: str | None = None
    noun: str | None = None
    person: bool = False
    pair: str = "row"

    @property
    def keys(self) -> str:
        """Several keys, in words."""
        return self.noun or (f"values of {self.key}" if self.key else "keys")

    @property
    def equal_keys(self) -> str:
        """The even stream that a stream is compared with, in words."""
        return f"equally {'used' if self.person else 'common'} {self.keys}"

    @property
    def of_value(self) -> str:
        """What the total is of, if known."""
        return f" of {self.value}" if self.value else ""


@dataclass(frozen=True)
class Topic:
    """What a statistic is about: the question it answers, and the sentence about the group with the largest value.

    In both, `{keys}` stands for several keys, `{whole}` for the stream, `{be}` for "is" or "are" as the stream
    requires, and `{amount}` for its values if they have a name.
    """

    question: str
    leader: str

    def asked(self, subject: Subject, by: str | None) -> str:
        """The question that the statistic answers."""
        return f"{_filled(self.question, subject)}{f', by {by}' if by else ''}?"

    def leading(self, subject: Subject) -> str:
        """The sentence about the group with the largest value."""
        return _filled(self.leader, subject)


def _filled(text: str, subject: Subject) -> str:
    whole = f"the {subject.noun or f'values of {subject.key}'}" if subject.noun or subject.key else "the stream"
    named = f"the {subject.noun}" if subject.noun else subject.key or "the stream"
    amount, in_value = subject.value or named, f" in {subject.value}" if subject.value else ""
    be = "are" if subject.noun or subject.key else "is"
    return text.format(keys=subject.keys, whole=whole, be=be, amount=amount, in_value=in_value)


VARIETY = Topic("How varied {be} {whole}", "has the greatest variety of {keys}")
CONCENTRATION = Topic("How concentrated {be} {whole}", "is the most concentrated, by {keys}")


def rows(release: Release, subject: Subject) -> str:
    """The stream in words, with its number of rows only if that is public."""
    number = "" if release.pairs is None else f"{release.pairs:,} "
    weighed = f", weighted by {subject.value or 'their values'}," if release.max_value > 1 else ""
    return f"The {number}{subject.pair}s{weighed}"


def sure(release: Release) -> str:
    """The confidence of the limits, in words."""
    return f"{100 * release.confidence:g}%"


def between(release: Release, say: Callable[[float], str]) -> str:
    """The limits, in words."""
    return f"between {say(release.low)} and {say(release.high)} at {sure(release)} confidence"


def too_small(what: str) -> str:
    """The sentence for a value too small to say anything about."""
    return f"The {what} is too small to distinguish from the noise that protects it"


def as_varied(release: Release, subject: Subject, value: float, low: float, high: float) -> str:
    """A release as an effective number of keys."""
    number, least, most = with_limits(value, low, high)
    return (
        f"{rows(release, subject)} are as varied as {number} {subject.equal_keys}: between {least} and {most} at "
        f"{sure(release)} confidence."
    )


def varied_as(value: float, subject: Subject) -> str:
    """An effective number of keys, in a few words."""
    return f"As varied as {about(value)} {subject.equal_keys}"


def follows_rare_keys(grows: str) -> str:
    """The warning about comparing groups below order 1."""
    return (
        f"{grows} with the number of rows too, because more rows show more rare keys, so it does not compare groups of "
        "different sizes. Orders 1 and 2 depend on it less."
    )


def entropy(name: str, release: Release, subject: Subject) -> str:
    """Shannon's and Rényi's entropy, in nats and bits, and the Hill number that goes with them."""
    if release.value <= 0.0:
        most = short(max(release.high, 0.0))
        return f"{too_small(f'{name} of {subject.keys}')}: at most {most} nats at {sure(release)} confidence."
    bits = short(release.value / math.log(2.0))
    return (
        f"The {name} of {subject.keys} is about {short(release.value)} nats ({bits} bits), as varied as about "
        f"{about(math.exp(release.value))} {subject.equal_keys}: {between(release, short)}, in nats."
    )
