"""The evidence that docs/evaluation.md and docs/attack-model.md name is there, and every mechanism has its status."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from stablesketch.privacy.advice import EXCEEDED, suspicion
from stablesketch.statistic.registry import STATISTICS
from stablesketch.text.spoken import at_most

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("evaluation", "attack-model")}


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_as_evidence_exists(page: str) -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", PAGES[page])
    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_audits_of_the_status_table_exist() -> None:
    audits = {path.stem.removeprefix("test_audit_") for path in (ROOT / "tests" / "audit").glob("test_audit_*.py")}
    rows = [line for line in PAGES["evaluation"].splitlines() if line.count("|") == 6]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[5])}
    assert {"noisy", "buckets", "statistics"} <= named - {"max_value"} <= audits


def test_the_status_table_has_every_statistic() -> None:
    """By a word of its name; the plain moments are those of F_p."""
    _, _, status = PAGES["evaluation"].partition("## Status of every mechanism")
    words = {
        "generalised_entropy": "generalised entropy",
        "moment": "F_p",
        "shannon": "Shannon",
        "renyi": "Rényi",
        "hhi": "HHI",
    }
    missing = [name for name in STATISTICS if words.get(name, name).lower() not in status.lower()]
    assert missing == []


def test_the_factors() -> None:
    page = " ".join(PAGES["evaluation"].split())
    odds = at_most(1.1 * math.e, 1)
    half, hundredth = suspicion(1.0, 1e-9), at_most(100 * 1.1 * math.e / (99 + 1.1 * math.e), 1)
    assert f"by a factor of at most {odds}, except with a probability of at most {EXCEEDED} δ" in page
    assert f"a suspicion of 50% becomes at most {half}, one of 1% at most {hundredth}%" in page
    assert f"δ about {math.expm1(4) / math.expm1(1):.0f} times as large" in page
