"""`Release`: a publishable number, its interval and its price."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from ..errors import BlobError
from ..format.checked_json import Fields, JsonError, parsed
from ..privacy import Relation, Unit
from ..privacy.privacy import protected_unit
from ..sketch.estimators import checked_confidence
from ..text.spoken import price_in_words

_FORMAT = "stablesketch-release/1"
_LEAST, _BELOW_ONE = 5e-324, 1.0 - 2.0**-53
_MOST_POINTS = 16
_SCALES = math.log(500)  # of Laplace noise: it exceeds this many in one of a thousand draws


@dataclass(frozen=True)
class Terms:
    """The terms of a release: decided before anything is released, and stated by the release.

    ε and δ are the price of everything that the release is part of: a table, or a search for max_value. The relation
    and the unit are those the caller asked for; a table may be planned for other neighbours (bounding/groups.py).
    `total` says whether the release includes the noisy total that it was computed from, if there is one, and limits
    that hold even for a stream without pairs (mechanism/shared/state.py). The total is paid for in any case.
    """

    epsilon: float
    delta: float
    relation: Relation
    pairs_per_person: int
    person: bool = False
    confidence: float = 0.95
    total: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", checked_confidence(self.confidence))


@dataclass(frozen=True)
class NoisyTotal:
    """The total of all values (the number of pairs, if each counts 1) plus Laplace noise of this scale.

    It can be negative. The truth is more than r scales above it with probability e^-r/2, and as often below it.
    """

    value: float
    scale: float

    @property
    def may_be_zero(self) -> bool:
        """Whether it cannot be distinguished from 0. It can in one of a thousand streams whose total is 0."""
        return self.value < 1.0 + _SCALES * self.scale


@dataclass(frozen=True)
class Point:
    """One order of a profile: a Hill number with its own limits and the limits of a band for all orders at once.

    Releases of version 0.1.0 have no band.
    """

    order: float
    value: float
    low: float
    high: float
    band_low: float | None = None
    band_high: float | None = None


@dataclass(frozen=True)
class Release:
    """A private value, limits that contain the truth with probability `confidence`, and its price.

    The truth is the value of these data, not of a population they were sampled from. Everything here may be published.

    `value` lies between `low` and `high`, and all three in the range that the statistic can have, given what is public.
    Within that range moments, counts and Shannon's entropy are unbiased (unless `mechanism` says that pairs were
    sampled); values outside it are moved to its nearer end. `p` is the order of the statistic. `points` are the orders
    of a profile; its `value` is that of the first. `pairs` is the number of pairs if that is public (relation
    "replace"), otherwise None.

    `record` is the number of the release in the ledger that paid for it, so that value and record can be matched; None
    without a ledger. `person` says that people are protected: everything one person did, of which at most
    `pairs_per_person` pairs were used. Otherwise one `unit` is protected: a pair (a row), a whole key, or one of the
    individuals that a value counts; None in releases of version 0.1.0, which do not record it. `protects` states it as
    a ledger does. `noise` is the scale of the Laplace noise on the estimate of a sketch, in units of what was measured.
    `total` is the noisy total that the value was computed from, if the terms ask for it, as those of a monitor do.
    """

    value: float
    low: float
    high: float
    confidence: float
    statistic: str
    p: float
    epsilon: float
    delta: float
    relation: str
    pairs: int | None
    pairs_per_person: int
    max_value: int
    mechanism: str
    size: int
    floor: float
    points: tuple[Point, ...] = ()
    record: int | None = None
    person: bool = False
    noise: float = 0.0
    unit: Unit | None = None
    total: NoisyTotal | None = None

    def to_json(self) -> str:
        """The release as versioned JSON. Points, record, person, noise and unit are omitted if there are none.

        A limit beyond the largest float is null.
        """
        return json.dumps(self.content(), sort_keys=True)

    def content(self) -> dict[str, Any]:
        """The content of the JSON, as a dictionary."""
        content = {"format": _FORMAT, **_written(self)}
        if self.points:
            content["points"] = [_written(point) for point in self.points]
        if self.total is not None:
            content["total"] = _written(self.total)
        return content

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Reads the result of `to_json`. All fields must be present, valid and within range; no others are allowed."""
        try:
            with Fields(parsed(text, finite=False), "the release") as fields:
                if fields.any("format") != _FORMAT:
                    raise BlobError("this version of stablesketch cannot read the format of the release. Upgrade it.")
                value, low, high = _limits(fields)
                return cls(
                    value=value,
                    low=low,
                    high=high,
                    confidence=fields.number("confidence", _LEAST, _BELOW_ONE),
                    statistic=fields.text("statistic"),
                    p=fields.number("p", 0.0, 2.0),
                    epsilon=fields.number("epsilon", 0.0, sys.float_info.max),
                    delta=fields.number("delta", 0.0, _BELOW_ONE),
                    relation=fields.choice("relation", *get_args(Relation)),
                    pairs=fields.whole("pairs") if fields.optional("pairs") else None,
                    pairs_per_person=fields.whole("pairs_per_person", 1, 2**53),
                    max_value=fields.whole("max_value", 1, 2**53),
                    mechanism=fields.text("mechanism"),
                    size=fields.whole("size"),
                    floor=fields.number("floor", 0.0, sys.float_info.max),
                    points=_points(fields.any("points", [])),
                    record=fields.whole("record") if fields.has("record") else None,
                    person=_written_if_true(fields, "person"),
                    noise=fields.number("noise", _LEAST, sys.float_info.max) if fields.has("noise") else 0.0,
                    unit=fields.choice("unit", *get_args(Unit)) if fields.has("unit") else None,  # type: ignore[arg-type]
                    total=_total(fields.any("total")) if fields.has("total") else None,
                )
        except JsonError as error:
            raise BlobError(f"not the JSON of a release: {error}. Pass the result of Release.to_json().") from None

    def recorded(self, number: int) -> Release:
        """The release with the number of its record, which the ledger assigns when it records the release. Everything
        else was decided before the release was made.
        """
        return replace(self, record=number)

    @property
    def cost_in_words(self) -> str:
        """ε and δ, rounded up, and what they protect."""
        whose = f"{self.relation}, for all that one person did" if self.person else self.protects
        return f"{price_in_words(self.epsilon, self.delta)}, {whose}"

    @property
    def protects(self) -> str:
        """What is protected, in the words of a ledger. Releases that share a budget must agree on it.

        `Ledger.charge(release=...)` records it in this form.
        """
        return self.relation + (" of people" if self.person else protected_unit(self.unit or "pair"))

    def __str__(self) -> str:
        price = self.cost_in_words
        if self.points:
            return _table(self.points, f"{self.statistic}  ({price})", self.confidence)
        return (
            f"{self.statistic} = {self.value:,.6g}  ({100 * self.confidence:g}% between {self.low:,.6g} and "
            f"{self.high:,.6g}; {price})"
        )


