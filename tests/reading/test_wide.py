"""Wide tables (a row a sample, a column a key) are the same streams as the long tables they stand for."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import stablesketch as ss
from stablesketch.cli.app import run as command_line
from stablesketch.engines.local.collect import collected_shard
from stablesketch.engines.local.exact import exact_values
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns, checked_columns
from stablesketch.reading.found import Input
from stablesketch.reading.wide import long_columns

PRIVACY = ss.Privacy(1.0, 1e-6, max_value=9)
PLAN = ss.plan(ss.Moment(0.5), PRIVACY, size=50)
SECRET = bytes(range(32))
GRID = np.random.default_rng(1).integers(0, 10, (400, 30)) * np.random.default_rng(2).integers(0, 2, (400, 30))
SPECIES = [f"Species {i}, sp." for i in range(30)]
WIDE = pd.DataFrame(GRID, columns=SPECIES).assign(site=[f"s{i % 4}" for i in range(400)], who=np.arange(400) // 3)
LONG = WIDE.melt(["site", "who"], var_name="species", value_name="n").query("n > 0")


def written(folder: Path, frame: pd.DataFrame) -> dict[str, Any]:
    """The same table in every possible form."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(folder / "w.csv", index=False)
    frame.to_csv(folder / "w.txt", index=False, sep="\t")
    frame.to_json(folder / "w.jsonl", orient="records", lines=True)
    pyarrow.parquet.write_table(table, folder / "w.parquet")
    pyarrow.feather.write_feather(table, folder / "w.feather")
    files = {name: folder / name for name in ("w.csv", "w.txt", "w.jsonl", "w.parquet", "w.feather")}
    return files | {"pandas": frame, "polars": pl.from_pandas(frame), "reader": table.to_reader(), "pipe": "-"}


def state(data: Any, columns: Columns, how: Input) -> bytes:
    return collected_shard(data, PLAN, ss.Secret.from_bytes(SECRET), "s", Reading(columns, how)).to_bytes()


def test_every_form_of_a_wide_table_has_the_state_of_the_long_one(tmp_path: Path) -> None:
    expected = state(LONG, checked_columns("species", "n"), Input())
    narrow = WIDE[SPECIES]
    for name, data in written(tmp_path, narrow).items():
        how = Input(wide=True, stdin=io.BytesIO((tmp_path / "w.csv").read_bytes()))
        assert state(data, long_columns(), how) == expected, name
    query = f"select * from '{tmp_path / 'w.parquet'}'"
    assert state(None, long_columns(), Input(wide=True, sql=query)) == expected
    halves = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for path, rows in zip(halves, (narrow[:100], narrow[100:]), strict=True):
        rows.to_csv(path, index=False)
    assert state(halves, long_columns(), Input(wide=True)) == expected


@pytest.mark.parametrize("by", [None, "site"])
@pytest.mark.parametrize("privacy", [PRIVACY, ss.Privacy(1.0, 1e-6, unit="individual")], ids=["cells", "individuals"])
def test_collectors_of_groups_are_those_of_the_long_table(
    tmp_path: Path, privacy: ss.Privacy, by: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, secret = ss.plan(ss.Moment(0.5), privacy, size=50), ss.Secret.from_bytes(SECRET)
    expected = ss.collect(LONG, plan, key="species", value="n", by=by, secret=secret, shard="s")
    assert len(expected) == (1 if by is None else 4)
    for name, data in written(tmp_path, WIDE.drop(columns="who" if by else ["who", "site"])).items():
        if name == "pipe":
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "w.csv").read_bytes())))
        assert ss.collect(data, plan, wide=True, by=by, secret=secret, shard="s").equals(expected), name
    with pytest.raises(ss.ArgumentError, match="key cannot be used with wide"):
        ss.collect(WIDE, plan, wide=True, key="site", secret=secret)


