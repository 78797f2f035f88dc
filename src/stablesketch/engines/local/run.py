"""A task carried out on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...paying import until_shown
from ...reading.duckdb_engine import Engine
from ...release.outcome import Outcome
from ...release.progress import Progress
from ...release.run import run_source
from ...release.task import Task
from .source import LocalSource

if TYPE_CHECKING:
    from ...ledger import Ledger

__all__ = ["run"]


def run(
    task: Task, data: object, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Reads data on this machine and releases, under a fresh secret."""
    with until_shown(), Engine() as engine:
        source = LocalSource(engine, task, data, progress)
        return run_source(task, source, ledger=ledger, label=label, progress=progress)
