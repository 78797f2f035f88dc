"""`Collector`: takes pairs, holds the state of a mechanism, releases once."""

from __future__ import annotations

import secrets
import threading
from typing import NoReturn

from ..errors import (
    ArgumentError,
    ArgumentTypeError,
    BlobError,
    MergeError,
    ReleasedAlready,
    ShardMergedTwice,
    StreamTooShort,
)
from ..plan import Plan
from ..release import Release
from ..secret import Secret
from . import wire
from .histogram_state import HistogramState
from .sketch_state import SketchState

__all__ = ["Collector"]

_STATES: dict[str, type[SketchState] | type[HistogramState]] = {"sketch": SketchState, "exact": HistogramState}


class Collector:
    """A stream on its way to one release. Made by `plan.open()`.

    Shards of one stream are collectors with the same plan and secret; each has a name (a random one if none is given),
    and merging the same shard twice is refused. A shard that has been merged has given its pairs away: it takes no more
    and releases nothing, so that one secret has one release. Bad input raises a typed error and leaves the collector
    as it was.

    The state at rest is not a release: whoever has the secret and the state can ask it anything, and phantoms are added
    only as it is released. Keep both where the data were.
    """

    def __init__(self, plan: Plan, secret: Secret | None = None, shard: str | None = None) -> None:
        if not isinstance(plan, Plan):
            raise ArgumentTypeError("plan", type(plan), "not a Plan", "Pass what ss.plan(...) gave")
        if secret is not None and not isinstance(secret, Secret):
            raise ArgumentTypeError("secret", type(secret), "not a Secret", "Pass Secret.load(path), or leave it out")
        if shard is not None and not _is_name(shard):
            raise ArgumentError("shard", shard, "not the name of a shard", 'Pass a short text such as "eu-1"')
        self._start(plan, _STATES[plan.mechanism](plan, secret), {shard or f"shard-{secrets.token_hex(8)}"})

    def _start(self, plan: Plan, state: SketchState | HistogramState, shards: set[str]) -> None:
        self._plan = plan
        self._state: SketchState | HistogramState | None = state
        self._shards = shards
        self._merged = False
        self._lock = threading.RLock()

    @property
    def plan(self) -> Plan:
        """The plan this collector was opened for."""
        return self._plan

    @property
    def shards(self) -> frozenset[str]:
        """The names of the shards that are in."""
        return frozenset(self._shards)

    @property
    def secret(self) -> Secret:
        """The secret, to be saved for other shards."""
        return self._held().secret

    def update(self, keys: object, values: object = None, *, threads: int | None = None) -> None:
        """Counts a column of pairs, as `Sketch.update` does; a value above the plan's max_value is refused."""
        with self._lock:
            self._held().add(keys, values, threads, negative=False)

    def delete(self, keys: object, values: object = None, *, threads: int | None = None) -> None:
        """Takes back pairs that were updated. Needs a plan made with deletes=True, which promises just that."""
        if not self._plan.deletes:
            raise ArgumentError(
                "delete", "deletes=False", "the plan was made for a stream without deletions",
                "Plan with deletes=True, which promises that every delete undoes an earlier update",
            )  # fmt: skip
        with self._lock:
            self._held().add(keys, values, threads, negative=True)

    def merge(self, other: Collector) -> None:
        """Takes over another shard of the same plan and secret, whose collector is then empty and closed."""
        if not isinstance(other, Collector):
            raise ArgumentTypeError(
                "other", type(other), "not a Collector", "Read a blob with Collector.from_bytes first"
            )
        if other._plan != self._plan:
            raise MergeError("collectors of different plans cannot be merged: open every shard from the same plan.")
        first, second = sorted((self, other), key=id)  # always in this order, so that two threads cannot wait in a ring
        with first._lock, second._lock:
            mine = self._held()
            again = sorted(self._shards & other._shards)
            if again:
                raise ShardMergedTwice(
                    f"shard {again[0]!r} is in already: its pairs would count twice. Merge each shard once."
                )
            mine.merge(other._held())  # type: ignore[arg-type]  # the same plan, so the same kind of state
            self._shards |= other._shards
            other._state, other._merged = None, True

    def to_bytes(self) -> bytes:
        """Plan, shards and state, without the secret; canonical, checksummed."""
        with self._lock:
            return wire.encode(self._plan.to_json(), self._shards, self._held().to_bytes())

    @classmethod
    def from_bytes(cls, blob: bytes, secret: Secret) -> Collector:
        """Reads what `to_bytes` wrote, under the secret it was made with."""
        if not isinstance(blob, bytes | bytearray | memoryview):
            raise ArgumentTypeError("blob", type(blob), "not bytes", "Pass what Collector.to_bytes() gave")
        if not isinstance(secret, Secret):
            raise ArgumentTypeError("secret", type(secret), "not a Secret", "Pass Secret.load(path)")
        text, shards, state = wire.decode(bytes(blob))
        plan = Plan.from_json(text)
        if plan.to_json() != text:
            raise BlobError("a collector whose plan is not in canonical form.")
        self = cls.__new__(cls)
        self._start(plan, _STATES[plan.mechanism].from_bytes(plan, state, secret), set(shards))
        return self

    def release(self, *, confidence: float = 0.95) -> Release:
        """The private value, once: afterwards the state and the secret of this collector are gone.

        Raises:
            StreamTooShort: fewer pairs than the plan was made for. Nothing is lost: go on collecting.
            ReleasedAlready: a second release of one secret would reveal what the first one hid.
        """
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.0 < confidence < 1.0:
            raise ArgumentError("confidence", confidence, "not a probability between 0 and 1", "Pass 0.95, for example")
        with self._lock:
            state, promised = self._held(), self._plan.privacy.pairs
            if state.pairs < promised:
                raise StreamTooShort(
                    f"the stream has fewer pairs than the {promised:,} the plan was made for, so its guarantee would "
                    "not hold. Collect more, or plan with a smaller pairs= (0 is safe for streams of any length)."
                )
            result = state.release(float(confidence))
            self._state = None  # and with it the only references to entries and secret
            return result

    def _held(self) -> SketchState | HistogramState:
        if self._merged:
            raise MergeError("this collector was merged into another, which has its pairs now. Go on with that one.")
        if self._state is None:
            raise ReleasedAlready(
                "this collector has released its value. Open a new one, with a new secret, for new data."
            )
        return self._state

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            "collector", "pickle", "a collector is not pickled", "Use to_bytes and Collector.from_bytes"
        )

    def __repr__(self) -> str:
        closed = "merged into another" if self._merged else "released"
        stage = closed if self._state is None else f"{len(self._shards)} shard(s)"
        return f"<Collector of {self._plan.statistic}, {stage}>"


def _is_name(shard: object) -> bool:
    """Text that UTF-8 can write in 1 to 65535 bytes."""
    try:
        return isinstance(shard, str) and 0 < len(shard.encode()) < 2**16
    except UnicodeEncodeError:
        return False
