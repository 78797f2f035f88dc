"""The windows that take rows, each with a secret and a collector for every statistic. Only a few are in memory."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...collector import Collector
from ...errors import BudgetExceeded, SecretSpent
from ...ledger import Ledger
from ...reading.libraries import need
from ...reading.numpy_arrow import from_numpy, to_numpy
from ...release.publish import Till, publish_side_by_side
from ...secret import Secret
from ...statistic.published import Release
from ..input.blocks import Rows
from ..watch import Watch
from .state import MonitorState, Stored, StoredWindow

_IN_MEMORY = 16  # windows; the others are in the state
_SECRET = 32  # bytes


class PeopleOfWindow:
    """Bounds people in a window: the first rows of each person count, up to `most`.

    **Why that is enough.** Remove all rows of one person from a stream. Whether a row counts depends on how many rows
    the same person had in the same window before it, and on nobody else. All rows of others therefore count as before,
    and each window has lost at most `most` rows, which is what its plan covers (`pairs_per_person`). For one window, a
    person is protected at its ε, whatever they did. If a person has rows in several windows, each costs its ε, and
    these add up. Rows must be taken in the order in which they came: an order that somebody else's rows could change
    would not do.

    What is stored about a person is a 128-bit hash under a key of the window, and a number. Two people with the same
    hash would share their rows; among a million people in a window, that has probability 2^-89.

    `counted` has the number of rows of each person so far; `changed` are those not stored since.
    """

    def __init__(self, most: int, key: bytes, counted: dict[bytes, int] | None = None) -> None:
        self._most, self._key = most, key
        self._counted = counted or {}
        self.changed: dict[bytes, int] = {}

    def within(self, persons: Any) -> NDArray[np.int64]:
        """Which of these rows count, in order. From now on they are counted."""
        coded = need("pyarrow.compute").dictionary_encode(persons)
        codes = to_numpy(coded.indices)
        hashes = [self._hash(person) for person in coded.dictionary.to_pylist()]
        before = np.array([self._counted.get(one, 0) for one in hashes], np.int64)
        kept = np.flatnonzero(before[codes] + _ranks(codes) < self._most)
        after = before + np.bincount(codes[kept], minlength=len(hashes))
        for i in np.flatnonzero(after > before):
            self._counted[hashes[i]] = self.changed[hashes[i]] = int(after[i])
        return kept

    def _hash(self, person: str) -> bytes:
        return hashlib.blake2b(person.encode(), key=self._key, digest_size=16).digest()


class _Window:
    """One 256-bit secret, from which each statistic derives its own; a collector for each; and the window's people."""

    def __init__(self, watch: Watch, kept: StoredWindow | None) -> None:
        self._bits = secrets.token_bytes(_SECRET) if kept is None else kept.secret
        secret = Secret.from_bytes(self._bits)
        own = [secret.child(f"statistic {place}") for place in range(len(watch.plans))]
        self.prints = [each.fingerprint.hex() for each in own]
        if kept is None:
            self.collectors = [plan.open(each, "monitor") for plan, each in zip(watch.plans, own, strict=True)]
        else:
            self.collectors = [Collector.from_bytes(blob, each) for blob, each in zip(kept.states, own, strict=True)]
        self.people: PeopleOfWindow | None = None
        if watch.fields.person is not None:
            counted = dict(kept.people) if kept is not None else None
            self.people = PeopleOfWindow(watch.pairs_per_person, secret.derive("bounding persons"), counted)

    def stored(self) -> StoredWindow:
        people = self.people.changed if self.people is not None else {}
        return StoredWindow(self._bits, [collector.to_bytes() for collector in self.collectors], people)


