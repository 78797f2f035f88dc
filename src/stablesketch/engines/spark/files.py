"""Files and queries read by Spark, for people who do not write code: `stablesketch release --engine spark`."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from ...errors import ArgumentError, DataError, LibraryMissing, in_one_line
from ...reading.found import format_by_name
from ...reading.libraries import need
from ...release.outcome import Outcome
from ...release.question import Question
from ...text.wording import arg
from ..secret_from import SecretFrom
from .frame import DataFrame, TextFrame, quiet, shown_path
from .release import run_frame
from .stages import stages_shown
from .text_files import text_frame

if TYPE_CHECKING:
    from ...ledger import Ledger
    from ...release.source import Progress

VARIABLE = "STABLESKETCH_SECRET"  # where workers find a secret that cannot be broadcast to them

# Folders like country=007 are text, as on one machine, and an unreadable file is an error, not left out.
_SETTINGS = {
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
Result = TypeVar("Result")


def run_files(
    question: Question,
    files: Sequence[str] | None,
    master: str,
    *,
    ledger: Ledger | None = None,
    label: str = "",
    progress: Progress | None = None,
) -> Outcome:
    """Answers a question about files or a query, on the Spark cluster at `master`.

    Files are Parquet, CSV, TSV, JSON lines or plain lines, read as on one machine; folders of them too.

    `master` is the Spark master (local[4], spark://host:7077, yarn), or sc://host for Spark Connect. With Spark
    Connect, the workers and this process find a secret in the environment variable STABLESKETCH_SECRET.
    """
    if progress is not None:
        progress.begin("starting Spark", None)
    with _session(master) as spark, stages_shown(spark, progress) as shown, _damaged_files_named():
        frame = _frame(spark, files, question)
        secret = SecretFrom.environment(VARIABLE) if master.startswith("sc://") else None
        return run_frame(question, frame, secret=secret, ledger=ledger, label=label, progress=shown)


@contextlib.contextmanager
def _session(master: str) -> Iterator[Any]:
    """A session, stopped at the end. If Spark already runs in this process, an additional session."""
    sessions = need("pyspark.sql", "spark").SparkSession
    builder = sessions.builder.appName("stablesketch")
    running = None
    if master.startswith("sc://"):
        session = builder.remote(master).getOrCreate()
    else:
        running = sessions.getActiveSession()
        session = running.newSession() if running is not None else _started(builder, master)
    try:
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        yield session
    finally:
        if running is None:
            session.stop()


def _started(builder: Any, master: str) -> Any:
    need_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with quiet():
        session = builder.master(master).config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def need_java() -> None:
    """Says how to get Java, before Spark fails without it."""
    home = os.environ.get("JAVA_HOME")
    if not (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is None:
        raise LibraryMissing(
            "Spark needs Java 17 or later, which was not found"
            + (f" in JAVA_HOME = {home}" if home else " on the path")
            + ". Install it (Debian and Ubuntu: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
        )


def _frame(spark: Any, files: Sequence[str] | None, question: Question) -> DataFrame | TextFrame:
    how = question.input
    if how.wide:
        raise ArgumentError("wide", True, "cannot be used on Spark", "Use the local engine for wide tables")
    if how.sql is not None:
        if files:
            raise ArgumentError("sql", how.sql, "must name its files itself on Spark", "Leave the files out")
        query = how.sql
        return _typed(query, lambda: _looked_at(spark.sql(query)))
    assert files
    if "-" in files:
        raise ArgumentError("data", "-", "cannot be standard input on Spark", "Save it to a file first")
    name = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    found = _typed(name, lambda: _listed(spark, files))
    kind = format_by_name([Path(path) for path in found], how.format)
    if kind in ("arrow", "orc"):
        raise DataError(
            name, "Arrow and ORC are read on one machine only", f"Convert it to Parquet, or pass {arg('sql')}"
        )
    reader = spark.read
    above = _above_folders(found)
    if above is not None:
        reader = reader.option("basePath", above)
    if kind == "parquet":
        return _typed(name, lambda: _looked_at(reader.parquet(*files)))
    lines = reader.option("lineSep", "\n")
    return _typed(name, lambda: text_frame(name, _looked_at(lines.text(list(files))), kind, how, question.columns))


def _listed(spark: Any, files: Sequence[str]) -> list[str]:
    """Every file that paths, patterns and folders match, in order, each once. Spark does not list empty files."""
    found = sorted(row[0] for row in spark.read.format("binaryFile").load(list(files)).select("path").collect())
    if not found:
        raise DataError(", ".join(files), "there are no files, or all are empty", "Check the path")
    seen: set[str] = set()
    for path in found:
        real = os.path.realpath(shown_path(path)) if path.startswith("file:") else path
        if real in seen:
            raise DataError(
                shown_path(path), "this file is listed twice, so its rows would count twice", "List it once"
            )
        seen.add(real)
    return found


def _above_folders(paths: Sequence[str]) -> str | None:
    """The parent of folders like country=FR, if all files are in such folders: these are columns here too."""
    above = set()
    for path in paths:
        folders = path.split("/")[:-1]
        first = next((i for i, folder in enumerate(folders) if "=" in folder), None)
        above.add(None if first is None else "/".join(folders[:first]) or "/")
    return above.pop() if len(above) == 1 else None


def _looked_at(frame: DataFrame) -> DataFrame:
    frame.schema  # noqa: B018  # Spark Connect looks at a query only when asked
    return frame


def _typed(source: str, read: Callable[[], Result]) -> Result:
    """Spark's message about a query or file, in one line."""
    try:
        return read()
    except need("pyspark.errors", "spark").PySparkException as error:
        text = str(error).strip().split("\n")[0]
        missing = re.match(r"\[PATH_NOT_FOUND\] Path does not exist: (.+?)\.? SQLSTATE", text)
        if missing:
            here = f"The current folder is {os.getcwd()}"
            raise DataError(shown_path(missing[1]), "no file has this name or matches this pattern", here) from None
        raise DataError(source, in_one_line(text), "Correct the path or the query") from None


@contextlib.contextmanager
def _damaged_files_named() -> Iterator[None]:
    """Names the file in the error if workers find that it is damaged or no longer exists."""
    try:
        yield
    except Exception as error:
        found = re.search(r"\[FAILED_READ_FILE[^]]*\][^\n]*?(?:file|File) (\S+?)\.?\s", str(error))
        if found is None:
            raise
        problem = "the file cannot be read: it is damaged or no longer exists"
        raise DataError(shown_path(unquote(found[1])), problem, "Correct it, or leave it out") from None
