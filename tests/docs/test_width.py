"""The source of the documentation is at most 100 columns wide."""

from __future__ import annotations

import re

import pytest
from test_snippets import NAMES, ROOT

MOST = 100
_OUTPUT = re.compile(r"^```(?:text|bibtex)\n.*?^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_short(name: str) -> None:
    """Except what cannot be broken: rows of tables, what a command prints, pictures, and a link without a space."""
    text = _OUTPUT.sub(lambda match: "\n" * match[0].count("\n"), (ROOT / name).read_text(encoding="utf-8"))
    wide = [f"{name}:{at}" for at, line in enumerate(text.splitlines(), 1) if len(line) > MOST and _breakable(line)]
    assert wide == []


def _breakable(line: str) -> bool:
    return not line.lstrip().startswith(("|", "![")) and " " in line.strip()
