"""`Collector`: takes pairs, holds the state of a mechanism, releases once."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    HIDDEN,
    ArgumentError,
    ArgumentTypeError,
    BlobError,
    CountInterrupted,
    MergeError,
    ReleasedAlready,
    SecretSpent,
    ShardsMissing,
    check_type,
)
from ..ledger import Ledger
from ..mechanism.shared.state import State
from ..plan import Plan
from ..plan.mechanism import mechanism_of
from ..secret import Secret
from ..sketch.workers import holding
from ..statistic.published import Release
from ..text.wording import arg
from . import checkpoint, wire
from .arguments import check_folded, checked_shard, checked_shards
from .releasing import release_all
from .shards import Shards

if TYPE_CHECKING:
    import os


class Collector:
    """A stream on its way to one release. Made by `plan.open()`.

    Shards of one stream are collectors with the same plan and secret. Each has a name (random if none is given), and
    merging the same shard twice is refused. If `shards` lists them all, a release is refused until all are merged. A
    shard that has been merged has handed over its pairs: it takes no more and releases nothing. Invalid input raises a
    typed error and leaves the collector as it was.

    One secret has one release, whatever is merged, stored or restored: the release spends the secret
    (secret/spending.py), and every other collector under it is closed.

    Threads may share a collector. Their calls run one after the other; if two release it, one gets the value and the
    other `ReleasedAlready` (docs/threads.md).

    The stored state is not a release: anyone who has the secret and the state can ask it anything, and phantoms are
    added only at the release. Keep both where the data are kept.
    """

    def __init__(
        self,
        plan: Plan,
        secret: Secret | None = None,
        shard: str | None = None,
        shards: Iterable[str] | None = None,
    ) -> None:
        check_type("plan", plan, Plan, "must be a Plan", "Pass the result of ss.plan(...)")
        check_type("secret", secret, Secret | None, "must be a Secret", "Pass Secret.load(path), or leave it out")
        name = f"shard-{secrets.token_hex(8)}" if shard is None else checked_shard(shard)
        expected = None if shards is None else checked_shards(shards, shard)
        self._start(plan, mechanism_of(plan).state(plan, secret), [name], expected)

    def _start(self, plan: Plan, state: State, shards: Iterable[str], expected: frozenset[str] | None) -> None:
        self._plan = plan
        self._expected = expected
        self._number = 0  # the number of the last checkpoint
        self._offset: Any = None
        self._state: State | None = state
        self._shards = Shards(shards)
        state.in_shard(min(self._shards.names))
        self._merged = False
        self._changing = False
        self._lock = threading.RLock()

    @property
    def plan(self) -> Plan:
        """The plan this collector was opened for."""
        return self._plan

    @property
    def shards(self) -> frozenset[str]:
        """The names of the shards merged so far."""
        return frozenset(self._shards.names)

    @property
    def expected(self) -> frozenset[str] | None:
        """The names of all shards, if they were listed."""
        return self._expected

    @property
    def offset(self) -> Any:
        """The position in the source that was stored with the last checkpoint; None before the first."""
        return self._offset

    @property
    def secret(self) -> Secret:
        """The secret, to save for other shards."""
        return self._held().secret

    def update(self, keys: object, values: object = None, *, threads: int | None = None) -> None:
        """Counts a column of pairs, as `Sketch.update` does; a value above the plan's max_value is refused."""
        with self._lock:
            self._change(lambda state: state.add(keys, values, threads, negative=False))

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        """The fingerprints of a column of keys under the secret of this collector, 64 bits each, for `add_folded`.

        Takes what `update` takes. An integer key is its own fingerprint; everything else is hashed under the secret.
        The array may be a read-only view of the caller's data. Fingerprints are as private as the keys.
        """
        return self._held().fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        """Counts `pairs` pairs whose values were added up by key elsewhere. The state is as `update` would leave it.

        Row i adds `totals[i]` to the key with the fingerprint `fingerprints[i]`. A key may occur in any number of rows
        and calls, and pairs may be counted in a different call from their values: only the sums matter.

        Checked here: the types, and that every total is from 1 to 2^53. Checked by the release, without looking at
        keys: pairs <= total <= pairs · max_value. Promised by the caller, and the guarantee rests on it: fingerprints
        were made under this collector's secret, every value was from 1 to max_value, and every pair is counted once.

        - unit="key": a pair is a key with its total, so no total is above max_value, every key has one row in all calls
          together, and `pairs` is the number of rows.
        - unit="individual": a value of n is n pairs, so `pairs` is the sum of the totals.
        - deletes=True: totals are net, from -2^53 to 2^53, and so are pairs; every delete undoes an earlier update.
        - sampling: every pair has its own coin, so nothing can be added up. Each pair is a row, in stream order, with a
          value of at most max_value; `pairs` must be the number of rows.

        Raises:
            ArgumentError, ArgumentTypeError: the collector is as it was.
        """
        with self._lock:
            self._open()
            check_folded(self._plan, fingerprints, totals, pairs)
            self._change(lambda state: state.add_folded(fingerprints, totals, int(pairs)))

    @property
    def pairs(self) -> int:
        """The exact number of pairs so far. Publish it only with relation="replace", where it is public."""
        return self._held().pairs

    def replan(self, plan: Plan) -> None:
        """Replaces the plan, for a stream whose number of pairs is known only at its end.

        Phantoms, grid and accounting matter only at the release. Two plans therefore have the same state if they agree
        on the statistic, mechanism, size, layout, maximum value and deletions. Any other plan is refused.
        """
        with self._lock:
            if _of_state(plan) != _of_state(self._plan):
                raise MergeError("the plan cannot be replaced by one that collects something else. Collect again.")
            self._held().replan(plan)
            self._plan = plan

    def rename(self, shard: str) -> None:
        """Gives everything collected so far one shard name: for an engine that has merged every part of a job, possibly
        thousands. Merging the result twice is still refused. The parts must not be merged anywhere else.
        """
        with self._lock:
            self._held()
            self._shards = Shards([checked_shard(shard)])

    def delete(self, keys: object, values: object = None, *, threads: int | None = None) -> None:
        """Removes pairs that `update` counted. Needs a plan made with deletes=True."""
        if not self._plan.deletes:
            raise ArgumentError(
                "delete", HIDDEN, "needs a plan for streams with deletions",
                f"Plan with {arg('deletes', True)}, which promises that every delete undoes an earlier update",
            )  # fmt: skip
        with self._lock:
            self._change(lambda state: state.add(keys, values, threads, negative=True))

    def merge(self, other: Collector) -> None:
        """Adds another shard with the same plan and secret. Its collector is then empty and closed."""
        check_type(
            "other", other, Collector, "must be a Collector", "Read stored bytes with Collector.from_bytes first"
        )
        with holding(self._lock, other._lock):
            if not self._plan.releases_like(other._plan):
                raise MergeError("collectors of different plans cannot be merged: open every shard from the same plan.")
            mine = self._open()
            if other._expected != self._expected:
                raise MergeError(
                    "collectors with different lists of shards cannot be merged: open all with the same list."
                )
            self._shards.check_apart(other._shards)
            theirs = other._open()
            mine.secret.adopt(theirs.secret)  # first: from here on, releasing either spends both

            def take_over(state: State) -> None:
                state.merge(theirs)
                self._shards.add(other._shards)
                other._merged, other._state = True, None  # in this order: see _held

            self._change(take_over)

    def to_bytes(self) -> bytes:
        """Plan, shards and state, without the secret; canonical, checksummed."""
        with self._lock:
            return wire.encode(
                self._plan.to_json(), self._shards.names, self._expected, self._uninterrupted().to_bytes()
            )

    @classmethod
    def from_bytes(cls, blob: bytes, secret: Secret) -> Collector:
        """Reads the result of `to_bytes`, under the secret it was made with."""
        way_out = "Pass the result of Collector.to_bytes()"
        check_type("blob", blob, bytes | bytearray | memoryview, "must be bytes", way_out)
        check_type("secret", secret, Secret, "must be a Secret", "Pass Secret.load(path)")
        text, shards, expected, state = wire.decode(bytes(blob))
        plan = Plan.from_json(text)
        if not plan.is_written_as(text):
            raise BlobError("invalid plan in a collector (not in canonical form): corrupt data.")
        if secret.spent:
            raise SecretSpent(
                "the secret of this collector has already been used for its one release. The stored state cannot "
                "be released."
            )
        self = cls.__new__(cls)
        listed = None if expected is None else frozenset(expected)
        self._start(plan, mechanism_of(plan).state.from_bytes(plan, state, secret), shards, listed)
        return self

    def checkpoint(self, path: str | os.PathLike[str], offset: object = None) -> None:
        """Stores the collector and the position in the source in one file, atomically, replacing the last checkpoint.

        Pass the offset of the next pair to be read, as a number, a text, or lists and dictionaries of these. After a
        crash, `Collector.resume(path, secret)` returns the state and `offset` of the same moment. Continue reading from
        there, and every pair counts once. The file contains the state but not the secret, and has mode 0600.

        Raises:
            CheckpointError: the disk is full, or the file is not this collector's last checkpoint.
        """
        with self._lock:
            number = self._number + 1
            checkpoint.offset_json(offset)
            checkpoint.write(Path(path), checkpoint.Checkpoint(number, offset, self.to_bytes()))
            self._number, self._offset = number, offset

    @classmethod
    def resume(cls, path: str | os.PathLike[str], secret: Secret) -> Collector:
        """The collector stored in a checkpoint, with its `offset`. It writes checkpoints to the same file."""
        stored = checkpoint.read(Path(path))
        self = cls.from_bytes(stored.collector, secret)
        self._number, self._offset = stored.number, stored.offset
        return self

    def release(
        self,
        *,
        confidence: float = 0.95,
        ledger: Ledger | None = None,
        label: str = "",
        part: tuple[str, str] | None = None,
        person: bool = False,
    ) -> Release:
        """The private value, once. Afterwards the state and the secret of this collector are gone.

        With a `ledger`, the release is recorded there first, under `label`, or refused if the budget does not allow it.
        `part=("country", "FR")` declares that nobody has pairs in two parts of the partition "country"; such parts
        compose in parallel. It needs relation="add_remove". Nothing checks the declaration: with pairs_per_person above
        1, make sure that all pairs of a person are in one part.

        `person=True` declares that people are protected: of everything a person did, at most `pairs_per_person` pairs
        were collected, chosen from that person's own pairs alone. Nothing checks the declaration;
        `ss.release(person=...)` does the choosing for you.

        Raises:
            StreamTooShort: fewer pairs than the plan of a sketch was made for. Nothing is lost: continue collecting.
            ShardsMissing: a listed shard has not been merged. Nothing is lost: merge it.
            BudgetExceeded: the budget does not allow it. Nothing is lost or spent.
            SecretFileError: the secret file cannot be marked as spent. Nothing is lost: correct the cause and call
                again. What was paid is not paid twice.
            ReleasedAlready, SecretSpent: a second release of one secret would reveal what the first one hid.
        """
        parts = None if part is None else [part]
        return release_all([self], confidence=confidence, ledger=ledger, labels=[label], parts=parts, person=person)[0]

    def _check_ready(self, confidence: float) -> None:
        """Checks everything that could prevent a release, before anything is paid."""
        state = self._uninterrupted()
        if self._expected is not None and self._expected != self._shards.names:
            raise ShardsMissing(sorted(self._expected - self._shards.names))
        state.check(confidence)

    def _change(self, change: Callable[[State], None]) -> None:
        """Applies a change as a whole: an error leaves the state as it was. After Ctrl-C, or an error between two
        measurements, it is unknown what was counted, and counting the same pairs again would count some of them twice.
        """
        state = self._open()
        self._changing = True
        try:
            change(state)
        except Exception:
            self._changing = not state.whole
            raise
        self._changing = False

    def _uninterrupted(self) -> State:
        """The state, for a caller that holds the lock: nobody else is changing it."""
        state = self._held()
        if self._changing:
            raise CountInterrupted(
                "this collector was interrupted while counting, so it is unknown which pairs it has. Collect again, "
                "under a new secret, or continue from a checkpoint with Collector.resume."
            )
        return state

    def _open(self) -> State:
        """The state, open for pairs. Refused once its release is paid for, which covers only the pairs up to then."""
        state = self._uninterrupted()
        if state.secret.paid:
            raise SecretSpent(
                "the release of this collector was paid for but not finished, so it takes no more pairs. "
                "Call release again with the same arguments to get the recorded value."
            )
        return state

    def _held(self) -> State:
        state = self._state  # read once: readers hold no lock, and another thread may release meanwhile
        if state is None and self._merged:
            raise MergeError(
                "this collector was merged into another, which now holds its pairs. Continue with that one."
            )
        if state is None:
            raise ReleasedAlready(
                "this collector has already released its value. Open a new one, with a new secret, for new data."
            )
        if state.secret.spent:
            raise SecretSpent(
                "the secret of this collector was already used for its one release, by another collector. This one "
                "cannot be released: collect again, under a fresh secret."
            )
        return state

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("collector", HIDDEN, "cannot be pickled", "Use to_bytes and Collector.from_bytes")

    def __repr__(self) -> str:
        if not hasattr(self, "_lock"):  # the last thing that _start sets
            return "<Collector, not opened>"
        closed = "merged into another" if self._merged else "released"
        stage = closed if self._state is None else f"{len(self._shards.names)} shard(s)"
        return f"<Collector of {self._plan.statistic}, {stage}>"


def _of_state(plan: Plan) -> tuple[object, ...]:
    return (
        plan.statistic, plan.mechanism, plan.sizes, plan.per_key, plan.deletes, plan.sampled, plan.privacy.max_value
    )  # fmt: skip
