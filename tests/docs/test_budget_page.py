"""docs/how-to/budget.md against the ledger: what twelve tables of people cost somebody who is in all of them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Literal

import pytest
from test_snippets import prose

import stablesketch as ss

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "budget.md"
ROWS = re.findall(
    r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_table_is_found() -> None:
    assert [row[0] for row in ROWS] == ["0.3", "0.5", "1"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"ε={row[0]}")
def test_twelve_tables(row: tuple[str, str, str, str], tmp_path: Path) -> None:
    """Rounded up: a price must not be stated below the truth."""
    epsilon, added, *composed = row
    assert float(added) == pytest.approx(12 * float(epsilon))
    privacy = ss.Privacy(float(epsilon), 1e-9, pairs_per_person=10)
    ways: tuple[Literal["sketch", "exact"], ...] = ("sketch", "exact")
    for mechanism, claimed in zip(ways, composed, strict=True):
        ledger = ss.Ledger(tmp_path / f"{mechanism}.db", epsilon=12.0, delta=1e-6)
        after = ledger.preview(ss.plan(ss.Hill(1), privacy, mechanism=mechanism), times=12).after
        places = 2 - math.floor(math.log10(after))
        assert float(claimed) == math.ceil(after * 10**places) / 10**places


def test_a_year_of_tables(tmp_path: Path) -> None:
    """Twelve tables of people: the ε that fits, and what ε = 0.5 each would cost, rounded up."""
    ledger = ss.Ledger(tmp_path / "people.db", epsilon=2.0, delta=1e-7)
    table = ss.plan(ss.Hill(1), ss.Privacy(0.5, 1e-9, pairs_per_person=10), mechanism="exact")
    assert "`--epsilon 0.183 --ledger people.db`" in prose(PAGE)
    assert ledger.preview(table.again(epsilon=0.183), times=12).fits
    assert not ledger.preview(table.again(epsilon=0.185), times=12).fits
    engineers = prose(PAGE.parents[1] / "for" / "data-engineers.md")
    assert f"ε = {math.ceil(100 * ledger.preview(table, times=12).after) / 100:g} at δ = 1e-7" in engineers
    assert "give each table ε = 0.183" in engineers
