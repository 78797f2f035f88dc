"""The collectors of groups while pairs are counted: opened only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bounding.groups import Name
from ...collector import Collector
from ...collector.shards import of_group
from ...errors import HIDDEN, ArgumentError, Shown
from ...plan import Plan
from ...reading.libraries import need
from ...reading.numpy_arrow import from_numpy, text_column, to_numpy
from ...secret import Secret
from ...sketch.projection import Fingerprints, Totals
from ...text.wording import arg
from ..secret_from import stored_secret

MOST_BYTES = 4 << 30
"""Maximum memory of the sketches of all listed groups together, while pairs are counted."""
_ENTRY_BYTES = 64  # of an open entry; measured

_MOST_WAITING = 1 << 22  # keys, of 16 bytes each, before collectors are opened for them

BETWEEN = "\x1f"
"""Separates the parts of a name."""


def check_room(names: Sequence[Name], plan: Plan) -> None:
    """Refuses more listed groups than fit into the allowed memory, before anything is read.

    Raises:
        ArgumentError: their sketches would take more than `MOST_BYTES`.
    """
    each = _ENTRY_BYTES * sum(plan.sizes)
    if each * len(names) > MOST_BYTES:
        raise ArgumentError(
            "groups", Shown(f"{len(names):,} names"), f"must need at most {MOST_BYTES / 1e9:.1f} GB in memory",
            f"List at most {MOST_BYTES // each:,} groups at a time, or choose a smaller size ({arg('size')})",
            because=f"{len(names):,} sketches of {each:,} bytes need {each * len(names) / 1e9:.1f} GB",
        )  # fmt: skip


class ListedGroups:
    """Maps names to codes, and codes to collectors, for listed groups; all others are left out. `opened` opens the
    collector of a name.

    Keys are fingerprinted once, under the first group's secret, whatever their group. The projection makes the
    difference: every collector has its own secret, and therefore its own AES key.
    """

    def __init__(self, names: Sequence[Name], plan: Plan, opened: Callable[[Name], Collector]) -> None:
        self.names, self.plan = names, plan
        self._opened = opened
        self._collectors: dict[int, Collector] = {}
        self._waiting: dict[int, list[tuple[Fingerprints, Totals, int]]] = {}
        self._keys = 0  # waiting
        self._index_in = need("pyarrow.compute").index_in
        listed = [BETWEEN.join(name).encode() for name in names]
        self._listed = text_column(np.cumsum([0, *map(len, listed)]), b"".join(listed))

    def add(self, code: int, fingerprints: Fingerprints, totals: Totals, pairs: int) -> None:
        """Counts folded pairs of a group, now or later: waiting pairs take less memory than an open collector."""
        self._waiting.setdefault(code, []).append((fingerprints, totals, pairs))
        self._keys += len(fingerprints)
        if self._keys > _MOST_WAITING:
            for each in list(self._waiting):
                self[each]

    def __getitem__(self, code: int) -> Collector:
        """The collector of a group, with everything that was added to it."""
        found = self._collectors.get(code)
        if found is None:
            found = self._collectors[code] = self._opened(self.names[code])
        waiting = self._waiting.pop(code, None)
        if waiting is not None:
            fingerprints, totals, pairs = zip(*waiting, strict=True)
            found.add_folded(np.concatenate(fingerprints), np.concatenate(totals), sum(pairs))
            self._keys -= sum(map(len, fingerprints))
        return found

    def taken(self, code: int) -> Collector:
        """The collector of a group, no longer held here, so that only the group being released is in memory."""
        found = self[code]
        del self._collectors[code]
        return found

    def codes(self, names: Any) -> Any:
        """The codes of a column of names, as Arrow; null for a group that is left out."""
        return self._index_in(names, self._listed)

    def fingerprints(self, keys: Any, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
        """The fingerprints of a column of keys; `codes` are those of their groups."""
        return self[0].fingerprint(keys)

    def met(self) -> Iterator[tuple[int, Collector]]:
        """The codes and collectors of groups that have pairs here."""
        return ((code, self[code]) for code in sorted({*self._collectors, *self._waiting}) if self[code].pairs)


class MetGroups:
    """Like `ListedGroups`, for all groups found, whose collectors are stored: each has its part of the shard, under
    this secret or, with `separate`, its own. Keys are fingerprinted under their collector's secret.
    """

    def __init__(self, plan: Plan, secret: Secret, shard: str, by: Sequence[str], *, separate: bool) -> None:
        self.plan = plan
        self._secret, self._shard, self._by, self._separate = secret, shard, by, separate
        self._codes: dict[str, int] = {}
        self._collectors: list[Collector] = []
        self._names: list[Name] = []

    def __getitem__(self, code: int) -> Collector:
        return self._collectors[code]

    def add(self, code: int, fingerprints: Fingerprints, totals: Totals, pairs: int) -> None:
        self[code].add_folded(fingerprints, totals, pairs)

    def codes(self, names: Any) -> Any:
        encoded = names.dictionary_encode()
        codes = np.array([self._code(text) for text in encoded.dictionary.to_pylist()], np.int32)
        return from_numpy(codes[to_numpy(encoded.indices)])

    def _code(self, text: str) -> int:
        code = self._codes.get(text)
        if code is None:
            name = tuple(text.split(BETWEEN)) if len(self._by) > 1 else (text,)
            if len(name) != len(self._by):
                raise ArgumentError(
                    "by", HIDDEN, "must not contain the character U+001F in the name of a group", "Rename the group"
                )
            own = stored_secret(self._secret, name, separate=self._separate)
            self._collectors.append(self.plan.open(own, of_group(self._shard, self._by, name)))
            self._names.append(name)
            code = self._codes[text] = len(self._codes)
        return code

    def fingerprints(self, keys: Any, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
        if not len(codes):
            return np.empty(0, np.uint64)
        if not self._separate:
            return self._collectors[int(codes[0])].fingerprint(keys)
        found = np.empty(len(codes), np.uint64)
        for code in np.unique(codes).tolist():
            rows = np.flatnonzero(codes == code)
            place = from_numpy(rows)
            own = tuple(one.take(place) for one in keys) if isinstance(keys, tuple) else keys.take(place)
            found[rows] = self._collectors[code].fingerprint(own)
        return found

    def met(self) -> Iterator[tuple[Name, Collector]]:
        """The names and collectors of groups, in the order in which they were found."""
        return zip(self._names, self._collectors, strict=True)
