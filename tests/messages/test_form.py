"""The form of what errors say: "size must be positive, got -1. Pass 200, for example."."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import stablesketch

SOURCE = Path(stablesketch.__file__).parent
KINDS = {"ArgumentError", "ArgumentTypeError"}

# Words of an older style, each with the one to use.
OLD = {
    r"\bthere is such a\b|\bexists already\b": "already exists",
    r"\bnothing writes\b": "invalid ..., or: corrupt data",
    r"\bfewer than no\b": "negative",
    r"\bfield does not end\b": "unterminated quoted field",
    r"\bit is positive\b": "must be positive",
    r"\bmust lie between\b": "must be between",
    r"\bnumber from \d+ up\b": "a number of ... or more",
    r"\bstands there twice\b": "must not repeat a name",
    r"\bPass what [\w.()]+ gave\b": "Pass the result of ...",
    r"\bone that is free\b": "any free one",
    r"\bthat are no pairs\b": "invalid rows",
}


def calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def texts() -> Iterator[tuple[str, str]]:
    """All texts of the package that may be shown, each with its place; docstrings are not among them."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


def test_the_argument_is_the_subject_of_what_is_said() -> None:
    """Where it is written on the spot: a call with a name for it has the text a few lines above."""
    written = [(place, ast.unparse(call.args[2])) for place, call in calls() if len(call.args) > 2]
    assert len(written) > 300
    form = re.compile(r"""f?["'](must|cannot|needs|can be)\b|must$|f'\{must\}""")
    assert [each for each in written if not form.match(each[1])] == []


@pytest.mark.parametrize("pattern", OLD)
def test_words_of_the_old_style_are_gone(pattern: str) -> None:
    found = re.compile(pattern)
    assert [(place, text[:80]) for place, text in texts() if found.search(text)] == [], f"say: {OLD[pattern]}"
