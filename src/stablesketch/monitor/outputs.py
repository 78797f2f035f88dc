"""What a monitor shows besides its records: a page and metrics at an address, a text file, and exact counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from .alerts import Judge
from .board import Board
from .listener import ExactListener, Listener, ReleasedListener
from .metrics import ExactMetrics, ReleasedMetrics, TextFile
from .monitor import Monitor
from .state.outbox import Sink
from .watch import Watch


class Outputs:
    """Reserves its ports at once, so that a port in use is noticed before anything is read. Answers from `begin` to
    `close`.
    """

    def __init__(self, listen: str | None, listen_private: str | None, textfile: Path | None) -> None:
        self._textfile = textfile
        self._listeners: list[Listener] = []
        self.released: ReleasedListener | None = None
        self._exact: ExactListener | None = None
        self._board: Board | None = None
        try:
            if listen is not None:
                self.released = ReleasedListener(listen)
                self._listeners.append(self.released)
            if listen_private is not None:
                self._exact = ExactListener(listen_private)
                self._listeners.append(self._exact)
        except BaseException:
            self.close()
            raise

    def sinks(
        self, watch: Watch, judge: Judge, before: Mapping[int, str], say: Callable[[str], None],
        budget: float | None = None,
    ) -> list[Sink]:  # fmt: skip
        """The sinks, which must get every record; `before` are records of an earlier run, `budget` is a ledger's."""
        if self.released is None and self._textfile is None:
            return []
        self._board = Board(watch, judge, before, budget)
        metrics = ReleasedMetrics(self._board)
        if self.released is not None:
            self.released.board, self.released.metrics = self._board, metrics
        return [self._board, *([TextFile(self._textfile, metrics, say)] if self._textfile is not None else [])]

    @property
    def addresses(self) -> list[str]:
        """The addresses, in words."""
        shown = [f"the live page: {self.released.root}"] if self.released is not None else []
        exact = [f"exact counts, not private: {self._exact.root}metrics"] if self._exact is not None else []
        return shown + exact

    def begin(self, monitor: Monitor) -> None:
        """Starts answering about this monitor."""
        if self.released is not None:
            self.released.monitor = monitor
        if self._exact is not None:
            self._exact.metrics = ExactMetrics(monitor)
        for each in self._listeners:
            each.begin()

    def close(self) -> None:
        """Frees the ports."""
        if self._board is not None:
            self._board.close()
        for each in self._listeners:
            each.close()
