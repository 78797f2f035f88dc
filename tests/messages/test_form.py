"""The form of what errors say: "size must be positive, got -1. Pass 200, for example."."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import stablesketch
from stablesketch.cli.in_options import OPTIONS

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
    r"\bthat are no pairs\b|\brow is no pair\b": "invalid rows",
    r"\bis needed:": "must be given",
    r"\bthere is no such column\b": "no such column",
    r"\bdo not give that\b": "do not support",
    r"\bin effect\b": "effective",
    r"\bto who\b|\bfor who\b": "to the caller, for readers, ...",
    r"\d ?[kK]B\b": "KiB",
    r"\bbe told from\b": "be distinguished from",
    r"\b\w being the\b": "where s is the ...",
    r"\btaken off\b": "subtracted",
    r"\bweighed by\b": "weighted by",
    r"\bpublished as (it is|they are)\b": "published unchanged",
    r"\b[Ww]hoever\b": "anyone who",
    r"\banew\b": "again, separately",
    r"\bmeanwhile\b": "in the meantime",
    r"\bUsual are\b": "Usual values are",
    r"\bthere can be$|\bthere can be[,;]": "possible",
    r"\bso (many|much) (pairs|keys|rows|entries|numbers)\b": "this many",
}

# The same of docstrings, which `help` and the reference pages show, and of comments.
OLD_IN_PROSE = {
    r"^As `": "Like `...`",
    r"\bhead of this (file|page)\b": "top of this file",
    r"\bhands out\b": "returns",
    r"\bbut for an? (probability|chance)\b": "except with probability",
    r"\banew\b": "again, separately",
    r"\b(of|in|at most|up to|at least|by) so (many|much)\b": "of this many",
    r"\bsome (dozen|ten|twenty|hundred)\b": "about a dozen",
    r"\bnobody (said|says)\b": "not given",
    r"(?<!here\s)\b(is|that are) no (pair|key|row|number|JSON)s?\b": "is not a ..., invalid",
    r"\bso often\b": "this often",
    r"\bthat (are|is) alike\b": "identical",
    r"\btold from\b": "distinguished from, lost in the noise",
    r"\bwithout a word\b": "silently",
    r"\bof before\b": "old, as before",
    r"\bgoes on where\b": "continues where",
}


# Texts that name options or arguments as they are typed: what only one interface shows.
TYPED_ALONE = {
    "cli": "the command line",
    "paper/__main__.py": "a command line of its own",
    "pictures/save.py": "colours of style sheets",
    "planner_page": "commands that the page shows",
    "report/commands.py": "commands that a report shows",
    "statistic/arguments.py": "OptionError, which the command line raises",
    "statistic/measured.py": "OptionError, which the command line raises",
    "statistic/statistic.py": "a statistic as it is typed",
}
PYTHON_ALONE = {
    "engines/beam": "a library of Python",
    "engines/local/exact.py": "notes under a table in Python",
    "engines/secret_from.py": "workers of Python",
    "engines/spark/job.py": "workers of Python",
    "ledger/rows.py": "SQL",
    "ledger/store.py": "SQL",
    "planner_page/server.py": "HTML",
    "privacy/entries/curve.py": "a repr",
    "reading/files.py": "SQL",
    "release/decide.py": "the name of a release in a ledger, which stays",
    "release/outcome.py": "notes under a table in Python",
    "sketch/sketch.py": "a repr",
}


def calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


@functools.cache
def texts(without: str = "") -> list[tuple[str, str]]:
    """All texts of the package that may be shown, each with its place; docstrings are not among them.

    Nor are those in a call of the function `without`.
    """
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == without:
                alone |= {id(inner) for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                found.append((f"{path.relative_to(SOURCE)}:{node.lineno}", node.value))
    return found


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


@functools.cache
def prose() -> list[tuple[str, str]]:
    """All docstrings and comments of the package, each with its place."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(SOURCE)
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                found.append((f"{name}:{node.lineno}", node.value.value))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.append((f"{name}:{token.start[0]}", token.string))
    return found


@pytest.mark.parametrize("pattern", OLD_IN_PROSE)
def test_words_of_the_old_style_are_gone_from_docstrings_and_comments(pattern: str) -> None:
    found = re.compile(pattern.replace(" ", r"\s+"))
    assert len(prose()) > 3000
    assert [(place, text[:80]) for place, text in prose() if found.search(text)] == [], f"say: {OLD_IN_PROSE[pattern]}"


def of_both(one: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The sentences that both interfaces may show, but for what `either` says to each in its own words."""
    for place, text in texts(without="either"):
        if " " in text and not place.startswith(tuple(one)):
            yield place, text


def test_no_text_spells_an_option() -> None:
    """An error in Python names arguments: `arg("state")`, or `either(...)` for a whole command."""
    found = [(place, text[:80]) for place, text in of_both(TYPED_ALONE) if re.search(r"(?<![\w-])--[a-z]", text)]
    assert found == [], 'say arg("state"), or either("...", "... --state")'


def test_no_text_spells_an_argument() -> None:
    """An error on the command line names options. Calls such as `ss.Privacy(epsilon=1)` are Python's by themselves."""
    words = "|".join(sorted(name for name in OPTIONS if "_" in name))
    spelt = re.compile(rf"(?<![\w.])({words})\b|(?<![\w.\"-])({'|'.join(sorted(OPTIONS))})=(?!=)")
    found = [
        (place, text[:80])
        for place, text in of_both(PYTHON_ALONE)
        if spelt.search(re.sub(r"\b(ss\.)?[A-Z]\w*\([^()]*\)", "", text))
    ]
    assert found == [], 'say subject("max_value"), or arg("max_value", 5)'
