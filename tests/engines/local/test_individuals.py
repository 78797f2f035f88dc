"""Tables of counts that protect individuals: the stream has a row for each of them, however they are counted."""

from __future__ import annotations

import functools
import io
import itertools
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.engines.local.collect import collected_shard
from stablesketch.engines.local.fold import Fold, Unfolded
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns, checked_columns
from stablesketch.reading.found import Input
from stablesketch.reading.wide import long_columns

PRIVACY = ss.Privacy(1.0, 1e-6, unit="individual")
SECRET = bytes(range(32))
COUNTS = np.random.default_rng(8).geometric(0.2, (60, 12)) * np.random.default_rng(9).integers(0, 2, (60, 12))
WIDE = pd.DataFrame(COUNTS, columns=[f"sp. {i}" for i in range(12)])
SITES = WIDE.assign(site=[f"s{i % 3}" for i in range(60)])
LONG = SITES.melt("site", var_name="species", value_name="n")
EACH = LONG.loc[LONG.index.repeat(LONG["n"])].drop(columns="n")  # a row for every individual


def state(data: Any, plan: ss.Plan, columns: Columns, how: Input | None = None) -> tuple[bytes, int]:
    found = collected_shard(data, plan, ss.Secret.from_bytes(SECRET), "s", Reading(columns, how or Input()))
    return found.to_bytes(), found.pairs


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize(
    "statistic", [ss.Hill(0.5), ss.Hill(1.0), ss.Hill(2.0), ss.Distinct(), ss.Shannon(), ss.Profile()], ids=str
)
def test_the_state_is_that_of_a_row_for_each(statistic: Any, mechanism: Any) -> None:
    plan = ss.plan(statistic, PRIVACY, mechanism=mechanism, **({"memory": "16K"} if mechanism == "sketch" else {}))
    expected = state(EACH, plan, checked_columns("species"))
    assert expected[1] == COUNTS.sum()
    assert state(WIDE, plan, long_columns(), Input(wide=True)) == expected
    assert state(LONG, plan, checked_columns("species", "n")) == expected


def test_every_form_and_every_group(tmp_path: Path) -> None:
    plan = ss.plan(ss.Hill(0.5), PRIVACY, size=60)
    expected = state(EACH, plan, checked_columns("species"))
    LONG.to_csv(tmp_path / "long.csv", index=False)
    LONG.to_parquet(tmp_path / "long.parquet")
    pipe = Input(stdin=io.BytesIO((tmp_path / "long.csv").read_bytes()))
    for data, how in ((tmp_path / "long.csv", None), (tmp_path / "long.parquet", None), ("-", pipe)):
        assert state(data, plan, checked_columns("species", "n"), how) == expected
    asked: dict[str, Any] = {"key": "species", "by": "site", "shard": "s"}
    tables = [
        ss.collect(data, plan, value=value, secret=ss.Secret.from_bytes(SECRET), **asked)
        for data, value in ((LONG, "n"), (EACH, None))
    ]
    assert tables[0].equals(tables[1])


def test_neighbours_by_brute_force() -> None:
    """Every table of two species at two sites with up to two each, and one individual less: as streams they differ by
    one pair of value 1, of that species, and by nothing else."""
    plan = ss.plan(ss.Moment(0.5), PRIVACY, mechanism="exact")

    @functools.cache
    def stream(cells: tuple[int, ...]) -> tuple[bytes, int]:
        return state(pa.table({"oak": cells[:2], "ash": cells[2:]}), plan, long_columns(), Input(wide=True))

    @functools.cache
    def rows(oaks: int, ashes: int) -> tuple[bytes, int]:
        keys = pa.array(["oak"] * oaks + ["ash"] * ashes, pa.string())
        return state(pa.table({"k": keys}), plan, checked_columns("k"))

    for cells in itertools.product(range(3), repeat=4):
        assert stream(cells) == rows(sum(cells[:2]), sum(cells[2:]))
        for i, count in enumerate(cells):
            if count:
                fewer = (*cells[:i], count - 1, *cells[i + 1 :])
                assert stream(cells)[1] - stream(fewer)[1] == 1
                assert stream(fewer) == rows(sum(cells[:2]) - (i < 2), sum(cells[2:]) - (i >= 2))


@pytest.mark.parametrize("groups", [None, ["s0", "s1", "s2"]])
def test_releases_of_groups_are_those_of_a_row_for_each(groups: list[str] | None) -> None:
    """At ε = 1e6, where noise is far below 1e-3."""
    privacy = ss.Privacy(1e6, 1e-6, unit="individual")
    asked: dict[str, Any] = {"by": "site", "groups": groups, "mechanism": "exact"}
    found = ss.release(SITES, ss.Hill(1.0), privacy, wide=True, **asked)
    expected = ss.release(EACH, ss.Hill(1.0), privacy, key="species", **asked)
    assert [one.group for one in found.releases] == [("s0",), ("s1",), ("s2",)]
    for own, other in zip(found.releases, expected.releases, strict=True):
        assert own.release.value == pytest.approx(other.release.value, rel=1e-3)
    assert "any one individual" in str(found)


