"""docs/privacy.md and docs/known-limits.md against the code: the plan, the accounting and the numbers are made again.

`python tests/docs/test_privacy_page.py` writes the two generated blocks into the page.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.plan.sizing import relative_deviation
from stablesketch.privacy.precision import coarse_enough_step, grid_step, is_covered, rounding_delta

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "privacy.md"
LIMITS = (ROOT / "docs" / "known-limits.md").read_text(encoding="utf-8")
sys.path.insert(0, str(ROOT / "benchmarks"))

BLOCKS = {
    "the plan": re.compile(r"(?<=the plan -->\n```text\n).*?(?=```)", re.DOTALL),
    "the accounting": re.compile(r"(?<=the accounting -->\n).*?(?=\n\n```sh)", re.DOTALL),
}


def made(name: str) -> str:
    if name == "the plan":
        privacy = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=10_000, relation="replace")
        return f"{ss.plan(ss.Moment(0.5), privacy, size=500, mechanism='bare')}\n"
    from privacy_table import rows, table

    return table(rows(1e-6), markdown=True)


@pytest.mark.parametrize("name", BLOCKS)
def test_the_blocks_are_what_the_code_says(name: str) -> None:
    (found,) = BLOCKS[name].findall(PAGE.read_text(encoding="utf-8"))
    assert found == made(name)


def test_the_row_that_the_issue_was_about() -> None:
    """n = 10^6, M = 1, p = 0.5, size 50, δ = 1e-6: ε of 0.02 where the paper's accounting gives 69.3."""
    (row,) = [line for line in made("the accounting").splitlines() if line.startswith("| 1000000, 1, 0.5, 50 ")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "69.31"
    assert 0.0200 <= float(cells[4]) <= 0.0206


def test_the_cost_of_precision_on_the_page() -> None:
    (claimed,) = re.findall(r"At 50 entries and ε = 1 the cost is ([\d.e-]+)\.", PAGE.read_text(encoding="utf-8"))
    assert float(claimed) == pytest.approx(rounding_delta(1.0, grid_step(relative_deviation(0.5, 50))), rel=0.04)


@pytest.mark.parametrize(
    ("size", "epsilon", "claimed"),
    [(50, 1.0, 2.3e-12), (50, 5.0, 9.1e-11), (10_000, 1.0, 3.6e-11), (10_000, 5.0, 1.4e-9)],
)
def test_the_least_delta_of_the_limits(size: int, epsilon: float, claimed: float) -> None:
    """Three quarters of δ may go into precision, on the coarsest grid. The page rounds to two digits."""
    assert f"{claimed:g}".replace("e-0", "e-") in LIMITS
    least = rounding_delta(epsilon, coarse_enough_step(relative_deviation(0.5, size), epsilon, 0.0)) / 0.75
    assert least == pytest.approx(claimed, rel=0.05)


@pytest.mark.parametrize(("delta", "largest"), [(1e-9, 8.7), (1e-6, 15.7)])
def test_the_largest_epsilon_of_the_limits(delta: float, largest: float) -> None:
    assert (
        ss.plan(
            ss.Moment(0.5), ss.Privacy(largest, delta, pairs=10**6, relation="replace"), size=5, mechanism="bare"
        ).epsilon
        <= largest
    )
    with pytest.raises(ss.PlanInfeasible):
        ss.plan(
            ss.Moment(0.5), ss.Privacy(largest + 0.1, delta, pairs=10**6, relation="replace"), size=5, mechanism="bare"
        )


@pytest.mark.parametrize(("entries", "claimed"), [(50, "1e-18"), (10_000, "4e-14")])
def test_the_birthday_bound_of_the_limits(entries: int, claimed: str) -> None:
    blocks = 1e9 * entries / 2
    assert float(claimed) == pytest.approx(blocks**2 / 2.0**129, rel=0.15)
    assert claimed in LIMITS


def test_the_longest_stream_of_the_limits() -> None:
    assert is_covered(2**40, 2.0**40)
    assert is_covered(2**35, 2.0**35 * 1e3)
    assert is_covered(2**18, 2.0**1000)
    assert "2^81" in LIMITS


def test_the_best_error_of_the_limits() -> None:
    assert [f"{100 * relative_deviation(p, 10_000):.1f}" for p in (0.05, 1.0)] == ["1.0", "1.4"]


def test_collisions() -> None:
    assert 1.0 / -math.expm1(-(1e18 / 2.0) / 2.0**64) == pytest.approx(37, abs=1)


def write() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, pattern in BLOCKS.items():
        text = pattern.sub(lambda _, name=name: made(name), text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
