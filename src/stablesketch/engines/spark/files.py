"""Files and queries, read by Spark, for those who do not write code: `stablesketch release --engine spark`."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...doors.libraries import need
from ...doors.outcome import Outcome
from ...doors.task import Task
from ...errors import ArgumentError, DataError, LibraryMissing
from ..secret_from import SecretFrom
from .frame import quiet
from .release import run_frame

if TYPE_CHECKING:
    from ...doors.pour import Progress
    from ...ledger import Ledger

__all__ = ["VARIABLE", "need_java", "run_files"]

VARIABLE = "STABLESKETCH_SECRET"  # where workers find a secret that cannot be broadcast to them


def run_files(
    task: Task,
    files: Sequence[str] | None,
    master: str,
    *,
    ledger: Ledger | None = None,
    label: str = "",
    progress: Progress | None = None,
) -> Outcome:
    """Carries out a task on Parquet files, or on a query of Spark, where `master` leads.

    `master` is what Spark calls so (local[4], spark://host:7077, yarn), or sc://host for Spark Connect; then the
    workers, and this process, find a secret in the environment variable STABLESKETCH_SECRET.
    """
    if progress is not None:
        progress.begin("running on Spark", None)
    with _session(master) as spark:
        frame = _frame(spark, files, task)
        secret = SecretFrom.environment(VARIABLE) if master.startswith("sc://") else None
        return run_frame(task, frame, secret=secret, ledger=ledger, label=label)


@contextlib.contextmanager
def _session(master: str) -> Iterator[Any]:
    builder = need("pyspark.sql", "spark").SparkSession.builder.appName("stablesketch")
    if master.startswith("sc://"):
        session = builder.remote(master).getOrCreate()
    else:
        need_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(master).config("spark.ui.showConsoleProgress", "false")
        with quiet():
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def need_java() -> None:
    """Says how to get Java, before Spark says that it is not there."""
    home = os.environ.get("JAVA_HOME")
    if not (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is None:
        raise LibraryMissing(
            "Spark needs Java 17 or later, and there is none"
            + (f" in JAVA_HOME = {home}" if home else " on the path")
            + ". Install it (Debian and Ubuntu: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
        )


def _frame(spark: Any, files: Sequence[str] | None, task: Task) -> Any:
    how = task.input
    if how.sql is not None:
        if files:
            raise ArgumentError("sql", how.sql, "a query of Spark names its files itself", "Leave the files out")
        return _told(how.sql, lambda: spark.sql(how.sql))
    assert files
    kind = how.format or ("parquet" if all(".parquet" in name or Path(name).is_dir() for name in files) else None)
    if kind != "parquet":
        raise ArgumentError(
            "engine", "spark", "it reads Parquet files, or a query that says of which types its columns are",
            "Use --sql, as in: select app, cast(n as bigint) as n from csv.`events.csv`",
        )  # fmt: skip
    return _told(", ".join(files), lambda: spark.read.parquet(*files))


def _told(source: str, read: Any) -> Any:
    """What Spark says of a query or file, in one line."""
    try:
        frame = read()
        frame.schema  # noqa: B018  # Spark Connect looks at the query only when asked
        return frame
    except need("pyspark.errors", "spark").PySparkException as error:
        text = str(error).strip().split("\n")[0][:400]
        raise DataError(source, text, "Repair the path, or the query") from None
