"""docs/when-not.md against the code: the table is made again, and so are the numbers around it.

`python tests/docs/test_when_not_page.py` writes the table into the page.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from test_snippets import prose

import stablesketch as ss
from stablesketch.plan.mechanism import mechanism_of

PAGE = Path(__file__).parents[2] / "docs" / "when-not.md"
TABLE = re.compile(r"(?<=test_when_not_page\.py -->\n).*?(?=\n\n)", re.DOTALL)


def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def made() -> str:
    rows = [
        "| rows, all keys different | sketch planned for 1% | default sketch | exact mechanism | memory of its keys |",
        "|---|---|---|---|---|",
    ]
    asked, half = ss.Privacy(1.0, 1e-9), ss.Hill(0.5)
    plans = [ss.plan(half, asked, error=0.01), ss.plan(half, asked), ss.plan(half, asked, mechanism="exact")]
    for length in (100, 10**3, 10**4, 10**5, 10**6, 10**9):
        errors = " | ".join(f"{100 * error_at(plan, length):.2g}%" for plan in plans)
        rows.append(f"| {length:,} | {errors} | {10 * length / 1024:,.0f} KiB |")
    return "\n".join(rows)


def error_at(plan: ss.Plan, length: int) -> float:
    """Of sketch and noise together, in a stream of this many rows, each with its own key."""
    way = mechanism_of(plan)
    return math.hypot(0.0 if way.exact else plan.error, way.noise_at(plan, length, length))


def test_the_table() -> None:
    (found,) = TABLE.findall(text())
    assert found == made()


def test_what_a_key_takes_in_the_exact_table() -> None:
    exact = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), mechanism="exact").open()
    exact.update(np.arange(20_000))
    assert "about 10 bytes per distinct key" in prose(PAGE)
    assert len(exact.to_bytes()) / 20_000 == pytest.approx(10, abs=0.5)


def test_what_sketches_for_one_percent_take() -> None:
    """A Hill number of order 0.5 errs by twice as much as F_0.5, so its sketch has four times the entries."""
    sentence = r"planned for 1% takes about (\d+) KiB \(one for 1% of F_0\.5 about (\d+) KiB\)"
    (claimed,) = re.findall(sentence, prose(PAGE))
    for statistic, shown in zip((ss.Hill(0.5), ss.Moment(0.5)), claimed, strict=True):
        plan = ss.plan(statistic, ss.Privacy(1.0, 1e-9), error=0.01)
        assert plan.bytes / 1024 == pytest.approx(float(shown), abs=0.5)


def test_entries_for_an_error() -> None:
    (claimed,) = re.findall(
        r"error of 1% takes ([\d,]+) entries and one of 0\.1% takes ([\d,]+); each key still updates 16", prose(PAGE)
    )
    plans = [ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), error=error) for error in (0.01, 0.001)]
    assert [int(one.replace(",", "")) for one in claimed] == [plan.size for plan in plans]
    assert [plan.entries_per_key for plan in plans] == [16, 16]


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: made(), text()), encoding="utf-8")
