"""Files and queries read by Spark, for people who do not write code: `stablesketch release --engine spark`. Progress is
shown by the tasks of the running stage, as a bar.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ...errors import ArgumentError, DataError, LibraryMissing, in_one_line
from ...reading.files import check_listed_once
from ...reading.found import format_by_name
from ...reading.libraries import need
from ...release.outcome import Outcome
from ...release.question import Question
from ...text.wording import arg
from ..secret_from import SecretFrom
from .frame import DataFrame, TextFrame, quiet, shown_path
from .release import run_frame
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

_SECONDS = 0.3  # between two updates of the progress
_WORDS = "running on Spark"


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
        with _typed(how.sql):
            return _looked_at(spark.sql(how.sql))
    assert files
    if "-" in files:
        raise ArgumentError("data", "-", "cannot be standard input on Spark", "Save it to a file first")
    name = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    with _typed(name):
        found = _listed(spark, files)
    kind = format_by_name([Path(path) for path in found], how.format)
    if kind in ("arrow", "orc"):
        raise DataError(
            name, "Arrow and ORC are read on one machine only", f"Convert it to Parquet, or pass {arg('sql')}"
        )
    reader = spark.read
    above = _above_folders(found)
    if above is not None:
        reader = reader.option("basePath", above)
    with _typed(name):
        if kind == "parquet":
            return _looked_at(reader.parquet(*files))
        lines = _looked_at(reader.option("lineSep", "\n").text(list(files)))
        return text_frame(name, lines, kind, how, question.columns)


def _listed(spark: Any, files: Sequence[str]) -> list[str]:
    """Every file that paths, patterns and folders match, in order, each once. Spark does not list empty files."""
    found = sorted(row[0] for row in spark.read.format("binaryFile").load(list(files)).select("path").collect())
    if not found:
        raise DataError(", ".join(files), "there are no files, or all are empty", "Check the path")
    check_listed_once(
        (shown_path(path), os.path.realpath(shown_path(path)) if path.startswith("file:") else path) for path in found
    )
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


@contextlib.contextmanager
def _typed(source: str) -> Iterator[None]:
    """Spark's message about a query or file, in one line."""
    try:
        yield
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


@contextlib.contextmanager
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
        with contextlib.suppress(Exception):  # Spark may stop while it is asked, and nothing depends on the answer
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
