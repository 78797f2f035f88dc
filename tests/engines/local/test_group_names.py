"""Listed names that no row can have are refused from the type of their column alone."""

from __future__ import annotations

import datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import stablesketch as ss

PRIVACY = ss.Privacy(1.0, 1e-9)
DAYS = [datetime.datetime(2026, 11, 1 + i % 3) for i in range(300)]


def released(data: object, groups: list[str]) -> ss.Outcome:
    return ss.release(data, ss.Hill(1), PRIVACY, key="app", by="day", groups=groups)


@pytest.mark.parametrize("form", ["frame", "file"])
def test_days_of_a_column_of_times(tmp_path: Path, form: str) -> None:
    """As pandas stores days: with the days themselves in the list, every group would have been empty."""
    data = pd.DataFrame({"app": [f"a{i % 7}" for i in range(300)], "day": DAYS})
    data.to_parquet(tmp_path / "e.parquet")
    given = data if form == "frame" else tmp_path / "e.parquet"
    with pytest.raises(ss.ArgumentError, match="Write 2026-11-01 00:00:00 in the list") as refused:
        released(given, ["2026-11-01", "2026-11-02"])
    assert "column day, of type TIMESTAMP" in str(refused.value)
    assert len(released(given, ["2026-11-01 00:00:00", "1999-01-01 00:00:00"])) == 2  # there need not be such rows


def test_other_types_and_text(tmp_path: Path) -> None:
    keys = [f"a{i % 7}" for i in range(300)]
    days = pa.array([day.date() for day in DAYS])
    assert len(released(pa.table({"app": keys, "day": days}), ["2026-11-01", "2030-01-01"])) == 2
    with pytest.raises(ss.ArgumentError, match="List names of that type"):
        released(pa.table({"app": keys, "day": days}), ["Monday"])
    numbers = pa.table({"app": keys, "day": pa.array([i % 3 for i in range(300)])})
    assert len(released(numbers, ["0", "7"])) == 2
    with pytest.raises(ss.ArgumentError, match="Write 1 in the list"):
        released(numbers, ["01"])
    texts = pa.table({"app": keys, "day": [f"0{i % 3}" for i in range(300)]})
    assert len(released(texts, ["01", "x", "o'clock"])) == 3
    coded = texts.set_column(1, "day", texts["day"].dictionary_encode())
    assert len(released(coded, ["01", "nowhere"])) == 2
