"""The numbers of the README are those of the pages behind it, or follow from the law."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from stablesketch import Privacy, PrivacyCurve, StableLaw, __version__, paper, sensitivity

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows(text: str, columns: int) -> list[list[str]]:
    """The rows of tables with so many columns whose first cell is a number."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [cells for cells in lines if len(cells) == columns and re.fullmatch(r"[\d.]+", cells[0])]


ACCURACY = rows(README, 7)


def test_every_order_is_there() -> None:
    assert [row[0] for row in ACCURACY] == ["0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "1"]


@pytest.mark.parametrize("row", ACCURACY, ids=lambda row: f"p={row[0]}")
def test_the_accuracy_table(row: list[str]) -> None:
    p, at_50, at_500, at_5000, stored, epsilon, by_the_paper = row
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    (measured,) = [cells for cells in rows(page, 6) if cells[:2] == [p, "pitman"]]
    information = StableLaw(float(p)).fisher_information
    assert at_50 == f"{100 * float(measured[2]) / math.sqrt(50 * information):.1f}%"
    assert at_500 == f"{100 / math.sqrt(500 * information):.1f}%"
    assert at_5000 == f"{100 / math.sqrt(5_000 * information):.1f}%"
    page = (ROOT / "docs" / "wire-format.md").read_text(encoding="utf-8")
    (sizes,) = [cells for cells in rows(page, 6) if cells[0] == p]
    assert int(stored.replace(",", "")) == pytest.approx(50 + 500 * float(sizes[4]), abs=60)
    rho = sensitivity(float(p), Privacy(1.0, 1e-9, pairs=10**6, relation="replace"))
    assert epsilon == f"{PrivacyCurve(float(p), 500, rho).epsilon(1e-9):.3g}"
    assert by_the_paper == f"{float(f'{paper.epsilon(10**6, 2**20, 1, float(p), 500):.3g}'):,.0f}"


def test_entries_for_one_percent() -> None:
    (claimed,) = re.findall(r"1% at p = 0\.5 takes ([\d,]+) entries", README)
    assert int(claimed.replace(",", "")) == pytest.approx(1e4 / StableLaw(0.5).fisher_information, abs=50)


def test_the_version_is_the_same_everywhere() -> None:
    assert f"version = {{{__version__}}}" in README
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
