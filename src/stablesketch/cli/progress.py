"""The progress of reading, on a terminal: a bar on standard error."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ..text.visible import visible
from .screen import console


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{task.completed:,.0f}" + (f", {speed:,.0f}/s" if speed else ""), style="dim")


class _Bar:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID | None = None

    def begin(self, what: str, total: int | None) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone stops nothing
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(visible(what), total=total)

    def advance(self, steps: int) -> None:
        with contextlib.suppress(OSError):
            if self._task is not None:
                self._bar.advance(self._task, steps)


@contextlib.contextmanager
def progress() -> Iterator[_Bar | None]:
    """A bar with the rate and, if the total is known, the time left. Only on a terminal, and not under NO_COLOR."""
    screen = console(error=True)
    if not screen.is_terminal or os.environ.get("NO_COLOR"):
        yield None
        return
    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        _Rate(),
        TimeRemainingColumn(),
    ]
    bar = Progress(*columns, console=screen, transient=True)
    bar.start()
    try:
        yield _Bar(bar)
    finally:
        with contextlib.suppress(OSError):
            bar.stop()