def test_exact_values_by_group_are_those_of_the_long_table(tmp_path: Path) -> None:
    hill = ss.Hill(1.0)
    expected = exact_values(LONG, hill, Reading(checked_columns("species", "n", "site")))
    assert len(expected) == 4
    for name, data in written(tmp_path, WIDE.drop(columns="who")).items():
        how = Input(wide=True, stdin=io.BytesIO((tmp_path / "w.txt").read_bytes()))
        found = exact_values(data, hill, Reading(long_columns(by="site"), how))
        assert found == expected, name


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("by", [None, "site"])
def test_a_release_is_near_that_of_the_long_table(tmp_path: Path, by: str | None, person: str | None) -> None:
    """With ε = 1e6 noise is far below 1e-3; people keep all their rows. Exact, so nothing fails by chance alone."""
    privacy = ss.Privacy(1e6, 1e-6, max_value=9, pairs_per_person=100 if person else 1)
    asked: dict[str, Any] = {"by": by, "person": person, "mechanism": "exact"}
    if by:
        asked["groups"] = ["s0", "s1", "s2", "s3"]
    if by and person:
        asked["groups_per_person"] = 4
    expected = ss.release(LONG, ss.Moment(0.5), privacy, key="species", value="n", **asked)
    for name, data in written(tmp_path, WIDE[[*SPECIES, *([by] if by else []), *([person] if person else [])]]).items():
        if name != "pipe":
            found = ss.release(data, ss.Moment(0.5), privacy, wide=True, **asked)
            values = [[getattr(one, "release", one).value for one in each.releases] for each in (found, expected)]
            assert values[0] == pytest.approx(values[1], rel=1e-3), name


def refused(data: Any, privacy: ss.Privacy = PRIVACY, **what: Any) -> str:
    with pytest.raises((ss.DataError, ss.ArgumentError)) as error:
        ss.release(data, ss.Moment(0.5), privacy, wide=True, **what)
    return str(error.value)


def test_a_bad_cell_is_named_by_its_column_and_row(tmp_path: Path) -> None:
    for cell, says in (
        ("", "is empty or null"), ("x", "is not a whole number"), ("1.5", "is a number with decimals"),
        ("NA", "is a missing value"), ("-1", "is negative"), ("10", "is above the promised max_value=9"),
    ):  # fmt: skip
        path = tmp_path / "w.csv"
        path.write_text(f"site,oak,ash\na,1,0\na,0,{cell}\nb,2,2\n")
        for more in ({"by": "site"}, {"by": "site", "groups": ["a", "b"]}):
            assert f"{path}, row 3, column ash {says}" in refused(path, **more)
        assert f"{path}, row 2, column site is not a whole number. Correct it. A column" in refused(path)
    path.write_text("site,oak\na,1\n,2\n")
    assert f"{path}, row 3, column site is empty or null" in refused(path, by="site")
    assert "row 2, column ash is null" in refused(pa.table({"oak": [1, 2], "ash": [0, None]}))
    assert "row 2, column ash is negative" in refused(pa.table({"oak": [1, 2], "ash": [0, -1]}))
    assert "column ash is of type DOUBLE, but values must be whole numbers" in refused(
        pd.DataFrame({"ash": [0.0, 1.0]})
    )
    assert "column site is of type VARCHAR" in refused(pd.DataFrame({"site": ["a"], "ash": [1]}))
    assert "no column is left for keys" in refused(pd.DataFrame({"site": ["a"]}), by="site")
    assert "no such column" in refused(pd.DataFrame({"ash": [1]}), by="site")


def test_the_way_out_for_counts_of_individuals_is_said_and_works(tmp_path: Path) -> None:
    """Without a word about cells, individuals are protected; whoever wants pairs must bound a cell."""
    path = tmp_path / "w.csv"
    path.write_text("site,oak,ash\na,40,0\nb,7,2\n")
    pairs, plain, each = (ss.Privacy(1.0, 1e-6, **how) for how in ({"unit": "pair"}, {}, {"unit": "individual"}))
    assert "individuals, and one of them is to be protected, pass unit='individual'" in refused(path, pairs, by="site")
    for privacy in (plain, each):
        found = ss.release(path, ss.Hill(0.5), privacy, wide=True, by="site", groups=["a", "b"])
        assert {one.release.unit for one in found} == {"individual"}


