"""`Statistic`: the interface of every statistic.

A statistic is either `Measured` by its own mechanism (`Moment`, `Shannon`, `Distinct`, `Total`), or `Derived`: computed
from measurements (`Hill`, `Atkinson`, `Profile`, ...). Which measurements it needs depends on what is public.
Everything specific to one statistic is in its class: formula, range, words and options. No other code asks which
statistic it has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.arrays import Array
from ..numbers.checked import is_real
from ..text.spoken import about, relative_error, short
from ..text.wording import stat
from .arguments import Argument, Option, OptionError
from .known import Known
from .words import Subject, Topic, between

if TYPE_CHECKING:
    from ..privacy import Privacy
    from .published import Release

ANY = Known()  # nothing is known about the stream
LEAST_ORDER = 0.05  # of a moment: below it, entries exceed the range of numbers


class Statistic(ABC):
    """A statistic of a stream: a frozen object with its name and everything that is specific to it."""

    name: ClassVar[str]
    """Its name in JSON and on the command line."""
    relative: ClassVar[bool] = True
    """Whether its error is relative to its value, or absolute."""
    unit: ClassVar[str] = ""
    """The unit of its value, if it has one."""
    default_error: ClassVar[float] = 0.05
    """The error that a plan aims at by default."""
    of_people: ClassVar[bool] = False
    """Whether it is about people, one for each key."""
    derived: ClassVar[bool] = False
    """Whether it is computed from other measurements."""
    bare_in_first_version: ClassVar[bool] = True
    """Whether version 0.1.0 released sketches of it without noise."""
    several: ClassVar[bool] = False
    """Whether it is several numbers, one for each of its `points`."""
    point_name: ClassVar[str] = "value"
    """What each of several numbers is, without its order."""
    order_axis: ClassVar[str] = "order"
    """What the orders of several numbers mean, under a picture of them."""
    rises: ClassVar[bool] = False
    """Whether one more pair never lowers its value. If so, phantom keys (a floor) can hide the pair, and bare entries
    need no promise about the number of pairs."""
    of_shares: ClassVar[bool] = False
    """Whether it is about shares of the whole, so that its exact value is nan for an empty stream."""
    arguments: ClassVar[tuple[Argument, ...]] = ()
    """Its fields that options of the command line set."""
    on_command_line: ClassVar[bool] = True
    """Whether the command line offers it."""
    usual: ClassVar[bool] = False
    """Whether it is the default statistic; it then needs no arguments."""
    usual_because: ClassVar[str] = ""
    """What the default statistic is, and why it is the default: a clause after its name."""
    by_option: ClassVar[bool] = False
    """Whether an option that belongs to no other statistic selects it."""

    metric: ClassVar[str]
    """Its name in metrics, after `stablesketch_`: what is counted, and in which unit. By default it is `name`; its
    fields are labels."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            cls.metric = vars(cls).get("metric", cls.name)

    if TYPE_CHECKING:  # a field in some classes and a property in others

        @property
        def p(self) -> float:
            """Its order: 0 counts every key alike, 1 every pair."""

    def check_released(self) -> None:  # noqa: B027  # most statistics can always be released
        """Refuses a statistic that has an exact value but cannot be released."""

    # What it is made of.

    @property
    @abstractmethod
    def inputs(self) -> tuple[Measured, ...]:
        """Everything it can be computed from, most important first."""

    @property
    def points(self) -> tuple[Statistic, ...]:
        """The numbers it consists of: itself, or one for each order."""
        return (self,)

    @property
    def point_names(self) -> tuple[str, ...]:
        """The name of each number in a table of all of them."""
        return (str(self),)

    @property
    def usual_privacy(self) -> Mapping[str, str]:
        """Arguments of `Privacy` that it needs and users may leave out."""
        return {"unit": "key", "relation": "replace"} if self.of_people else {}

    def needs(self, privacy: Privacy) -> tuple[Statistic, ...]:
        """What must be measured, most important first. It omits what is public."""
        return tuple(each for each in self.inputs if not each.is_public(privacy))

    @abstractmethod
    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        """The statistic, from the values of what it needs. `pairs` is the number of pairs, if that is public."""

    @abstractmethod
    def range(self, known: Known = ANY) -> tuple[float, float]:
        """The least and the greatest value on a stream, given what is known about it."""

    def factor(self, measured: Statistic) -> float:
        """How much an error in what is measured grows: relative for moments and counts, absolute for entropy."""
        return 1.0

    def combined(self, errors: Mapping[Statistic, float], privacy: Privacy) -> float:
        """Its error, to first order, if the measurements have these errors; for several numbers, the largest error."""
        needs = self.needs(privacy)
        # Not a sum of squares: a square may exceed the range of a float, which raises an error.
        return math.hypot(*(self.factor(each) * error for each, error in errors.items() if each in needs))

    def likely(self, value: float, found: Mapping[Statistic, float]) -> float:
        """The value, moved into the range it would have if the measurements were exact. Limits are not moved."""
        return value

    def expected_of(self, measured: Statistic, expected: float, pairs: int) -> float | None:
        """The expected value of a measurement if the statistic is `expected`; None if that does not determine it."""
        return None

    def least_total(self, expected: float) -> float | None:
        """The least total of a stream where the statistic is `expected`; None if that says nothing about it."""
        return None

    @property
    def worst_on_one_key(self) -> bool:
        """Whether it changes most if all pairs of a person have one key. An audit looks there first."""
        return False

    def without(self, measured: Statistic) -> Statistic | None:
        """A similar statistic that does not need this measurement; None if there is none."""
        return None

    # Its exact value, which is not private.

    def exact(self, totals: Array) -> tuple[float, ...]:
        """Every number it consists of, for keys with these totals."""
        sums = {each: math.fsum(each.terms(totals)) for each in self.inputs}
        return self.exact_of(sums, math.fsum(totals), len(totals))

    def exact_of(self, sums: Mapping[Measured, float], total: float, keys: int) -> tuple[float, ...]:
        """Like `exact`, from the sums of its inputs' terms (`Measured.terms`), the total and the number of keys."""
        found: dict[Statistic, Array] = {each: np.array(each.of_sum(sums[each], total)) for each in self.inputs}
        return tuple(float(point.of(found, keys)) if keys or not point.of_shares else math.nan for point in self.points)

    # Its words.

    @abstractmethod
    def definition(self) -> str:
        """The formula, in plain text."""

    @classmethod
    def point_axis(cls, subject: Subject) -> str:
        """What several numbers measure, beside a picture of them."""
        return cls.point_name

    @property
    def topic(self) -> Topic:
        """The question it answers."""
        return Topic(f"What is the {self} of {{whole}}", f"has the largest {self}")

    def headline(self, release: Release, subject: Subject) -> str:
        """A release of the statistic, in one sentence with its limits."""
        return f"The {self} of {subject.keys} is about {short(release.value)}: {between(release, short)}."

    def finding(self, release: Release, subject: Subject) -> str:
        """A release of the statistic in a few words, without limits: the title of its picture."""
        return f"{str(self)[:1].upper()}{str(self)[1:]} is about {about(release.value)}"

    def log_effective(self, value: float) -> float | None:
        """The logarithm of the effective number of keys at this value; None if it is not a statistic of shares."""
        return None

    @property
    def caution_between_groups(self) -> str:
        """A warning for tables that compare groups by this statistic; empty if it compares them fairly."""
        return ""

    @property
    def comparable(self) -> Statistic:
        """What to use instead to compare groups; itself, unless all its numbers depend on their sizes."""
        return self

    def error_in_words(self, error: float) -> str:
        """An error of this size, in words."""
        return relative_error(error) if self.relative else " ".join(filter(None, [f"{error:.3g}", self.unit]))

    @property
    def named(self) -> str:
        """The statistic as named in a text (text/wording.py)."""
        return stat(type(self).__name__, *list(self.to_dict().values())[1:])

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]  # all of them are dataclasses

    # The command line.

    @classmethod
    def from_options(cls, given: Mapping[Option, Any]) -> Self:
        """The statistic from all options of the command line; options that were not typed are None."""
        own = {argument.option for argument in cls.arguments}
        for option, value in given.items():
            if value is not None and option not in own:
                raise OptionError(cls.refusal(option, value))
        return cls(**{each.field: each.value_of(cls, given.get(each.option)) for each in cls.arguments})

    @classmethod
    def refusal(cls, option: Option, given: object) -> str:
        """The message about an option that the statistic does not take."""
        return option.refusal(cls, given)

    @classmethod
    def in_options(cls, *values: str) -> str:
        """The options to type for these arguments."""
        named = [] if cls.by_option else [f"--statistic {cls.name}"]
        given = zip(cls.arguments, values, strict=False)
        return " ".join([*named, *(f"--{each.option.name} {value}" for each, value in given)])

    def as_options(self) -> str:
        """The options to type for this statistic."""
        return self.in_options(*(each.written(getattr(self, each.field)) for each in self.arguments))