def headings(points: Sequence[Point], confidence: float) -> dict[str, str]:
    """What a table shows of points, with its headings: also the limits of the band, if there is one."""
    sure = f"{100 * confidence:g}%"
    shown = {"order": "order", "value": "value", "low": f"{sure} from", "high": "to"}
    if points and all(point.band_low is not None for point in points):
        shown |= {"band_low": f"{sure} at once from", "band_high": "to"}
    return shown


def _table(points: tuple[Point, ...], title: str, confidence: float) -> str:
    """One line for each order of a profile."""
    shown = headings(points, confidence)
    rows = [[*shown.values()], *([f"{getattr(point, name):,.6g}" for name in shown] for point in points)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([title, *lines])


def _written_if_true(fields: Fields, name: str) -> bool:
    """A field that is written only if it is true."""
    there = fields.has(name)
    if fields.any(name, True) is not True:
        raise JsonError(f"{name} must be true or absent")
    return there


def _total(content: object) -> NoisyTotal:
    with Fields(content, "the total") as fields:
        return NoisyTotal(fields.number("value"), fields.number("scale", _LEAST, sys.float_info.max))


def _limits(fields: Fields) -> tuple[float, float, float]:
    """Value, low and high. A value computed from moments can exceed the largest float."""
    value, low, high = (_limit(fields, name) for name in ("value", "low", "high"))
    if low > high or math.inf in (-value, -low) or high < value == math.inf:
        raise JsonError("the limits of the interval are not in order")
    return value, low, high


def _limit(fields: Fields, name: str) -> float:
    """A number; null stands for one above the largest float, which earlier versions wrote as Infinity."""
    return fields.number(name) if fields.optional(name) else math.inf


def _written(one: Release | Point | NoisyTotal) -> dict[str, Any]:
    """The fields that differ from their defaults, with null for infinite numbers, because JSON has no infinities."""
    own = {each.name: getattr(one, each.name) for each in fields(one) if getattr(one, each.name) != each.default}
    return {name: None if value == math.inf else value for name, value in own.items()}


def _points(content: object) -> tuple[Point, ...]:
    if not isinstance(content, list) or len(content) > _MOST_POINTS:
        raise JsonError(f"points must be a list of up to {_MOST_POINTS}")
    points = []
    for each in content:
        with Fields(each, "a point") as fields:
            order, limits = fields.number("order", 0.0, 2.0), _limits(fields)
            band = (_limit(fields, "band_low"), _limit(fields, "band_high")) if fields.has("band_low") else (None, None)
            points.append(Point(order, *limits, *band))
    orders = [point.order for point in points]
    if orders != sorted(set(orders)):
        raise JsonError("the orders of the points are not increasing")
    return tuple(points)
