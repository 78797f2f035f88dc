"""Runs a page as a reader would: its shell and Python blocks in order, in one folder, and looks at what is printed.

A shell block runs in bash and stops at the first command that fails; a change of folder lasts. A Python block runs in
an interpreter of its own. A text block right after a shell block is what that block prints: the same lines but for
their numbers, since releases are random.

    python tests/docs/page_runner.py docs/start.md docs/tutorials/words.md

follows pages in the environment that it runs in, and where a text block is no longer what is printed puts in its place
what is. Read what changed before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from test_snippets import ROOT, Block, blocks

# What makes the environment that the tests run in already.
SETUP = ("make cli", ". .venv/bin/activate")

_NUMBER = re.compile(r"-?\d+(,\d+)*(\.\d+)?(e-?\d+)?")  # a comma after it is none of it


@dataclass
class Reader:
    """Somebody who copies what a page says into a terminal."""

    folder: Path
    setup: bool  # whether the lines of SETUP are run, too
    writes: bool = False  # whether a text block that is out of date is written anew
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def follow(self, page: Path) -> None:
        printed: str | None = None
        for block in blocks(page):
            assert block.left_out is None, f"{page}:{block.line} is not run"
            if block.language == "sh":
                printed = self._shell(page, block)
            elif block.language == "python":
                self._python(page, block)
                printed = None
            elif block.language == "text" and printed is not None:
                if self.writes and shape(printed) != shape(block.text):
                    written_anew(page, block.text, printed)
                else:
                    assert shape(printed) == shape(block.text), f"{page}:{block.line} was, this time\n\n{printed}"
                printed = None

    def _shell(self, page: Path, block: Block) -> str:
        lines = [line for line in block.text.splitlines() if self.setup or line not in SETUP]
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as left:
            lines += [f"{{ pwd; export -p; }} > {shlex.quote(left.name)}"]
            done = self._run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], page, block)
            content = left.read()
        # The next block goes on where this one ended, in the environment that it left.
        self.folder = Path(content.partition("\n")[0])
        exported = dict(re.findall(r'^declare -x (\w+)="([^"]*)"$', content, re.MULTILINE))
        self.environment |= {name: exported[name] for name in ("PATH", "VIRTUAL_ENV") if name in exported}
        return done

    def _python(self, page: Path, block: Block) -> None:
        # PySpark warns of every pandas that is newer than it, also where no pandas is used.
        quiet = ["-W", "error", "-W", "ignore:PySpark does not yet fully support pandas:FutureWarning"]
        self._run(["python", *quiet, "-c", block.text], page, block)

    def _run(self, command: list[str], page: Path, block: Block) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=900, check=False
        )
        where = f"{page.relative_to(ROOT)}:{block.line}"
        assert done.returncode == 0, (
            f"{where}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
        return done.stdout


def reader_here(folder: Path) -> Reader:
    """A reader in an empty folder, with the command of this environment on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return Reader(folder, setup=False, environment={**os.environ, "PATH": path, "COLUMNS": "200"})


def shape(text: str) -> list[str]:
    """The lines without their numbers, their rules and their spacing."""
    plain = (_NUMBER.sub("#", re.sub(r"[─ ]+", " ", line)).strip() for line in text.splitlines())
    return [line for line in plain if line]


def written_anew(page: Path, old: str, new: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count(f"```text\n{old}```") == 1
    page.write_text(text.replace(f"```text\n{old}```", f"```text\n{new.strip()}\n```"), encoding="utf-8")
    print(f"{page}: a block is new")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            reader = reader_here(Path(folder))
            reader.writes = True
            reader.follow(ROOT / name)
