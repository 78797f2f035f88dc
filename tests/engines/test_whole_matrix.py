"""The matrix at a size that people have: from files by the command line, on Spark, and how often intervals hold.

Slow. What it checks of every cell is what test_matrix.py checks of `ss.release`, on fewer rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from matrix_cells import (
    CONFIDENCE,
    SITUATIONS,
    Found,
    Options,
    Refused,
    arguments_of,
    cells,
    check_sane,
    covered,
    fixed_randomness,
    followed,
    privacy_of,
    python_door,
    shell_door,
    table,
)
from scipy import stats

import stablesketch as ss
from stablesketch.errors import StablesketchError
from stablesketch.statistic import Statistic

pytestmark = pytest.mark.slow

ROWS = 200_000
ALARM = 1e-6


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("matrix") / "events.parquet"
    pq.write_table(table(ROWS), file)
    return file


def check_coverage(held: list[bool]) -> None:
    """At 95% each, so few are covered with a probability of less than 1e-6. That more are is no fault: where the end of
    a range is near, and of what is exact, intervals hold more often."""
    assert sum(held) >= stats.binom.ppf(ALARM, len(held), CONFIDENCE), f"{sum(held)} of {len(held)}"


def test_the_command_line(events: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every cell, and the coverage of all of them. False alarm: 1e-6."""
    held = []
    for statistic, situation in (cell.values for cell in cells(shell=True)):
        with monkeypatch.context() as patch:
            fixed_randomness(patch, "command line", statistic, situation)
            outcome = followed(shell_door(events, capsys), statistic, SITUATIONS[situation], shell=True)
        check_sane(outcome)
        held += covered(outcome, table(ROWS))
    check_coverage(held)


@pytest.mark.parametrize("repeat", range(2))
def test_python(repeat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell again, each time with other secrets. False alarm: 1e-6 each."""
    held = []
    for statistic, situation in (cell.values for cell in cells()):
        with monkeypatch.context() as patch:
            fixed_randomness(patch, repeat, statistic, situation)
            outcome = followed(python_door(table(ROWS)), statistic, SITUATIONS[situation], shell=False)
        check_sane(outcome)
        held += covered(outcome, table(ROWS))
    check_coverage(held)


def test_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell but deletes, which Spark does not take. False alarm: 1e-6."""
    from stablesketch.spark import release

    frame = spark.createDataFrame(table(ROWS)).repartition(2).cache()

    def door(statistic: Statistic, options: Options) -> list[Found]:
        try:
            found = release(frame, statistic, privacy_of(options), **arguments_of(options))
        except StablesketchError as error:
            raise Refused(str(error)) from None
        if isinstance(found, ss.Release):
            return [Found(found)]
        rows = [json.loads(row.json) for row in found.collect()]
        groups = [row.pop("group") for row in rows]
        return [Found(ss.Release.from_json(json.dumps(row)), group) for row, group in zip(rows, groups, strict=True)]

    held = []
    for statistic, situation in (cell.values for cell in cells()):
        if "deletes" in SITUATIONS[situation]:
            continue
        with monkeypatch.context() as patch:
            fixed_randomness(patch, "spark", statistic, situation)
            outcome = followed(door, statistic, SITUATIONS[situation], shell=False)
        check_sane(outcome)
        held += covered(outcome, table(ROWS))
    check_coverage(held)
