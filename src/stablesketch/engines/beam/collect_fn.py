"""`CollectFn`: collects pairs as a Beam CombineFn, in several accumulators that are merged into one result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...bounding.groups import Name, group_secret
from ...collector import Collector
from ...errors import HIDDEN, ArgumentError, DataError
from ...plan import Plan
from ...reading.libraries import need
from ...secret import Secret
from ..local.pour import BadBatch, pour
from ..secret_from import TheSecret, stored_secret
from .elements import NAME, batch_of, columns_of, look_through, same_sorts, sorts_of
from .travelled import Travelled

beam = need("apache_beam", "beam")

_BUFFER = 1 << 14  # pairs
GroupedPair = tuple[Name, Any, Any]  # the group, if any; the key, which may have parts; the value


def secret_of(found: Secret, name: Name, separate: bool) -> Secret:
    """The secret of a group: derived as for releases from data, or the child secret of a stored collector."""
    return group_secret(found, name) if name and not separate else stored_secret(found, name, separate=True)


class Accumulator:
    """Pairs of one group that are not counted yet, and a collector of those that are. Only the collector is stored as
    bytes, with the number of people seen and the sorts of the parts of the keys.
    """

    def __init__(self, fn: CollectFn | None, name: Name | None = None, blob: bytes | None = None) -> None:
        self.fn, self.name, self.blob = fn, name, blob
        self.people = 0
        self.sorts: list[str] = []
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self.collector: Collector | None = None

    def to_bytes(self) -> bytes:
        """The bytes of `Travelled`; none if no group was seen."""
        if self.name is None:
            return b""
        if self.blob is None or self.keys:
            assert self.fn is not None
            self.blob = self.fn.counted(self).to_bytes()
        return Travelled(self.name, self.people, self.sorts, self.blob).to_bytes()

    @classmethod
    def from_bytes(cls, raw: bytes) -> Accumulator:
        """Reads the result of `to_bytes`."""
        if not raw:
            return cls(None)
        found = Travelled.from_bytes(raw)
        read = cls(None, found.name, found.state)
        read.people, read.sorts = found.people, found.sorts
        return read


class AccumulatorCoder(beam.coders.Coder):  # type: ignore[misc, name-defined]  # Beam is untyped
    """Encodes accumulators between workers. Pickle never sees a collector, which would refuse to be pickled."""

    def encode(self, value: Accumulator) -> bytes:
        return value.to_bytes()

    def decode(self, encoded: bytes) -> Accumulator:
        return Accumulator.from_bytes(encoded)


class CollectFn(beam.CombineFn):  # type: ignore[misc, name-defined]
    """Combines (group, key, value) into the bytes of a collector. It is pickled with the pipeline; the secret is not.

    All pairs of an accumulator belong to one group, which Beam guarantees if the group is the key. Every accumulator is
    a shard with a random name, so merging one twice is refused.
    """

    def __init__(self, plan: Plan, secret: TheSecret, *, weighted: bool, clip: bool, separate: bool = False) -> None:
        super().__init__()
        self._plan, self._secret = plan.to_json(), secret
        self._weighted, self._clip, self._separate = weighted, clip, separate

    def create_accumulator(self) -> Accumulator:
        return Accumulator(self)

    def add_input(self, accumulator: Accumulator, element: GroupedPair | tuple[Name, int]) -> Accumulator:
        """Counts a pair; or, given (group, people), that many people in the group, even if it has no pairs."""
        self._adopt(accumulator, element[0])
        accumulator.fn = self
        if len(element) == 2:
            accumulator.people += element[1]
        else:
            accumulator.keys.append(element[1])
            accumulator.values.append(element[2])
            if len(accumulator.keys) >= _BUFFER:
                self.counted(accumulator)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[Accumulator]) -> Accumulator:
        """Merges all of them into the first."""
        whole = Accumulator(self)
        for other in accumulators:
            if other.name is None:
                continue
            self._adopt(whole, other.name)
            raw = Accumulator.from_bytes(other.to_bytes())
            assert raw.blob is not None
            whole.people += raw.people
            whole.sorts = same_sorts(whole.sorts, raw.sorts)
            read = Collector.from_bytes(raw.blob, self._own(other.name))
            if whole.collector is None:
                whole.collector = read
            else:
                whole.collector.merge(read)
        return whole

    def compact(self, accumulator: Accumulator) -> Accumulator:
        """Counts buffered pairs before the accumulator travels."""
        if accumulator.name is not None:
            self.counted(accumulator)
        return accumulator

    def extract_output(self, accumulator: Accumulator) -> bytes:
        return b"" if accumulator.name is None else self.counted(accumulator).to_bytes()

    def get_accumulator_coder(self) -> AccumulatorCoder:
        return AccumulatorCoder()

    def counted(self, accumulator: Accumulator) -> Collector:
        """The collector of an accumulator, with all of its pairs."""
        assert accumulator.name is not None
        if accumulator.collector is None:
            own, blob = self._own(accumulator.name), accumulator.blob
            opened = Plan.from_json(self._plan).open(own) if blob is None else Collector.from_bytes(blob, own)
            accumulator.collector = opened
        if accumulator.keys:
            accumulator.blob = None
            sorts = self._pour(accumulator.collector, accumulator.keys, accumulator.values)
            accumulator.sorts = same_sorts(accumulator.sorts, sorts)
            accumulator.keys, accumulator.values = [], []
        return accumulator.collector

    def _adopt(self, accumulator: Accumulator, name: Name) -> None:
        if accumulator.name is None:
            accumulator.name = tuple(name)
        elif accumulator.name != tuple(name):
            raise ArgumentError(
                "key", HIDDEN, "must be the same for all pairs that are combined", "Key the pairs by group and window"
            )

    def _own(self, name: Name) -> Secret:
        return secret_of(self._secret.find(), name, self._separate)

    def _pour(self, collector: Collector, keys: list[Any], given: list[Any]) -> list[str]:
        """Counts pairs; returns the sorts of the parts of their keys."""
        arrow_error = need("pyarrow", "beam").ArrowException
        columns, values = columns_of(keys), given if self._weighted else None
        if values is not None and set(map(type, values)) != {int}:
            look_through([], values, None)  # Arrow would turn True and numpy's floats into whole numbers
        sorts = sorts_of(columns)
        try:
            pour([batch_of(columns, sorts, values)], collector, clip=self._clip)
        except (BadBatch, OverflowError, UnicodeError, arrow_error) as error:
            counted = collector.plan.privacy.unit == "individual"
            look_through(columns, values, None if self._clip or counted else collector.plan.privacy.max_value)
            # Arrow's own message shows the key.
            wrong = str(error) if isinstance(error, BadBatch) else "cannot be converted to an Arrow column"
            wrong = "is a whole number beyond 64 bits" if isinstance(error, OverflowError) else wrong
            wrong = "is not valid Unicode" if isinstance(error, UnicodeError) else wrong
            raise DataError(NAME, wrong, "Correct the input, or convert keys to text first", column="key") from None
        return sorts


class CountedFn(CollectFn):
    """Like `CollectFn`, with the number by which a group is chosen: of its people if known, otherwise of its pairs."""

    def __init__(self, *fields: Any, persons: bool, **options: Any) -> None:
        super().__init__(*fields, **options)
        self._persons = persons

    def extract_output(self, accumulator: Accumulator) -> tuple[bytes, int]:  # type: ignore[override]
        """The bytes of the collector, and the number."""
        collector = self.counted(accumulator)
        return collector.to_bytes(), accumulator.people if self._persons else collector.pairs
