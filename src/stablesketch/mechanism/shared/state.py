"""`State`: what a collector needs from the state of a mechanism, and what states that measure have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import BlobError, MergeError, NegativeTotal, SecretMismatch
from ...plan.mechanism import mechanism_of
from ...secret import Secret
from ...sketch import EntropySketch, Sketch
from ...sketch.columns import Fingerprinter
from ...sketch.entry_law import LawKind
from ...statistic import Known, Statistic
from ...statistic.published import NoisyTotal, Point, Release, Terms
from .belief import Belief

if TYPE_CHECKING:
    from ...plan import Plan

OTHER_SECRET = "collectors under different secrets cannot be merged: give every shard the same secret."


class State(ABC):
    """Takes pairs, merges, and converts to bytes. It is checked before a release is paid for, and then releases."""

    _plan: Plan

    @abstractmethod
    def __init__(self, plan: Plan, secret: Secret | None) -> None: ...

    @property
    @abstractmethod
    def pairs(self) -> int: ...

    @property
    @abstractmethod
    def secret(self) -> Secret: ...

    whole = True
    """Whether all measurements have counted the same pairs. They have not if an error occurred between two of them."""

    @abstractmethod
    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        """Counts all of the pairs, or raises an error and counts none."""

    @abstractmethod
    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        """The fingerprints by which the state knows a column of keys."""

    @abstractmethod
    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        """Counts pairs already checked (collector/arguments.py) and added up by key, with the same result as `add`."""

    def in_shard(self, shard: str) -> None:  # noqa: B027  # most states ignore it
        """Sets the shard of the pairs that follow."""

    def replan(self, plan: Plan) -> None:
        """Replaces the plan with another one that has the same state."""
        self._plan = plan

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Takes over the pairs of another state of the same plan and secret."""

    @abstractmethod
    def to_bytes(self) -> bytes: ...

    @classmethod
    @abstractmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self: ...

    @classmethod
    @abstractmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        """The sum of states under one secret, as bytes: the result of merging, without needing the secret."""

    @abstractmethod
    def check(self, confidence: float) -> None:
        """Raises an error if there can be no release. Costs nothing, and looks only at public numbers."""

    @abstractmethod
    def release(self, terms: Terms) -> Release:
        """The private value with its limits: the same each time, because its noise comes from the secret."""


class MeasuringState(State):
    """The state of a statistic that is measured itself, alone or as part of another statistic."""

    @abstractmethod
    def measure(self, confidence: float) -> Belief:
        """What may be published, once."""

    def release(self, terms: Terms) -> Release:
        found = self.measure(terms.confidence)
        return make_release(self._plan, found.value, found.low, found.high, terms, self.pairs, total=found.total)


class CountingState(MeasuringState):
    """Counts pairs by the fingerprints of their keys, without a sketch of stable laws."""

    def __init__(self, plan: Plan, secret: Secret | None) -> None:
        self._plan = plan
        self._secret = Secret.generate() if secret is None else secret
        self._pairs = 0

    @cached_property
    def _fingerprinter(self) -> Fingerprinter:
        return Fingerprinter.of(self._secret)

    @property
    def pairs(self) -> int:
        return self._pairs

    @property
    def secret(self) -> Secret:
        return self._secret

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._fingerprinter.fingerprint(keys)

    def _check_secret_of(self, other: Self) -> None:
        if other._secret != self._secret:
            raise MergeError(OTHER_SECRET)

    def _check_made_with(self, fingerprint: bytes) -> None:
        if fingerprint != self._secret.fingerprint:
            raise SecretMismatch("this is not the secret that the collector was made with. Load that secret.")


