"""`CollectFn`: pairs into collectors as Beam combines things: accumulators here and there, merged, one result."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...collector import Collector
from ...doors.groups import Name, group_secret
from ...doors.libraries import need
from ...doors.pour import BadBatch, pour
from ...errors import ArgumentError, DataError
from ...plan import Plan
from ...secret import Secret
from ..secret_from import TheSecret, child_name

__all__ = ["Accumulator", "CollectFn", "secret_of"]

beam = need("apache_beam", "beam")

_BUFFER = 1 << 14  # pairs
NAME = "the PCollection"
Pair = tuple[Name, Any, Any]  # the group, or none; the key, which may have parts; the value


def secret_of(found: Secret, name: Name, separate: bool) -> Secret:
    """The secret of a group: as releases from data derive it, or the child that a stored collector is under."""
    if not name:
        return found
    return found.child(child_name(name)) if separate else group_secret(found, name)


class Accumulator:
    """Pairs of one group that are not counted yet, and a collector of those that are; as bytes, the latter alone."""

    def __init__(self, fn: CollectFn | None, name: Name | None = None, blob: bytes | None = None) -> None:
        self.fn, self.name, self.blob = fn, name, blob
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self.collector: Collector | None = None

    def to_bytes(self) -> bytes:
        """The name as JSON, a line end, the state; nothing at all if no group has been met."""
        if self.name is None:
            return b""
        if self.blob is None or self.keys:
            assert self.fn is not None
            self.blob = self.fn.counted(self).to_bytes()
        return json.dumps(self.name).encode() + b"\n" + self.blob

    @classmethod
    def from_bytes(cls, raw: bytes) -> Accumulator:
        """What `to_bytes` gave."""
        name, _, blob = raw.partition(b"\n")
        return cls(None, tuple(json.loads(name)), blob) if raw else cls(None)


class AccumulatorCoder(beam.coders.Coder):  # type: ignore[misc, name-defined]  # Beam is untyped
    """Accumulators on their way between workers. Pickle never sees a collector, which would refuse it."""

    def encode(self, value: Accumulator) -> bytes:
        """See `Accumulator.to_bytes`."""
        return value.to_bytes()

    def decode(self, encoded: bytes) -> Accumulator:
        """See `Accumulator.from_bytes`."""
        return Accumulator.from_bytes(encoded)

    def is_deterministic(self) -> bool:
        """Not: shards have random names."""
        return False


class CollectFn(beam.CombineFn):  # type: ignore[misc, name-defined]
    """Combines (group, key, value) into the bytes of a collector. It is pickled with the pipeline; the secret is not.

    All pairs of an accumulator are of one group, which Beam guarantees if the group is the key. Every accumulator is a
    shard with a random name, so one that is merged twice is refused.
    """

    def __init__(self, plan: Plan, secret: TheSecret, *, weighted: bool, clip: bool, separate: bool = False) -> None:
        super().__init__()
        self._plan, self._secret = plan.to_json(), secret
        self._weighted, self._clip, self._separate = weighted, clip, separate

    def create_accumulator(self) -> Accumulator:
        """Empty."""
        return Accumulator(self)

    def add_input(self, accumulator: Accumulator, element: Pair | tuple[Name]) -> Accumulator:
        """Counts a pair. An element without key says that there is this group, which may have no pairs."""
        self._adopt(accumulator, element[0])
        if len(element) == 3:
            accumulator.keys.append(element[1])
            accumulator.values.append(element[2])
            if len(accumulator.keys) >= _BUFFER:
                self.counted(accumulator)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[Accumulator]) -> Accumulator:
        """All of them in the first."""
        whole = Accumulator(self)
        for other in accumulators:
            if other.name is None:
                continue
            self._adopt(whole, other.name)
            raw = Accumulator.from_bytes((other if other.fn is not None else self._mine(other)).to_bytes())
            assert raw.blob is not None
            read = Collector.from_bytes(raw.blob, self._own(other.name))
            if whole.collector is None:
                whole.collector = read
            else:
                whole.collector.merge(read)
        return whole

    def compact(self, accumulator: Accumulator) -> Accumulator:
        """Counts what is waiting, before the accumulator travels."""
        if accumulator.name is not None:
            self.counted(self._mine(accumulator))
        return accumulator

    def extract_output(self, accumulator: Accumulator) -> bytes:
        """The bytes of the collector."""
        if accumulator.name is None:
            return b""
        return self.counted(self._mine(accumulator)).to_bytes()

    def get_accumulator_coder(self) -> AccumulatorCoder:
        """How accumulators travel."""
        return AccumulatorCoder()

    def counted(self, accumulator: Accumulator) -> Collector:
        """The collector of an accumulator, with all of its pairs."""
        assert accumulator.name is not None
        own = None if accumulator.collector is not None else self._own(accumulator.name)
        if own is not None:
            blob = accumulator.blob
            accumulator.collector = self._open(own) if blob is None else Collector.from_bytes(blob, own)
        assert accumulator.collector is not None
        if accumulator.keys:
            accumulator.blob = None
            self._pour(accumulator.collector, accumulator.keys, accumulator.values)
            accumulator.keys, accumulator.values = [], []
        return accumulator.collector

    def _mine(self, accumulator: Accumulator) -> Accumulator:
        accumulator.fn = self
        return accumulator

    def _adopt(self, accumulator: Accumulator, name: Name) -> None:
        if accumulator.name is None:
            accumulator.name = tuple(name)
        elif accumulator.name != tuple(name):
            raise ArgumentError(
                "key", name, "pairs of two groups were combined", "Key the pairs by their group and window"
            )

    def _open(self, secret: Secret) -> Collector:
        return Plan.from_json(self._plan).open(secret)

    def _own(self, name: Name) -> Secret:
        return secret_of(self._secret.find(), name, self._separate)

    def _pour(self, collector: Collector, keys: list[Any], values: list[Any]) -> None:
        pa = need("pyarrow", "beam")
        if self._weighted:
            _check_whole(values)
        parts = len(keys[0]) if isinstance(keys[0], tuple) else 1
        columns = [list(column) for column in zip(*keys, strict=True)] if isinstance(keys[0], tuple) else [keys]
        try:
            arrays = [pa.array(column) for column in columns] + ([pa.array(values)] if self._weighted else [])
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
            raise DataError(NAME, f"keys or values are not of one type ({error})", "Map them to one first") from None
        names = [f"k{i}" for i in range(parts)] + (["v"] if self._weighted else [])
        batch = pa.record_batch(arrays, names=names)
        try:
            pour([batch], collector, keys=parts, clip=self._clip)
        except BadBatch as bad:
            largest = None if self._clip else collector.plan.privacy.max_value
            called = [*(["key"] * parts), *(["value"] if self._weighted else [])]
            raise bad.told(NAME, None, called, largest) from None  # rows have no numbers here


def _check_whole(values: list[Any]) -> None:
    """Refuses what Arrow would turn into fractions, and whole numbers beside it with them."""
    for value in values:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer)):
            shown = f"is {value}, " if isinstance(value, float) else "is "
            raise DataError(
                NAME,
                f"{shown}not a whole number from 1 to 2^53",
                "Round, cast or drop such pairs first",
                column="value",
            )