def test_zeros_are_refused_under_replace_with_the_reason(tmp_path: Path) -> None:
    replaced = ss.Privacy(1.0, 1e-6, max_value=9, relation="replace")
    for data in written(tmp_path, pd.DataFrame({"oak": [1, 2], "ash": [3, 0]})).values():
        if data != "-" if isinstance(data, str) else True:
            message = refused(data, replaced)
            assert "column ash is 0: under replace the number of pairs is public, and a 0 is not a pair" in message
            assert "add_remove" in message
    assert ss.release(pd.DataFrame({"oak": [1, 2], "ash": [3, 4]}), ss.Moment(0.5), replaced, wide=True)


def test_what_does_not_fit_a_wide_table_is_refused() -> None:
    frame = pd.DataFrame({"oak": [1]})
    assert "key cannot be used with wide=" in refused(frame, key="oak")
    assert "value cannot be used with wide=, got 'oak'" in refused(frame, value="oak")
    assert "one invalid cell would drop all pairs of its row" in refused(frame, on_bad="skip")
    assert "by must not be named 'column' or 'cell', got 'column': these names are reserved" in refused(
        pd.DataFrame({"column": ["a"], "oak": [1]}), by="column"
    )


def test_true_values_of_wide_tables_in_python() -> None:
    found = ss.exact(WIDE.drop(columns="who"), ss.Hill(1.0), by="site", wide=True)
    assert list(found) == list(ss.exact(LONG, ss.Hill(1.0), key="species", value="n", by="site"))


def test_tens_of_thousands_of_columns(tmp_path: Path) -> None:
    """As many as real amplicon tables have; the header alone has most of a million bytes."""
    names = [f"Bacteria;Phylum;Genus {i:05d}" for i in range(30_000)]
    cells = np.random.default_rng(3).integers(0, 3, (20, len(names)))
    path = tmp_path / "otu.tsv"
    path.write_text("\n".join("\t".join(map(str, row)) for row in [names, *cells.tolist()]) + "\n")
    (found,) = exact_values(path, ss.Hill(0.0), Reading(long_columns(), Input(wide=True)))
    assert found.keys == np.count_nonzero(cells.sum(axis=0))
    assert found.pairs == np.count_nonzero(cells)


def test_a_key_of_wide_json_is_counted_wherever_it_first_appears(tmp_path: Path) -> None:
    """In the last of many records, because DuckDB samples 20,480 of them; in the last file; and among hundreds of
    others, which it reads as one MAP."""
    late = [{"oak": 1, "elm": 0}] * 30_000 + [{"oak": 1, "elm": 5, "ash": 7}]
    files = [tmp_path / f"{i:02}.json" for i in range(5)]
    for i, path in enumerate(files):
        path.write_text(json.dumps([{"oak": 1}, {"oak": 1} | ({"ash": 7} if i == 4 else {})]))
    (tmp_path / "late.jsonl").write_text("\n".join(map(json.dumps, late)))
    (tmp_path / "late.json").write_text(json.dumps(late))
    for data in (tmp_path / "late.jsonl", tmp_path / "late.json", files):
        with pytest.raises(ss.DataError, match="row 1, column ash is empty or null"):
            ss.exact(data, ss.Hill(0.0), wide=True)
    (tmp_path / "late.jsonl").write_text("\n".join(json.dumps({"ash": 0} | row) for row in late))
    assert ss.exact(tmp_path / "late.jsonl", ss.Hill(0.0), wide=True).value == 3
    many = {f"Species {i}": i % 3 for i in range(900)}
    (tmp_path / "many.jsonl").write_text("\n".join([json.dumps(many)] * 9))
    assert ss.exact(tmp_path / "many.jsonl", ss.Hill(0.0), wide=True).value == 600
    assert ss.exact(tmp_path / "many.jsonl", ss.Hill(0.0), key="Species 7").value == 1
    (tmp_path / "long.jsonl").write_text("\n".join(json.dumps({"n": 1} if row == late[0] else row) for row in late))
    with pytest.raises(ss.DataError, match="row 1, column ash is empty or null"):
        ss.exact(tmp_path / "long.jsonl", ss.Hill(0.0), key="ash")