def test_what_does_not_fit_is_refused() -> None:
    for wrong in ({"max_value": 9}, {"relation": "replace"}):
        with pytest.raises(ss.ArgumentError, match="individuals are added or removed, and each counts 1"):
            ss.Privacy(1.0, 1e-6, unit="individual", **wrong)
    for more, said in (
        ({"clip": True}, "a value is then a number of pairs"),
        ({"auto_max_value": ss.AutoMaxValue()}, "a value is then a number of pairs"),
        ({"person": "site"}, "person cannot be used with unit="),
    ):
        with pytest.raises(ss.ArgumentError, match=said):
            ss.release(SITES, ss.Hill(0.5), PRIVACY, wide=True, **more)
    with pytest.raises(ss.DataError, match=r"column ash is (negative|not a whole number)"):
        ss.release(pa.table({"oak": [1], "ash": [-1]}), ss.Hill(0.5), PRIVACY, wide=True)


def test_a_ledger_does_not_add_up_individuals_and_pairs(tmp_path: Path) -> None:
    """ε for one individual of a cell says nothing about the whole cell."""
    ledger = ss.Ledger(tmp_path / "l.db", epsilon=9.0, delta=1e-3)
    ss.release(WIDE, ss.Hill(0.5), PRIVACY, wide=True, ledger=ledger)
    ss.release(WIDE, ss.Hill(0.5), PRIVACY, wide=True, ledger=ledger)
    assert ledger.relation == "add_remove of individuals"
    with pytest.raises(ss.UnitMismatch):
        ss.release(WIDE, ss.Hill(0.5), ss.Privacy(1.0, 1e-6, max_value=99), wide=True, ledger=ledger)
    plain = ss.Ledger(tmp_path / "p.db", epsilon=9.0, delta=1e-3)
    for _ in range(2):
        ss.release(EACH, ss.Hill(0.5), ss.Privacy(1.0, 1e-6), key="species", ledger=plain)
    assert ledger.spent() == plain.spent()
    ledger.verify()
    assert ss.Ledger(tmp_path / "l.db", relation="add_remove of individuals").spent() == plain.spent()


def test_the_command_line_protects_individuals_unless_a_cell_is_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    SITES.to_csv("species.csv", index=False)
    asked = ["release", "species.csv", "--wide", "--by", "site", "--epsilon", "1", "--delta", "1e-6"]
    assert run(asked) == 0
    out, err = capsys.readouterr()
    assert "adding or removing any one individual" in out
    assert "a cell counts individuals, and one individual is protected" in err
    Path("sites.txt").write_text("s0\ns1\ns2\n")
    assert run([*asked, "--max-value", "99", "--groups", "sites.txt"]) == 0
    out, err = capsys.readouterr()
    assert "adding or removing any one pair, values up to 99" in out
    assert "individual" not in err
    assert run([*asked, "--report", "r.html", "--json"]) == 0
    assert json.loads(capsys.readouterr()[0])
    page = Path("r.html").read_text()
    assert "With or without any one individual" in page


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("statistic", [ss.Moment(0.5), ss.Distinct(), ss.Shannon()], ids=str)
@pytest.mark.parametrize("by", [None, "site"])
def test_more_than_can_be_counted_is_refused_and_not_told(statistic: Any, mechanism: Any, by: str | None) -> None:
    """1,030 cells of 2^53 are more than 2^63: the sum must not wrap, and is data."""
    cells = {"species": [f"sp. {i}" for i in range(1_030)], "n": [2**53] * 1_030, "site": ["s"] * 1_030}
    groups = {} if by is None else {"by": by, "groups": ["s"]}
    with pytest.raises(ss.DataError, match="2\\^63 individuals or more") as refused:
        ss.release(pa.table(cells), statistic, PRIVACY, key="species", value="n", mechanism=mechanism, **groups)
    assert not any(len(digits) > 6 for digits in re.findall(r"\d+", str(refused.value)))


def test_sums_of_individuals_are_exact() -> None:
    values = np.random.default_rng(1).integers(1, 2**53, 500)
    for codes in (None, np.arange(500, dtype=np.int32) % 7):
        for make in (partial(Fold, grouped=codes is not None), Unfolded):
            sent: dict[int, int] = {}
            fold: Any = make(
                lambda code, _, __, pairs, sent=sent: sent.update({code: sent.get(code, 0) + pairs}), individuals=True
            )
            fold.add(np.arange(500, dtype=np.uint64), values, codes)
            fold.finish()
            own = np.zeros(500, np.int32) if codes is None else codes
            assert sent == {int(c): sum(values[own == c].tolist()) for c in np.unique(own)}


def test_a_release_says_that_individuals_are_protected() -> None:
    found = ss.release(LONG, ss.Distinct(), PRIVACY, key="species", value="n")
    assert json.loads(found.to_json())["unit"] == "individual"
    table = ss.release(LONG, ss.Distinct(), PRIVACY, key="species", value="n", by="site", groups=["s0", "s1"])
    assert {one.release.unit for one in table.releases} == {"individual"}
