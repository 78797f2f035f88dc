"""docs/when-not.md against the code: the table is made again, and so are the numbers around it.

`python tests/docs/test_when_not_page.py` writes the table into the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import stablesketch as ss

PAGE = Path(__file__).parents[2] / "docs" / "when-not.md"
TABLE = re.compile(r"(?<=test_when_not_page\.py -->\n).*?(?=\n\n)", re.DOTALL)


def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def made() -> str:
    rows = [
        "| pairs | sketch of 203: error | sketch of 2,000: error | exact table: error | its size, keys all different |",
        "|---|---|---|---|---|",
    ]
    asked, half = ss.Privacy(1.0, 1e-9), ss.Moment(0.5)
    for pairs in (100, 10**3, 10**4, 10**5, 10**6, 10**9):
        plans = [ss.plan(half, asked, size=size, expected=pairs**0.5) for size in (203, 2_000)]
        plans += [ss.plan(half, asked, mechanism="exact", expected=pairs**0.5)]
        errors = " | ".join(f"{100 * plan.error:.2g}%" for plan in plans)
        rows.append(f"| {pairs:,} | {errors} | {pairs / 100:,.0f} KB |")
    return "\n".join(rows)


def test_the_table() -> None:
    (found,) = TABLE.findall(text())
    assert found == made()


def test_what_a_key_takes_in_the_exact_table() -> None:
    exact = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), mechanism="exact").open()
    exact.update(np.arange(20_000))
    assert "about 10 bytes a distinct key" in text()
    assert len(exact.to_bytes()) / 20_000 == pytest.approx(10, abs=0.5)


def test_entries_for_one_percent() -> None:
    claimed = re.findall(r"1% at p = 0\.5 takes ([\d,]+) entries, at p = 0\.25 ([\d,]+)", text())[0]
    asked = ss.Privacy(1.0, 1e-9)
    sizes = [ss.plan(ss.Moment(p), asked, error=0.01).size for p in (0.5, 0.25)]
    assert [int(one.replace(",", "")) for one in claimed] == sizes


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: made(), text()), encoding="utf-8")
