"""The windows that take rows: a secret and a collector a statistic each, few of them in memory."""

from __future__ import annotations

import secrets
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from ..collector import Collector
from ..collector.releasing import released
from ..published import Release
from ..secret import Secret
from .block import Rows
from .state import MonitorState, Stored
from .watch import Watch

_IN_MEMORY = 16  # windows; the others are in the state


class _Window:
    """One secret of 256 bits, from which each statistic has its own, and a collector for each."""

    def __init__(self, watch: Watch, bits: bytes, states: list[bytes] | None = None) -> None:
        self._bits = bits
        secret = Secret.from_bytes(bits)
        own = [secret.child(f"statistic {place}") for place in range(len(watch.plans))]
        if states is None:
            self.collectors = [plan.open(each, "monitor") for plan, each in zip(watch.plans, own, strict=True)]
        else:
            self.collectors = [Collector.from_bytes(blob, each) for blob, each in zip(states, own, strict=True)]

    def stored(self) -> tuple[bytes, list[bytes]]:
        return self._bits, [collector.to_bytes() for collector in self.collectors]


class OpenWindows:
    """Counts rows into windows; what changed since the last checkpoint is known, and stored with the next."""

    def __init__(self, watch: Watch, state: MonitorState) -> None:
        self._watch, self._state = watch, state
        self._held: OrderedDict[int, _Window] = OrderedDict()
        self._changed: set[int] = set()
        self.spilled = False  # whether a checkpoint that fails takes rows with it, which are not in memory any more

    def add(self, number: int, rows: Rows, here: NDArray[np.int64] | None) -> None:
        """Counts the rows of a window; `here` says which of them, None all."""
        window = self._window(number)
        if here is None:
            keys, values = rows.keys, rows.values
        else:
            keys = tuple(column.take(here) for column in rows.keys)
            values = None if rows.values is None else rows.values[here]
        if len(self._held) > 2 * _IN_MEMORY:
            self._state.spill(self.changed())
            self.stored()
            self.spilled = True
        self._changed.add(number)
        for collector in window.collectors:
            collector.update(keys if len(keys) > 1 else keys[0], values)

    def release(self, number: int) -> list[Release]:
        """The values of a window, which is then gone from memory. Nobody may see them before the state has them."""
        window = self._window(number)
        self._held.pop(number)
        self._changed.discard(number)
        return released(window.collectors, self._watch.terms, later=True)

    def changed(self) -> Stored:
        """What the next checkpoint has to store."""
        return {number: self._held[number].stored() for number in sorted(self._changed)}

    def stored(self) -> None:
        """It is stored: what was not used for long may leave the memory."""
        self._changed.clear()
        self.spilled = False
        while len(self._held) > _IN_MEMORY:
            self._held.popitem(last=False)

    def _window(self, number: int) -> _Window:
        if number not in self._held:
            kept = self._state.window(number)
            self._held[number] = _Window(self._watch, *(kept or (secrets.token_bytes(32),)))
        self._held.move_to_end(number)
        return self._held[number]