def test_the_command_line_reads_wide_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from stablesketch.cli.app import run

    path = tmp_path / "w.csv"
    WIDE.drop(columns="who").to_csv(path, index=False, sep=";")
    assert run(["exact", str(path), "--wide", "--by", "site", "--statistic", "hill", "--order", "1", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "read as CSV separated by semicolons" in err
    hill = exact_values(LONG, ss.Hill(1.0), Reading(checked_columns("species", "n", "site")))
    assert [row["value"] for row in json.loads(out)] == [one.values[0] for one in hill]
    private = ["--p", "0.5", "--epsilon", "2", "--delta", "1e-6"]
    assert run(["release", str(path), "--wide", "--by", "site", "--max-value", "9", *private, "--json"]) == 0
    assert len(json.loads(capsys.readouterr()[0])) == 4
    assert run(["release", str(path), "--wide", "--by", "site", "--clip", *private]) == 2
    assert "--wide needs --max-value" in capsys.readouterr()[1]


def test_exact_says_how_many_individuals_cells_count() -> None:
    frame = pd.DataFrame({"site": ["a", "a", "b"], "oak": [40, 2, 0], "ash": [0, 1, 3]})
    found = ss.exact(frame, ss.Hill(0.0), wide=True, by="site")
    assert [(one.total, one.pairs, one.keys) for one in found] == [(43, 3, 2), (3, 1, 1)]
    assert list(found.to_pandas()["individuals"]) == [43, 3]
    assert "individuals" not in ss.exact(frame, ss.Hill(0.0), key="site").columns()


def test_people_in_a_wide_table_are_said_to_have_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On screen, in the plan, the report, the registry entry, Python and the exact value."""
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text("site,who,fox,owl\n" + "".join(f"s,u{i % 50},{i % 3},{i % 5}\n" for i in range(400)))
    asked = ["wide.csv", "--wide", "--by", "site", "--person", "who"]
    private = ["--max-value", "5", "--epsilon", "1", "--delta", "1e-9", "--order", "1"]
    Path("sites.txt").write_text("s\n")
    command = ["release", *asked, *private, "--groups", "sites.txt"]
    assert command_line([*command, "--report", "r.html", "--registry", "r.yaml"]) == 0
    assert command_line([*command, "--dry-run"]) == 0
    assert command_line(["exact", *asked]) == 0
    said = "".join(capsys.readouterr())
    assert "all that they did (at most 1 cell is used, values up to 5)" in said
    assert "1 cell of each person is used, drawn at random." in said
    assert "their cells in other groups are left out" in said
    assert "cells of a person" in said
    read = ss.release(
        "wide.csv", ss.Hill(1), ss.Privacy(1, 1e-9, max_value=5), wide=True, by="site", groups=["s"], person="who"
    )
    exact = ss.exact("wide.csv", ss.Hill(1), wide=True, by="site", person="who")
    texts = [said, str(read), str(exact), Path("r.html").read_text(), Path("r.yaml").read_text()]
    for text in texts:
        assert "cell" in text
        assert not re.search(r"\brows? (of|is|are|used|in other)\b|other rows|many rows", text), text


def test_individuals_of_a_wide_table_are_not_called_rows(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("site,fox,owl\n" + "".join(f"s,{i % 3},{i % 5}\n" for i in range(400)))
    found = ss.release(path, ss.Hill(1), ss.Privacy(1, 1e-9, unit="individual"), wide=True, by="site", groups=["s"])
    found.report(tmp_path / "r.html", noun="species")
    said = (tmp_path / "r.html").read_text()
    assert "For s, the individuals are as varied as" in said
    assert "the rows" not in said
