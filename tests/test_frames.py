"""`df.stablesketch` of pandas and polars, in whatever order things are imported."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import polars as pl
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
