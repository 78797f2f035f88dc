"""The source of the documentation is at most 100 columns wide, and the site reads its lists as the repository does."""

from __future__ import annotations

import re

import pytest
from test_snippets import NAMES, ROOT

MOST = 100
_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_OUTPUT = re.compile(r"^```(?:text|bibtex)\n.*?^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("docs/site/")])
def test_lines_are_short(name: str) -> None:
    """Except what cannot be broken: rows of tables, output of commands, pictures, links; the pages of the site."""
    text = _OUTPUT.sub(lambda match: "\n" * match[0].count("\n"), (ROOT / name).read_text(encoding="utf-8"))
    wide = [f"{name}:{at}" for at, line in enumerate(text.splitlines(), 1) if len(line) > MOST and _breakable(line)]
    assert wide == []


def _breakable(line: str) -> bool:
    return not line.lstrip().startswith(("|", "![")) and " " in line.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_further_paragraph_of_an_item_is_indented_by_four(name: str) -> None:
    """Two or three spaces are enough for GitHub; on the site they would end the list. A blank line follows it."""
    text = _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), (ROOT / name).read_text(encoding="utf-8"))
    ended = re.findall(r"\n\n {1,3}[^ ].*", text)
    joined = re.findall(r"\n\n(?: {4}.*\n)+(?:- |\d+\. ).*", text)
    assert [*ended, *joined] == []
