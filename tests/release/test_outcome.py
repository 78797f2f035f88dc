"""What `ss.release` returns: one object for one number or many groups, for people and for programs."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from outcomes import outcome_of

import stablesketch as ss
from stablesketch.statistic.published import Terms
from stablesketch.text.spoken import at_most
from stablesketch.text.visible import places

PRIVACY = ss.Privacy(1.0, 1e-9)
EVIL = "<script>alert('&')</script>\x1b[31m"
ROWS = pa.table({"app": [f"app {i % 40}" for i in range(900)], "country": ["FR", "DE", EVIL] * 300})


@pytest.fixture(scope="module")
def one() -> ss.Outcome:
    return ss.release(ROWS, ss.Moment(0.5), PRIVACY, key="app", mechanism="exact")


@pytest.fixture(scope="module")
def table() -> ss.Outcome:
    names = ["FR", "DE", EVIL, "MT"]
    return ss.release(ROWS, ss.Moment(0.5), PRIVACY, key="app", by="country", groups=names, mechanism="exact")


@pytest.fixture(scope="module")
def profiles() -> ss.Outcome:
    return ss.release(ROWS, ss.Profile([0, 1, 2]), PRIVACY, key="app", by="country", groups=["FR", "DE"])


def test_one_number_is_at_hand(one: ss.Outcome) -> None:
    assert (one.value, one.low, one.high) == (one.release.value, one.release.low, one.release.high)
    assert one.low <= one.value <= one.high
    assert (one.epsilon, one.statistic, one.record, one.points) == (one.release.epsilon, "F_0.5", None, ())
    assert one.price == (one.epsilon, one.delta)
    assert ss.Release.from_json(one.to_json()) == one.release
    assert list(one) == [one.release]
    assert len(one) == 1
    assert "FR" not in one
    with pytest.raises(ss.ArgumentError, match="cannot be looked up"):
        one["FR"]
    with pytest.raises(AttributeError, match="colour"):
        one.colour  # noqa: B018


def test_groups_are_found_by_name_and_by_place(table: ss.Outcome) -> None:
    assert [each.group for each in table] == [("FR",), ("DE",), (EVIL,), ("MT",)]
    assert table["DE"] is table[1].release is table[("DE",)]
    assert EVIL in table
    assert "de" not in table
    with pytest.raises(ss.ArgumentError, match="group must be one of the groups"):
        table["XX"]
    for name in ("value", "low", "high", "release", "record"):
        with pytest.raises(ss.ArgumentError, match="must be read by group"):
            getattr(table, name)
    assert [each["group"] for each in json.loads(table.to_json())] == ["FR", "DE", EVIL, "MT"]


def test_names_of_two_parts() -> None:
    rows = pa.table({"app": ["a", "b"] * 50, "country": ["FR"] * 100, "year": [2025, 2026] * 50})
    names = [("FR", "2025"), ("FR", "2026")]
    found = ss.release(rows, ss.Distinct(), PRIVACY, key="app", by=["country", "year"], groups=names, mechanism="exact")
    assert found["FR", "2026"] is found[1].release
    assert ("FR", "2026") in found
    assert found.to_pandas()["year"].tolist() == ["2025", "2026"]


def test_it_prints_as_a_table(one: ss.Outcome, table: ss.Outcome, profiles: ss.Outcome) -> None:
    title, head, row = str(one).splitlines()
    assert title == f"F_0.5  (ε = {at_most(one.epsilon)}, δ = 0; protects any one pair)"
    assert head.split() == ["value", "95%", "from", "to"]
    assert row.split()[0] == f"{one.value:,.6g}"
    lines = str(table).splitlines()
    assert len(lines) == 2 + 4 + 1  # a note: F_p of groups cannot be compared
    assert lines[1].startswith("country")
    assert "\x1b" not in str(table)
    assert repr(table) == str(table)
    lines = str(profiles).splitlines()
    assert len(lines) == 2 + 2 * 3 + 2  # notes on the exact mechanism, and on orders below 1
    assert lines[1].split()[:3] == ["country", "order", "value"]


class Texts(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_in_a_notebook_names_are_text(table: ss.Outcome, profiles: ss.Outcome) -> None:
    page = Texts(table._repr_html_())
    assert set(page.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert page.tags.count("tr") == 1 + 4
    assert "<script>alert('&')</script>\\x1b[31m" in page.text
    assert f"{table['FR'].value:,.6g}" in page.text
    assert Texts(profiles._repr_html_()).tags.count("tr") == 1 + 6


def test_frames_have_the_same_rows(one: ss.Outcome, table: ss.Outcome, profiles: ss.Outcome) -> None:
    for found, rows in ((one, 1), (table, 4), (profiles, 6)):
        arrow, frame, other = found.to_arrow(), found.to_pandas(), found.to_polars()
        assert isinstance(arrow, pa.Table)
        assert isinstance(frame, pd.DataFrame)
        assert isinstance(other, pl.DataFrame)
        assert arrow.num_rows == rows
        assert arrow.to_pylist() == frame.to_dict("records") == other.to_dicts()
    assert table.to_arrow().column_names == [
        "country", "value", "low", "high", "confidence", "epsilon", "delta", "statistic",
    ]  # fmt: skip
    assert profiles.to_arrow().column_names[:7] == ["country", "order", "value", "low", "high", "band_low", "band_high"]
    assert profiles.to_polars()["order"].to_list() == [0.0, 1.0, 2.0] * 2
    assert table.to_arrow()["country"].to_pylist() == ["FR", "DE", EVIL, "MT"]  # exact, unlike what is shown


def test_where_no_group_is_shown_there_is_an_empty_table_of_the_same_types(table: ss.Outcome) -> None:
    rows = pa.table({"app": ["a"], "country": ["FR"]})
    none = ss.release(rows, ss.Moment(0.5), PRIVACY, key="app", by="country", mechanism="exact")
    assert len(none) == 0
    assert none.to_arrow().schema == table.to_arrow().schema
    assert none.to_polars().schema == table.to_polars().schema
    assert none.to_pandas().dtypes.to_dict() == table.to_pandas().dtypes.to_dict()
    assert "no group is large enough for its name to be shown" in str(none)
    assert "no group is large enough" in none._repr_html_()
    assert none.to_json() == "[]"
    with pytest.raises(ss.ArgumentError, match="must have at least one group to be drawn"):
        none.plot()
    with pytest.raises(ss.ArgumentError, match="must have at least one release"):
        none.report("none.html")
    assert not Path("none.html").exists()


@pytest.mark.parametrize("by", [["value"], ["low", "group_low"], ["statistic"]])
def test_a_column_of_groups_may_be_called_as_any_other(by: list[str]) -> None:
    rows = pa.table({"app": ["a", "b"], **{name: ["x", "x"] for name in by}})
    found = ss.release(
        rows, ss.Moment(0.5), PRIVACY, key="app", by=by, groups=[("x",) * len(by)], mechanism="exact"
    )  # fmt: skip
    names = found.to_arrow().column_names
    assert len(set(names)) == len(names)
    assert found.to_pandas()[f"group_{by[0]}"].tolist() == ["x"]
    assert found.to_polars()["value"][0] == found["x" if len(by) == 1 else ("x", "x")].value


def test_letters_that_take_two_places_keep_the_columns_in_line() -> None:
    rows = pa.table({"app": ["a", "b", "c"], "city": ["東京", "Paris", "Zu\u0308rich"]})
    names = ["東京", "Paris", "Zu\u0308rich"]
    text = str(ss.release(rows, ss.Distinct(), PRIVACY, key="app", by="city", groups=names, mechanism="exact"))
    head, *lines = text.splitlines()[1:5]
    assert [line.startswith(name) for line, name in zip(lines, names, strict=True)] == [True] * 3
    ends = {places(line.rstrip()) for line in (head, *lines)}
    assert len(ends) == 1, text


def test_it_draws_and_explains_itself(table: ss.Outcome, one: ss.Outcome, tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    assert isinstance(one.plot(), Figure)
    for name in ("a.png", "a.svg", "a.html"):
        table.plot(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000
    with pytest.raises(ss.ArgumentError, match="must be a new file"):
        table.plot(tmp_path / "a.png")
    with pytest.raises(ss.ArgumentError, match=r"must end in .png, .svg or .html"):
        table.plot(tmp_path / "a.gif")
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=5.0, delta=1e-6)
    paid = ss.release(ROWS, ss.Hill(0.5), PRIVACY, key="app", ledger=ledger)
    paid.report(str(tmp_path / "paid.html"), ledger=ledger)
    text = (tmp_path / "paid.html").read_text()
    assert "How varied are the values of app" in text
    assert "It is recorded in a ledger" in text
    assert paid.record == 1
    table.report(tmp_path / "table.html")
    assert EVIL not in (tmp_path / "table.html").read_text()
    for bad in (tmp_path / "table.html", tmp_path / "no" / "a.html", tmp_path / "a.pdf"):
        with pytest.raises(ss.ArgumentError):
            table.report(bad)


def test_it_can_be_copied_pickled_and_compared(one: ss.Outcome, table: ss.Outcome) -> None:
    for found in (one, table):
        assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    assert one != table


def test_without_the_libraries_the_error_says_what_to_install() -> None:
    code = (
        "import sys, pyarrow as pa, stablesketch as ss\n"
        "found = ss.release(pa.table({'k': ['a']}), ss.Distinct(), ss.Privacy(1.0, 1e-9), key='k', mechanism='exact')\n"
        "sys.modules['pandas'] = sys.modules['polars'] = None\n"
        "for way in (found.to_pandas, found.to_polars):\n"
        "    try: way()\n"
        "    except ss.LibraryMissing as error: print(error)\n"
        "print(found)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert shown[:2] == [
        "this needs pandas, which is not installed. Run: pip install pandas.",
        "this needs polars, which is not installed. Run: pip install polars.",
    ]


def test_a_price_that_is_printed_is_never_below_what_was_spent() -> None:
    plan = ss.plan(ss.Hill(0.5), PRIVACY)
    release = plan.open().release()
    assert float(str(release).split("ε = ")[1].split(",")[0]) >= release.epsilon
    none = outcome_of(plan, [], grouped=True, terms=Terms(0.98571, 1.0001e-9, "add_remove", 1))
    assert "ε = 0.9858, δ = 1.01e-09" in str(none)