def exact_name(statistic: Statistic) -> str:
    """Its printed name, with the exact order if printing rounds it."""
    shown = str(statistic)
    return shown if float(f"{statistic.p:g}") == statistic.p else f"{shown}, {statistic.p.hex()}"


class Measured(Statistic):
    """Measured by its own mechanism. Its exact value is a function of a sum over keys and of the total."""

    of_largest: ClassVar[bool] = False
    """Whether `sql_term` also uses `largest`, the largest total of a key."""

    @property
    def inputs(self) -> tuple[Measured, ...]:
        return (self,)

    def is_public(self, privacy: Privacy) -> bool:
        """Whether it is public, so that other statistics can be computed from it without measuring it."""
        return False

    def needs(self, privacy: Privacy) -> tuple[Statistic, ...]:
        return (self,)

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return found[self]

    def expected_of(self, measured: Statistic, expected: float, pairs: int) -> float | None:
        return expected

    @abstractmethod
    def terms(self, totals: Array) -> Array:
        """The terms that are added up over keys."""

    @property
    @abstractmethod
    def sql_term(self) -> str:
        """The term of a key with this `total`, in SQL."""

    def of_sum(self, found: float, total: float) -> float:
        """Its value, from that sum and the total of all keys."""
        return found


class Derived(Statistic):
    """Computed from measurements by a function that is monotone in the first, and monotone the other way in N."""

    derived: ClassVar[bool] = True

    @abstractmethod
    def factor(self, measured: Statistic) -> float:
        """How much an error in what is measured grows: relative for moments and counts, absolute for entropy."""


def checked_order(name: str, value: object, low: float, high: float, *, ends: bool, way_out: str) -> float:
    """An order between `low` and `high`, with or without its ends."""
    if not is_real(value):
        raise ArgumentTypeError(name, value, "must be a number", way_out)
    try:
        order = float(value)
    except OverflowError:  # an int of 400 digits
        order = math.nan
    inside = low <= order <= high if ends else low < order < high
    if not inside or math.isnan(order):
        must = f"must be {low:g} or more" if math.isinf(high) else f"must be between {low:g} and {high:g}"
        raise ArgumentError(name, value, must, way_out)
    return order