class OpenWindows:
    """Counts rows into windows, and tracks what changed since the last checkpoint, to store it with the next."""

    def __init__(self, watch: Watch, state: MonitorState, ledger: Ledger | None = None) -> None:
        self._watch, self._state, self._ledger = watch, state, ledger
        self._held: OrderedDict[int, _Window] = OrderedDict()
        self._changed: set[int] = set()
        self.spilled = False  # whether a failed checkpoint would lose rows that are no longer in memory

    def add(self, number: int, rows: Rows, here: NDArray[np.int64] | None) -> None:
        """Counts rows of a window: those at the places `here`, or all if None."""
        window = self._window(number)
        if window.people is not None:
            persons = rows.persons if here is None else rows.persons.take(from_numpy(here))
            kept = window.people.within(persons)
            here = kept if here is None else here[kept]
        if here is None:
            keys, values = rows.keys, rows.values
        else:
            together = len(here) and here[-1] - here[0] + 1 == len(here)  # usually: times are nearly in order
            keys = tuple(
                column.slice(here[0], len(here)) if together else column.take(from_numpy(here)) for column in rows.keys
            )
            values = None if rows.values is None else rows.values[here]
        if len(self._held) > 2 * _IN_MEMORY:
            self._state.spill(self.changed())
            self.stored()
            self.spilled = True
        self._changed.add(number)
        for collector in window.collectors:
            collector.update(keys if len(keys) > 1 else keys[0], values)

    def release(self, number: int, start: str) -> list[Release]:
        """The values of a window, which is then removed from memory. Nobody may see them before the state has them.

        A ledger must be paid first, and it stores the values that were paid for. If a run paid for a window and was
        killed before its state had the values, the next run finds them there, by the secret.

        Raises:
            BudgetExceeded: the ledger does not allow it. The window is gone in any case.
        """
        window = self._window(number)
        self._held.pop(number)
        self._changed.discard(number)
        decisions = self._watch.decisions
        if self._ledger is None:
            return publish_side_by_side(decisions, window.collectors, Till(), later=True)
        # A row is in one window, so windows of events are parts of one partition. People come back.
        part = (f"monitor {self._state.id}", start) if self._watch.protect == "event" else None
        try:
            return publish_side_by_side(decisions, window.collectors, Till(self._ledger, start, part), later=True)
        except (SecretSpent, BudgetExceeded):  # possibly a budget that this release itself used up
            before = _paid_before(self._ledger, window.prints)
            if before is None:
                raise
            return before

    def touch(self, number: int) -> None:
        """Marks a window, so that the next checkpoint stores its secret even if it has no rows."""
        self._window(number)
        self._changed.add(number)

    def changed(self) -> Stored:
        """What the next checkpoint must store."""
        return {number: self._held[number].stored() for number in sorted(self._changed)}

    def stored(self) -> None:
        """Called when everything is stored: windows not used for a while may leave memory."""
        for number in self._changed:
            people = self._held[number].people
            if people is not None:
                people.changed = {}
        self._changed.clear()
        self.spilled = False
        while len(self._held) > _IN_MEMORY:
            self._held.popitem(last=False)

    def _window(self, number: int) -> _Window:
        if number not in self._held:
            kept = self._state.window(number)
            if kept is not None and (len(kept.secret), len(kept.states)) != (_SECRET, len(self._watch.plans)):
                raise self._state.damaged()
            self._held[number] = _Window(self._watch, kept)
        self._held.move_to_end(number)
        return self._held[number]


def _paid_before(ledger: Ledger, fingerprints: Sequence[str]) -> list[Release] | None:
    """What these secrets released, all in one transaction; None if they released nothing."""
    numbers = [ledger.number_of(one) for one in fingerprints]
    texts = [ledger.published(number) for number in numbers if number is not None]
    found = [Release.from_json(text) for text in texts if text is not None]  # every record has its value
    return found if len(found) == len(fingerprints) else None


def _ranks(codes: NDArray[Any]) -> NDArray[np.int64]:
    """How often the same code occurs before each place.

    >>> _ranks(np.array([7, 3, 7, 7, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(first, np.diff(np.append(first, len(codes))))
    return ranks
