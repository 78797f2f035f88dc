"""docs/privacy.md, docs/bare.md and docs/known-limits.md against the code: plans, tables and numbers are made again.

`python tests/docs/test_privacy_page.py` writes the generated blocks into the pages.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import pytest
from test_snippets import prose

import stablesketch as ss
from stablesketch.mechanism.bare.floor import relative_deviation
from stablesketch.privacy.advice import suspicion
from stablesketch.privacy.precision import coarse_enough_step, grid_step, is_covered, rounding_delta

ROOT = Path(__file__).parents[2]
PRIVACY, BARE = ROOT / "docs" / "privacy.md", ROOT / "docs" / "bare.md"
LIMITS = prose(ROOT / "docs" / "known-limits.md")
sys.path.insert(0, str(ROOT / "benchmarks"))

ORDERS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
ASKED = ss.Privacy(epsilon=1.0, delta=1e-9)
PAGES = {
    "the plan": PRIVACY,
    "the noise": PRIVACY,
    "the errors": PRIVACY,
    "the bare plan": BARE,
    "the accounting": BARE,
}


def block(name: str) -> re.Pattern[str]:
    """A text block, or a table, after the comment that names it."""
    start, end = (r" -->\n```text\n", r"```") if name.endswith("plan") else (r" -->\n", r"\n\n")
    return re.compile(rf"(?<={name}{start}).*?(?={end})", re.DOTALL)


def made(name: str) -> str:
    if name == "the plan":
        return f"{ss.plan(ss.Moment(0.5), ASKED)}\n"
    if name == "the bare plan":
        privacy = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=10_000, relation="replace")
        return f"{ss.plan(ss.Moment(0.5), privacy, size=500, mechanism='bare')}\n"
    if name == "the noise":
        return noise_table()
    if name == "the errors":
        return error_table()
    from privacy_table import rows, table

    return table(rows(1e-6), markdown=True)


def noise_table() -> str:
    sizes = (8, 16, 32, 64, 200, 1_250, 5_000)
    lines = [f"| p | {sizes[0]} entries | {' | '.join(f'{size:,}' for size in sizes[1:])} |", "|---" * 8 + "|"]
    for p in ORDERS:
        noises = [f"{ss.plan(ss.Moment(p), ASKED, size=size).noise:.2f}" for size in sizes]
        lines.append(f"| {p:g} | {' | '.join(noises)} |")
    return "\n".join(lines)


def error_table() -> str:
    values = (10, 30, 100, 1_000)
    lines = [
        "| p | entries in total, per key | error of the sketch | noise | "
        + " | ".join(f"F = {value:,}" for value in values)
        + " |",
        "|---" * 8 + "|",
    ]
    for p in ORDERS:
        usual = ss.plan(ss.Moment(p), ASKED)
        size, per_key = usual.size, usual.entries_per_key
        plans = [ss.plan(ss.Moment(p), ASKED, size=size, entries_per_key=per_key, expected=value) for value in values]
        errors = " | ".join(f"{100 * plan.error:.2g}%" for plan in plans)
        noise = math.sqrt(2.0) * usual.noise
        lines.append(f"| {p:g} | {size:,}, {per_key} | {100 * usual.error:.2f}% | ± {noise:.2f} | {errors} |")
    return "\n".join(lines)


@pytest.mark.parametrize("name", PAGES)
def test_the_blocks_are_what_the_code_says(name: str) -> None:
    (found,) = block(name).findall(PAGES[name].read_text(encoding="utf-8"))
    assert found == made(name)


def test_the_two_parts_of_the_error_on_the_page() -> None:
    plan = ss.plan(ss.Moment(0.5), ASKED)
    assert f"{100 * plan.error:.3g}% of F_0.5, and ± {math.sqrt(2.0) * plan.noise:.3g}" in prose(PRIVACY)


def test_what_a_suspicion_becomes() -> None:
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+%) \| ([\d.]+%) \|$", PRIVACY.read_text(encoding="utf-8"), re.MULTILINE)
    assert [epsilon for epsilon, _, _ in rows] == ["0.1", "0.5", "1", "2", "5", "12"]
    for epsilon, half, hundredth in rows:
        odds = 1.1 * math.exp(float(epsilon)) / 99.0
        assert half == suspicion(float(epsilon), 1e-9)
        assert hundredth == f"{math.ceil(1000.0 * odds / (1.0 + odds)) / 10:g}%"


def test_the_row_that_the_issue_was_about() -> None:
    """n = 10^6, M = 1, p = 0.5, size 50, δ = 1e-6: ε of 0.02 where the paper's accounting gives 69.3."""
    (row,) = [line for line in made("the accounting").splitlines() if line.startswith("| 1000000, 1, 0.5, 50 ")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "69.31"
    assert 0.0200 <= float(cells[4]) <= 0.0206


def test_the_cost_of_precision_on_the_page() -> None:
    (claimed,) = re.findall(r"At 50 entries and ε = 1 the cost is ([\d.e-]+)\.", prose(BARE))
    assert float(claimed) == pytest.approx(rounding_delta(1.0, grid_step(relative_deviation(0.5, 50))), rel=0.04)


@pytest.mark.parametrize(
    ("size", "epsilon", "claimed"),
    [(50, 1.0, 2.3e-12), (50, 5.0, 9.1e-11), (10_000, 1.0, 3.6e-11), (10_000, 5.0, 1.4e-9)],
)
def test_the_least_delta_of_the_limits(size: int, epsilon: float, claimed: float) -> None:
    """Three quarters of δ may go into precision, on the coarsest grid. The page rounds to two digits."""
    assert f"{claimed:g}".replace("e-0", "e-") in prose(BARE)
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
    assert "2^81" in prose(BARE)


def test_the_best_error_of_the_limits() -> None:
    assert [f"{100 * relative_deviation(p, 10_000):.1f}" for p in (0.05, 1.0)] == ["1.0", "1.4"]


def test_the_noise_of_orders_above_one_on_the_page_of_limits() -> None:
    noises = [math.ceil(100 * ss.plan(ss.Moment(p), ASKED, size=200).noise) / 100 for p in (2.0, 1.5, 1.25, 1.05)]
    said = "b/Δ is {:.2f} at order 2, {:.2f} at 1.5, {:.2f} at 1.25 and {:.2f} at 1.05".format(*noises)
    assert said in LIMITS


def test_collisions() -> None:
    assert 1.0 / -math.expm1(-(1e18 / 2.0) / 2.0**64) == pytest.approx(37, abs=1)


def write() -> None:
    for name, page in PAGES.items():
        text = page.read_text(encoding="utf-8")
        page.write_text(block(name).sub(lambda _, name=name: made(name), text), encoding="utf-8")


if __name__ == "__main__":
    write()
