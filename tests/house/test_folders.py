"""The order of the house: tests stand where their module does, files stay short, and the map shows what is there."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import stablesketch

ROOT = Path(__file__).parents[2]
TESTS, SOURCE = ROOT / "tests", Path(stablesketch.__file__).parent

# Folders of tests that are about no single part of the package.
OTHERS = {
    "attacks": "what a hostile input, a fault or a crash can do",
    "attacks/after_payment": "every step of a command fails once",
    "browser": "pages in a real Chromium",
    "data": "stored bytes of earlier versions",
    "docs": "the pages themselves",
    "house": "the order of the house",
    "messages": "what wrong calls say",
    "native": "the compiled core on other machines and under sanitizers",
    "shared": "oracles and streams that several folders use",
}

LONGEST = 400


def folders(root: Path) -> set[str]:
    """Those with files in them, by their path below `root`."""
    found = {str(path.parent.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    return {name for name in found if "__pycache__" not in name and name != "."}


def test_every_folder_of_tests_is_one_of_the_package() -> None:
    """A module at the top, as errors.py, may have a folder of tests too."""
    modules = {path.stem for path in SOURCE.glob("*.py")}
    others = {name for name in folders(TESTS) if name.partition("/")[0] == "data"} | OTHERS.keys()
    assert folders(TESTS) - others <= folders(SOURCE) | modules


def test_every_other_folder_is_there() -> None:
    assert {name for name in OTHERS if not (TESTS / name).is_dir()} == set()


def test_only_what_users_import_stands_at_the_top() -> None:
    """And what lists it, offered.py. All else is in the folder that says what it is for."""
    found = {path.stem for path in SOURCE.glob("*.py")}
    assert found == {"__init__", "__main__", "offered", "errors", "pandas", "polars", "spark", "beam"}


def test_files_stay_short() -> None:
    lengths = {str(path.relative_to(SOURCE)): path.read_text("utf-8").count("\n") for path in SOURCE.rglob("*.py")}
    assert {name for name, lines in lengths.items() if lines > LONGEST} == set()


def written(path: Path) -> Iterator[str]:
    """The docstrings and comments of a Python file."""
    text = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def missing(path: Path) -> set[str]:
    """The Python files that are named there and do not exist: not beside it, nor below the repository or the package.

    A test may also name what it tests, and the files of tests/shared, without their folders.
    """
    beside = path.parent
    bases = [beside, ROOT, SOURCE]
    if beside.is_relative_to(TESTS):
        bases += [SOURCE / beside.relative_to(TESTS), TESTS / "shared"]
    named = {name for text in written(path) for name in re.findall(r"[\w/.-]*\w\.py\b", text)}
    return {name for name in named if not any((base / name).is_file() for base in bases)}


def test_every_file_named_in_a_docstring_or_comment_exists() -> None:
    """Except those of other packages."""
    others = {"skbio/diversity/alpha/tests/test_base.py"}
    paths = [path for folder in ("src", "tests", "benchmarks", "tools") for path in (ROOT / folder).rglob("*.py")]
    wrong = {str(path.relative_to(ROOT)): missing(path) - others for path in paths}
    assert {path: names for path, names in wrong.items() if names} == {}


def mapped() -> set[Path]:
    """What the map of CONTRIBUTING.md names, all of it there: a tree by its indentation, `*` standing for more."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (tree,) = re.findall(r"^```text\n(src/stablesketch/\n.*?)^```", page, re.DOTALL | re.MULTILINE)
    found: set[Path] = set()
    above: list[Path] = []
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        names = re.split(r"\s{2,}", line.strip())[0]
        here = above[depth - 1] if depth else ROOT
        for name in names.split(", "):
            there = set(here.glob(name.rstrip("/")))
            assert there, f"{here / name} is on the map, and not there"
            found |= there
        above[depth:] = [here / names.rstrip("/")]
    return found


def test_the_map_shows_every_folder_and_nothing_that_is_not_there() -> None:
    """Folders within others are shown where that helps."""
    assert {ROOT / "src" / "stablesketch" / name.partition("/")[0] for name in folders(SOURCE)} <= mapped()
