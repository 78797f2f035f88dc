"""Concentration: Simpson's index and the Herfindahl-Hirschman index, one measurement under the names people use.

C = Σ (share of a key)² = F_2/N² is the probability that two random draws have the same key. It is 1 if one key has
everything, and 1/K if K keys are equally common. Gini-Simpson is 1 - C, the inverse is 1/C = D_2 (diversity.py), and
HHI is C, or 10,000 C if shares are in percent.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from ..errors import ArgumentError
from ..numbers.arrays import Array
from ..numbers.checked import is_whole
from ..text.spoken import percent, relative_error, short
from .arguments import Argument, Option
from .known import Known
from .log_hill import OfHill, log_hill
from .statistic import ANY, Statistic
from .words import CONCENTRATION, VARIETY, Subject, Topic, as_varied, between, varied_as

if TYPE_CHECKING:
    from .published import Release

Form = Literal["index", "gini", "inverse"]
_SQUARES = "the sum over all keys of s^2, where s is the key's share of the total"


_FORM = Option(
    "form", "Form of simpson: index, gini or inverse; scale of hhi: 1 or 10000.", metavar="FORM",
    refused="{statistic} has no form {given}. Leave it out; it is for simpson and hhi.",
)  # fmt: skip


class _Concentration(OfHill):
    """A monotone function of C, computed from ln D_2 = -ln C."""

    p = 2.0  # the order of the Hill number that it is computed from

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return self.at(np.exp(-log_hill(2.0, found, pairs)))

    def range(self, known: Known = ANY) -> tuple[float, float]:
        """1/K <= C <= 1."""
        ends = (float(self.at(np.float64(c))) for c in (1.0 / max(known.most_keys, 1.0), 1.0))  # type: ignore[arg-type]
        low, high = sorted(ends)
        return low, high

    def log_effective(self, value: float) -> float:
        c = self.c_of(value)
        return -math.log(c) if c > 0.0 else math.inf

    @abstractmethod
    def at(self, c: Array) -> Array:
        """The statistic at this value of C."""

    @abstractmethod
    def c_of(self, value: float) -> float:
        """C at this value of the statistic."""


@dataclass(frozen=True)
class Simpson(_Concentration):
    """Simpson's index C = Σ (share)²; form="gini" for 1 - C, form="inverse" for 1/C.

    Its error is relative. The error of Gini-Simpson is relative to C, so it is smaller if no key dominates.
    """

    form: Form = "index"

    name: ClassVar[str] = "simpson"
    arguments: ClassVar[tuple[Argument, ...]] = (Argument("form", _FORM, default="index", choices=get_args(Form)),)

    def __post_init__(self) -> None:
        if self.form not in get_args(Form):
            raise ArgumentError("form", self.form, 'must be "index", "gini" or "inverse"', "Choose one of these")

    def at(self, c: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray({"index": c, "gini": 1.0 - c, "inverse": 1.0 / c}[self.form], dtype=np.float64)

    def c_of(self, value: float) -> float:
        return {"index": value, "gini": 1.0 - value, "inverse": 1.0 / max(value, 1.0)}[self.form]

    def definition(self) -> str:
        return {"index": _SQUARES, "gini": f"1 minus {_SQUARES}", "inverse": f"1 over {_SQUARES}"}[self.form]

    @property
    def topic(self) -> Topic:
        return CONCENTRATION if self.form == "index" else VARIETY

    def headline(self, release: Release, subject: Subject) -> str:
        if self.form == "inverse":
            return as_varied(release, subject, release.value, release.low, release.high)
        alike = "the same" if self.form == "index" else "different"
        return (
            f"Two {subject.pair}s drawn at random have {alike} {subject.keys} with a probability of about "
            f"{percent(release.value)}: {between(release, percent)}."
        )

    def finding(self, release: Release, subject: Subject) -> str:
        return varied_as(release.value, subject) if self.form == "inverse" else super().finding(release, subject)

    def error_in_words(self, error: float) -> str:
        return f"{relative_error(error)}{' of Σ s^2' if self.form == 'gini' else ''}"

    def __str__(self) -> str:
        return {"index": "Simpson index", "gini": "Gini-Simpson index", "inverse": "inverse Simpson index"}[self.form]


@dataclass(frozen=True)
class HHI(_Concentration):
    """The Herfindahl-Hirschman index: the sum of squared shares, from 0 to 1, or to 10,000 with scale=10_000."""

    scale: int = 1

    name: ClassVar[str] = "hhi"
    topic = CONCENTRATION
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument("scale", _FORM, read=int, default="1", choices=("1", "10000")),
    )

    def __post_init__(self) -> None:
        if not is_whole(self.scale) or self.scale not in (1, 10_000):
            raise ArgumentError("scale", self.scale, "must be 1 or 10,000", "Choose one of them")
        object.__setattr__(self, "scale", int(self.scale))

    def at(self, c: Array) -> Array:
        return np.asarray(self.scale * c, dtype=np.float64)

    def c_of(self, value: float) -> float:
        return value / self.scale

    def definition(self) -> str:
        return _SQUARES if self.scale == 1 else f"10,000 times {_SQUARES}"

    def headline(self, release: Release, subject: Subject) -> str:
        return (
            f"The Herfindahl-Hirschman index of {subject.keys} is about {short(release.value)} (of {self.scale:,}, if "
            f"one had everything): {between(release, short)}."
        )

    def __str__(self) -> str:
        return "Herfindahl-Hirschman index" + (" (0 to 10,000)" if self.scale > 1 else "")
