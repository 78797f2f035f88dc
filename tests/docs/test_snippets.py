"""The documentation runs: Python blocks are executed, shell commands exist, links and paths lead somewhere.

The Python blocks of a page share a namespace, as they would in one session, and run in an empty folder. A block is
left out only after a comment `<!-- not run: reason -->`, and only if it is named in NOT_RUN.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import stablesketch

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
# Pages that test_pages_run.py or test_role_pages.py follows from the first block to the last, shell commands included.
_FOLLOWED = ("docs/start.md", "docs/tutorials/", "docs/how-to/", "docs/for/")
FOLLOWED = [name for name in NAMES if name.startswith(_FOLLOWED)]

# "page:line" of the opening fence → the reason given in the comment.
NOT_RUN: dict[str, str] = {}

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LEFT_OUT = re.compile(r"<!-- not run: (.+?) -->\s*\Z")


def prose(page: Path) -> str:
    """The page in one line, so that a sentence is found however it is wrapped."""
    return " ".join(page.read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of the opening fence, from 1
    left_out: str | None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        reason = _LEFT_OUT.search(text, 0, match.start())
        line = text.count("\n", 0, match.start()) + 1
        yield Block(match.group(1), match.group(2), line, reason.group(1) if reason else None)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FOLLOWED])
def test_python_blocks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "snippet"}
    for block in blocks(ROOT / name):
        if block.language == "python" and block.left_out is None:
            # Empty lines in front, so that a traceback shows the line of the page.
            exec(compile("\n" * block.line + block.text, str(ROOT / name), "exec"), namespace)


def test_the_blocks_left_out_are_the_ones_named_here() -> None:
    found = {
        f"{name}:{block.line}": block.left_out for name in NAMES for block in blocks(ROOT / name) if block.left_out
    }
    assert found == NOT_RUN


def test_every_public_name_has_an_example_in_the_reference() -> None:
    """Except errors: one of them is shown, and all are handled alike."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    shown = "".join(block.text for page in pages for block in blocks(page) if block.language == "python")
    used = set(re.findall(r"\bss\.(\w+)", shown))
    named = {name for name in stablesketch.__all__ if not hasattr(stablesketch.errors, name)} - {"errors"}
    assert named - used == set()


def test_the_readme_has_an_example() -> None:
    assert any(block.language == "python" for block in blocks(ROOT / "README.md"))


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def shell_commands(name: str) -> list[str]:
    texts = [block.text for block in blocks(ROOT / name) if block.language in {"sh", "bash", "shell", "console"}]
    lines = [line for text in texts for line in text.replace("\\\n  ", "").splitlines() if line.strip()]
    return [line.partition("  # ")[0] for line in lines]


INSTALLS = ("pip install '.[cli]'", ". .venv/bin/activate")


def test_the_readme_begins_with_two_commands() -> None:
    assert shell_commands("README.md")[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FOLLOWED])
def test_shell_commands_exist(name: str) -> None:
    """Commands are make targets, Python run on a file or folder of this repository, or those of stablesketch.

    test_command_line_page.py runs the latter, and test_readme_command.py that of the README.
    """
    for command in shell_commands(name):
        program, *rest = command.split()
        if program == "stablesketch" or " | stablesketch " in command or command in INSTALLS:
            run = shell_commands("docs/command-line.md")
            assert name in {"README.md", "docs/site/landing.md"} or command in run, command
        elif program == "make":
            assert set(rest) <= make_targets(), command
        else:
            assert program in {"python", ".venv/bin/python"}, command
            assert any((ROOT / word).exists() for word in rest), command


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def modules() -> list[str]:
    """All of them; those about Beam only in the environment that has it."""
    left_out = ["._native", *([] if importlib.util.find_spec("apache_beam") else ["beam"])]
    found = pkgutil.walk_packages(stablesketch.__path__, "stablesketch.", onerror=lambda name: None)
    names = (module.name for module in found)
    return ["stablesketch", *sorted(name for name in names if not any(part in name for part in left_out))]


@pytest.mark.parametrize("name", modules())
def test_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_docstrings_to_run() -> None:
    finder = doctest.DocTestFinder()
    examples = [test for name in modules() for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 3
