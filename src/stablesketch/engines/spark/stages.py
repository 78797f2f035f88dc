"""The progress of Spark: the tasks of the running stage, as a bar."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...release.source import Progress

_SECONDS = 0.3  # between two updates
_WORDS = "running on Spark"


@contextmanager
def stages_shown(session: Any, progress: Progress | None) -> Iterator[Progress | None]:
    """A progress that shows what Spark does, until it is used to show other work.

    Spark Connect does not report its progress, so only the words are shown there.
    """
    if progress is None:
        yield None
        return
    progress.begin(_WORDS, None)
    tracker = session.sparkContext.statusTracker() if hasattr(session, "_jsparkSession") else None
    shown = _Shown(tracker, progress)
    try:
        yield shown
    finally:
        shown.stop()


class _Shown:
    def __init__(self, tracker: Any, progress: Progress) -> None:
        self._tracker, self._progress = tracker, progress
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if tracker is not None:
            self._thread.start()

    def begin(self, what: str, total: int | None) -> None:
        self.stop()
        self._progress.begin(what, total)

    def advance(self, steps: int) -> None:
        self._progress.advance(steps)

    def stop(self) -> None:
        """Stops updating."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        current, done = None, 0
        with suppress(Exception):  # Spark may stop while it is asked, and nothing depends on the answer
            while not self._stopped.wait(_SECONDS):
                # If there are several stages, the others wait for the first.
                stage = next(iter(sorted(self._tracker.getActiveStageIds())), None)
                found = None if stage is None else self._tracker.getStageInfo(stage)
                if found is None:
                    continue
                if stage != current:
                    current, done = stage, 0
                    self._progress.begin(f"{_WORDS}, tasks of stage {stage}", int(found.numTasks))
                finished = int(found.numCompletedTasks)
                if finished > done:
                    self._progress.advance(finished - done)
                    done = finished