class SketchState(MeasuringState):
    """The sketch of one collector. Its entries leave it only through `release` and `to_bytes`."""

    law: ClassVar[LawKind]
    """Of the entries."""

    def __init__(self, plan: Plan, secret: Secret | None, sketch: Sketch | None = None) -> None:
        self._plan = plan
        self._sketch = self._opened(plan, secret) if sketch is None else sketch

    @classmethod
    def _opened(cls, plan: Plan, secret: Secret | None) -> Sketch:
        """An empty sketch for this plan."""
        if cls.law == "entropy":
            return EntropySketch(plan.size, secret, plan.buckets)
        return Sketch(plan.statistic.p, plan.size, secret, law=cls.law, buckets=plan.buckets)

    @classmethod
    def _read(cls, blob: bytes, secret: Secret | None) -> Sketch:
        return (EntropySketch if cls.law == "entropy" else Sketch).from_bytes(blob, secret)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        sketch = cls._read(blob, secret)
        wanted = cls._opened(plan, secret)
        planned, found = (
            f"p = {one.p} and {one.size} {one.law} entries in {one.buckets} buckets" for one in (wanted, sketch)
        )
        if planned != found:
            raise BlobError(f"the plan of a collector has {planned}, but its sketch has {found}: corrupt data.")
        return cls(plan, secret, sketch)

    @property
    def pairs(self) -> int:
        return self._sketch.pairs

    @property
    def total(self) -> int:
        return self._sketch.total

    @property
    def secret(self) -> Secret:
        return self._sketch.secret

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        apply = self._sketch.delete if negative else self._sketch.update
        apply(keys, values, threads=threads, highest=self._plan.privacy.max_value)

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._sketch.fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._sketch.add_folded(fingerprints, totals, pairs)

    def merge(self, other: SketchState) -> None:
        self._sketch.merge(other._sketch)

    def to_bytes(self) -> bytes:
        return self._sketch.to_bytes()

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        first, *rest = [cls._read(state, None) for state in states]
        for other in rest:
            first.merge(other)
        return first.to_bytes()


def check_promise(plan: Plan, pairs: int, total: int) -> None:
    """Refuses counts that no stream of values from 1 to max_value can have: some delete undid no update, or totals were
    added up with a wrong number of pairs. Looks at no key."""
    if not 0 <= pairs <= total <= pairs * plan.privacy.max_value:
        wrong = (
            "something was deleted that was never updated. Send the missing updates; every delete must undo one"
            if plan.deletes
            else "the number of pairs passed to add_folded is wrong. Collect again with the number of pairs added up"
        )
        raise NegativeTotal(f"the pairs and their total are impossible for the values of the plan, so {wrong}.")


def make_release(
    plan: Plan, value: float, low: float, high: float, terms: Terms, pairs: int, points: tuple[Point, ...] = (), *,
    total: NoisyTotal | None = None,
) -> Release:  # fmt: skip
    """A release of these numbers, by this plan, on these terms. It has the number of pairs only if that is public, and
    the noisy total only if the terms ask for it; its limits are then wide enough for few pairs or none."""
    privacy = plan.privacy
    total = total if terms.total else None
    if total is not None and total.may_be_zero:
        low, high, points = widened(plan.statistic, low, high, points, total, terms.confidence)
    first = plan.inputs[0] if plan.inputs else plan
    return Release(
        value=value,
        low=low,
        high=high,
        confidence=terms.confidence,
        statistic=str(plan.statistic),
        p=plan.statistic.p,
        epsilon=terms.epsilon,
        delta=terms.delta,
        relation=terms.relation,
        pairs=pairs if privacy.relation == "replace" else None,
        pairs_per_person=terms.pairs_per_person,
        max_value=privacy.max_value,
        mechanism=mechanism_of(plan).named(plan),
        size=plan.size,
        floor=first.floor,
        noise=first.noise,
        points=points,
        person=terms.person,
        unit=privacy.unit,
        total=total,
    )


def widened(
    statistic: Statistic, low: float, high: float, points: tuple[Point, ...], total: NoisyTotal, confidence: float
) -> tuple[float, float, tuple[Point, ...]]:
    """(low, high, points) with limits that hold if the stream has few pairs or none, where its noisy total is released.

    Looking at the total costs nothing: it is part of the release and of its price. If it cannot be distinguished from
    0, there may be no pairs. Without pairs there are no shares, and therefore no Hill number and no entropy that an
    interval could contain: what is computed may even be a single point. All that is known then is what the number of
    keys allows, which is at most the total. The limits are at least that wide. Counts keep theirs, from 0 up.
    """
    reach = -math.log1p(-confidence) * total.scale
    known = Known(most_pairs=max(total.value, 0.0) + reach)

    def limits(each: Statistic, low: float, high: float) -> tuple[float, float]:
        least, most = each.range(known) if each.of_shares else (low, high)
        return min(low, least), max(high, most)

    if not points:
        return *limits(statistic, low, high), points

    def moved(each: Statistic, point: Point) -> Point:
        low, high = point.band_low, point.band_high
        band = (None, None) if low is None or high is None else limits(each, low, high)
        return Point(point.order, point.value, *limits(each, point.low, point.high), *band)

    points = tuple(moved(each, point) for each, point in zip(statistic.points, points, strict=True))
    return points[0].low, points[0].high, points
