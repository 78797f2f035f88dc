"""The numbers of the README and of the table of default plans in docs/accuracy.md are what plans say."""

from __future__ import annotations

import importlib.metadata
import math
import re
from pathlib import Path

import pytest
from test_snippets import prose

import stablesketch as ss
from stablesketch import Distinct, Hill, Moment, Privacy, plan

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ACCURACY = ROOT / "docs" / "accuracy.md"


def rows(text: str, columns: int) -> list[list[str]]:
    """The rows of tables with so many columns whose first cell is a number."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [cells for cells in lines if len(cells) == columns and re.fullmatch(r"[\d.]+", cells[0])]


PLANS = rows(ACCURACY.read_text(encoding="utf-8"), 8)
ASKED = Privacy(epsilon=1.0, delta=1e-9)


def test_every_order_is_there() -> None:
    assert [row[0] for row in PLANS] == ["0.05", "0.1", "0.25", "0.5", "0.75", "0.9"]


@pytest.mark.parametrize("row", PLANS, ids=lambda row: f"p={row[0]}")
def test_the_accuracy_table(row: list[str]) -> None:
    p, *told = row
    usual = plan(Moment(float(p)), ASKED)
    exact = plan(Moment(float(p)), ASKED, mechanism="exact")
    assert told == [
        f"{usual.entries_per_key}",
        f"{usual.size:,}",
        f"{usual.bytes / 1024:.0f} KiB",
        f"{100 * usual.error:.2f}%",
        f"{100 * usual.worst_error:.1f}%",
        f"± {math.sqrt(2.0) * usual.noise:.2f}",
        f"± {exact.exact_error:.2f}",
    ]


def test_entries_for_a_tenth_of_a_percent() -> None:
    ((claimed, megabytes),) = re.findall(r"0\.1% at p = 0\.5 takes ([\d,]+) entries, ([\d.]+) MiB", prose(ACCURACY))
    found = plan(Moment(0.5), ASKED, error=0.001)
    assert (claimed, megabytes) == (f"{found.size:,}", f"{found.bytes / 2**20:.1f}")
    assert found.entries_per_key == 16


def test_the_error_by_the_share_of_the_most_common_key() -> None:
    usual = plan(Hill(1), ASKED)
    text = ACCURACY.read_text(encoding="utf-8")
    shares, errors = (
        re.findall(r"([\d.]+)%", line)
        for line in text.splitlines()
        if line.startswith(("| share of the most common key", "| error of the sketch |"))
    )
    assert usual.size == 312 * 64

    def error(squares: float) -> str:
        return f"{100 * math.hypot(usual.error, usual.worst_error * math.sqrt(squares * (1 - 1 / 312))):.3g}"

    assert errors == [error((float(share) / 100) ** 2) for share in shares]
    assert f"Five keys with 5% each give {error(5 * 0.05**2)}%." in prose(ACCURACY)


def test_the_plan_of_the_example() -> None:
    usual = plan(Hill(0.5), ASKED)
    assert f"the error: {100 * usual.error:.3g}% if every key is rare" in README


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (Hill(0.5), "order 0.5: {:.2f}% if every key is rare, {:.0f}% if one key holds everything."),
        (Hill(1), "Order 1: {:.2f}% and {:.0f}%."),
        (Hill(2), "Order 2: {0:.0f}%."),
        (Distinct(), "Distinct keys: {0:.0f}%."),
    ],
    ids=str,
)
def test_the_errors_of_default_plans(statistic: Hill | Distinct, said: str) -> None:
    usual = plan(statistic, ASKED)
    assert said.format(100 * usual.error, 100 * usual.worst_error) in README
    assert "{0" not in said or usual.error == usual.worst_error


def test_the_memory_of_the_default_plan() -> None:
    assert f"Memory: {plan(Hill(0.5), ASKED).bytes / 1024:.0f} KiB per number at order 0.5" in README


def test_the_readme_is_short() -> None:
    assert README.count("\n") <= 90


def test_the_version_is_the_same_everywhere() -> None:
    assert f"version = {{{ss.__version__}}}" in (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert f"\nversion: {ss.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert importlib.metadata.version("stablesketch") == ss.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = changes[changes.index("\n## [") :].splitlines()[1]
    released, developed, _ = ss.__version__.partition(".dev")
    assert newest == f"## [{released}], in preparation" if developed else newest.startswith(f"## [{released}] ")
