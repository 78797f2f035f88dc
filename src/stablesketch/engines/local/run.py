"""A question answered on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...paying import until_shown
from ...reading.duckdb import DuckDB
from ...release.outcome import Outcome
from ...release.progress import Progress
from ...release.question import Question
from ...release.run import run_source
from .source import LocalSource

if TYPE_CHECKING:
    from ...ledger import Ledger

__all__ = ["run"]


def run(
    question: Question, data: object, *, ledger: Ledger | None = None, label: str = "", progress: Progress | None = None
) -> Outcome:
    """Reads data on this machine and releases, under a fresh secret."""
    with until_shown(), DuckDB() as duckdb:
        source = LocalSource(duckdb, question, data, progress)
        return run_source(question, source, ledger=ledger, label=label, progress=progress)
