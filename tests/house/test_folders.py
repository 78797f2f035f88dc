"""The order of the house: tests stand where their module does, files stay short, and the map shows what is there."""

from __future__ import annotations

import re
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
    """A module at the top, as published.py, may have a folder of tests too."""
    modules = {path.stem for path in SOURCE.glob("*.py")}
    others = {name for name in folders(TESTS) if name.partition("/")[0] == "data"} | OTHERS.keys()
    assert folders(TESTS) - others <= folders(SOURCE) | modules


def test_every_other_folder_is_there() -> None:
    assert {name for name in OTHERS if not (TESTS / name).is_dir()} == set()


def test_files_stay_short() -> None:
    lengths = {str(path.relative_to(SOURCE)): path.read_text("utf-8").count("\n") for path in SOURCE.rglob("*.py")}
    assert {name for name, lines in lengths.items() if lines > LONGEST} == set()


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
