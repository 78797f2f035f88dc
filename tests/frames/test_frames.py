"""`df.stablesketch` of pandas and polars, in whatever order things are imported."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stablesketch as ss
import stablesketch.pandas
import stablesketch.polars

COLUMNS = {"app": [f"app {i % 30}" for i in range(600)], "country": ["FR", "DE", "FR"] * 200}
PRIVACY = ss.Privacy(1.0, 1e-9)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_what_can_be_asked_of_a_frame(kind: type) -> None:
    frame = kind(COLUMNS)
    found = frame.stablesketch.release(ss.Distinct(), PRIVACY, key="app", mechanism="exact")
    assert found.low <= 30 <= found.high + 20
    table = frame.stablesketch.release(
        ss.Moment(0.5), PRIVACY, key="app", by="country", groups=["FR", "DE"], mechanism="exact"
    )
    assert "FR" in table
    assert frame.stablesketch.exact(ss.Hill(0), key="app").value == 30.0
    secret = ss.Secret.generate()
    stored = frame.stablesketch.collect(ss.plan(ss.Moment(0.5), PRIVACY, size=64), key="app", secret=secret)
    assert ss.merge(stored, secret=secret).pairs == 600
    with pytest.raises(ss.DataError, match="column apps"):
        frame.stablesketch.release(ss.Distinct(), PRIVACY, key="apps")


def test_a_part_of_a_frame_is_asked_by_itself() -> None:
    """pandas keeps accessors with the frame they are of."""
    frame = pd.DataFrame(COLUMNS)
    assert frame.stablesketch.exact(ss.Total(), key="app").value == 600.0
    assert frame[frame["country"] == "FR"].stablesketch.exact(ss.Total(), key="app").value == 400.0


ORDERS = {
    "the libraries first": "import pandas, polars, stablesketch as ss",
    "the libraries later, and a name used between": "import stablesketch as ss, pandas, polars; ss.Hill",
    "said expressly": "import stablesketch.pandas, stablesketch.polars, stablesketch as ss, pandas, polars",
    "the libraries later": "import stablesketch as ss, pandas, polars",
    "the libraries later, and looked for before": (
        "import stablesketch as ss; from importlib.util import find_spec; find_spec('pandas'); find_spec('polars'); "
        "import pandas, polars"
    ),
    "by another name": "import pandas, polars; from stablesketch import Hill; import stablesketch as ss",
}


@pytest.mark.parametrize("order", ORDERS)
def test_in_any_order(order: str) -> None:
    code = (
        f"{ORDERS[order]}\n"
        "for library in (pandas, polars):\n"
        "    frame = library.DataFrame({'app': ['a', 'b', 'b']})\n"
        "    print(frame.stablesketch.exact(ss.Hill(0), key='app').value)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2.0\n2.0\n", "")


def test_a_library_that_is_imported_later_keeps_its_loader() -> None:
    code = (
        "import sys, stablesketch, pandas, importlib.resources, inspect\n"
        "print(vars(pandas.__spec__.loader).keys() <= {'name', 'path'}, len(inspect.getsource(pandas)) > 100)\n"
        "print(importlib.resources.files('pandas').is_dir(), importlib.reload(pandas) is pandas)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True True\nTrue True\n", "")


def test_a_lazy_frame_is_read_by_the_columns_that_are_asked_for() -> None:
    lazy = pl.DataFrame({**COLUMNS, "bad": ["x"] * 600}).lazy().with_columns(pl.col("bad").cast(pl.Int64))
    assert lazy.stablesketch.exact(ss.Hill(0), key="app").value == 30.0  # type: ignore[attr-defined]
    assert ss.exact(lazy, ss.Hill(0), key="app").value == 30.0
    with pytest.raises(ss.DataError, match=r"the frame, column apps: no such column\. Did you mean app\?"):
        ss.exact(lazy.drop("bad"), ss.Hill(0), key="apps")
    with pytest.raises(ss.DataError, match=r"cannot be collected \(InvalidOperationError\)") as refused:
        ss.exact(lazy, ss.Hill(0), key="bad")
    assert refused.value.__context__ is None


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("type", [pa.float64(), pa.null(), pa.bool_(), pa.list_(pa.int8())])
def test_a_frame_without_rows_has_no_data_of_any_type(kind: Callable[[Any], Any], type: pa.DataType) -> None:
    empty = pa.table({"k": pa.array([], type), "n": pa.array([], type), "other": pa.array([], type)})
    frame = {pd.DataFrame: empty.to_pandas, pl.DataFrame: lambda: pl.from_arrow(empty)}.get(kind, lambda: empty)()  # type: ignore[call-overload]
    assert math.isnan(ss.exact(frame, ss.Shannon(), key="k").value)
    assert ss.exact(frame, ss.Distinct(), key="k", value="n").value == 0.0
    assert ss.exact(frame, ss.Shannon(), key="k", by="other").groups == []


def test_neither_library_is_imported_for_it_and_none_need_be_there() -> None:
    code = (
        "import sys\n"
        "import stablesketch as ss; ss.Hill\n"
        "print([name for name in ('pandas', 'polars') if name in sys.modules])\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    for name in ("pandas", "polars"):  # as where they are not installed
        code = f"import sys; sys.modules['{name}'] = None; import stablesketch as ss; print(ss.Hill(1))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "Hill number of order 1\n"


@pytest.mark.parametrize(
    "cells",
    [
        [7, "PRIVATE"],
        [7.5, "PRIVATE"],
        [pd.Timestamp("2020-01-01"), "PRIVATE"],
        [77777 * 2**60, 1],
        ["PRIVATE\ud800", "b"],
    ],
    ids=["whole", "float", "time", "beyond 64 bits", "surrogate"],
)
@pytest.mark.parametrize("column", ["app", "n"])
def test_a_column_that_arrow_cannot_hold_is_named_and_not_shown(cells: list[object], column: str) -> None:
    frame = pd.DataFrame({"other": [1, 2], "app": ["a", "b"], "n": [1, 2]})
    frame[column] = pd.Series(cells, dtype=object)
    with pytest.raises(ss.DataError, match=f"the frame, column {column}: cannot be read as an Arrow table") as refused:
        ss.release(frame, ss.Distinct(), PRIVACY, key="app", value="n")
    assert refused.value.column == column
    assert "PRIVATE" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_column_and_a_name_that_comes_twice_are_refused() -> None:
    frame = pd.DataFrame({"app": ["a", "b"], "n": [1, 2]})
    privacy = ss.Privacy(1.0, 1e-9)
    with pytest.raises(ss.ArgumentTypeError, match="data must be a frame, not one column of it"):
        ss.release(frame["app"], ss.Moment(0.5), privacy, key="app")
    with pytest.raises(ss.DataError, match="column app: several columns have this name"):
        ss.release(pd.concat([frame, frame[["app"]]], axis=1), ss.Moment(0.5), privacy, key="app")


# --- what pandas calls rows ---


def test_an_index_is_no_key_of_a_wide_frame(tmp_path: Path) -> None:
    """Rows that were filtered, or loaded with index_col, have an index that Arrow makes a column of."""
    wide = pd.DataFrame({"oak": [1, 2], "elm": [3, 0]})
    for index in (pd.Index([10, 20]), pd.Index([10, 20], name="site"), pd.Index(["x", "y"])):
        named = wide.set_axis(index)
        assert ss.exact(named, ss.Hill(0.0), wide=True).groups == ss.exact(wide, ss.Hill(0.0), wide=True).groups
    wide.set_axis([10, 20]).to_parquet(tmp_path / "w.parquet")
    assert ss.exact(tmp_path / "w.parquet", ss.Hill(0.0), wide=True).groups[0].keys == 2
    kept = wide.set_index("oak", drop=False)
    assert ss.exact(kept, ss.Hill(0.0), wide=True).groups[0].keys == 2


def test_an_index_with_a_name_is_a_column_where_it_is_asked_for() -> None:
    events = pd.DataFrame({"app": ["a", "b", "a"], "n": [1, 2, 3]}).set_index("app")
    assert ss.exact(events, ss.Hill(0.0), key="app", value="n").groups[0].keys == 2
    wide = pd.DataFrame({"oak": [1, 2], "elm": [3, 0]}, index=pd.Index(["x", "y"], name="site"))
    assert [one.group for one in ss.exact(wide, ss.Hill(0.0), wide=True, by="site")] == [("x",), ("y",)]


def test_the_way_out_for_an_index_without_a_name_works() -> None:
    events = pd.DataFrame({"n": [1, 2]}, index=["a", "b"])
    with pytest.raises(ss.DataError, match=r"column app: no such column, .* frame\.reset_index\(names='app'\)"):
        ss.exact(events, ss.Hill(0.0), key="app")
    assert ss.exact(events.reset_index(names="app"), ss.Hill(0.0), key="app").value == 2


def test_the_ways_out_for_a_series_work() -> None:
    series = pd.Series(["a", "b", "a"])
    with pytest.raises(ss.ArgumentTypeError) as refused:
        ss.exact(series, ss.Hill(0.0), key="app")
    assert "series.to_frame('app')" in str(refused.value)
    assert "series.rename_axis('app').reset_index(name='n')" in str(refused.value)
    assert ss.exact(series.to_frame("app"), ss.Hill(0.0), key="app").value == 2
    counts = series.value_counts().rename_axis("app").reset_index(name="n")
    assert ss.exact(counts, ss.Hill(0.0), key="app", value="n").value == 2
    with pytest.raises(ss.ArgumentTypeError) as refused:
        ss.exact(pl.Series("x", ["a"]), ss.Hill(0.0), key="app")
    assert "reset_index" not in str(refused.value)
    assert ss.exact(pl.Series("x", ["a"]).to_frame("app"), ss.Hill(0.0), key="app").value == 1
