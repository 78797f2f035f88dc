"""The snippets of docs/keys.md run, and its numbers are what they claim to be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"


def test_snippets_run() -> None:
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), {})


@pytest.mark.parametrize(("keys", "odds"), [(10**7, "1 in 370,000"), (10**9, "1 in 37")])
def test_odds_of_a_collision(keys: int, odds: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert odds in page
    claimed = int(odds.removeprefix("1 in ").replace(",", ""))
    assert claimed == pytest.approx(2**64 / (keys * (keys - 1) / 2), rel=0.01)
