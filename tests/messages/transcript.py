"""Transcripts of wrong calls: what is typed, and what it says. The files *.txt beside this one are such transcripts.

A transcript is a list of entries, separated by empty lines. An entry is run in an empty folder of its own, but for
`events.csv`; it has a title, lines that are run, and under the last of them what that one printed:

    # A key that is no column
    $ stablesketch release events.csv --key apps --p 0.5 --epsilon 1 --delta 1e-9
    exit 3
    Error: events.csv, column apps: ...

- `$ stablesketch ...` is a command, `$ printf '...' > file` writes a file, `$ printf '...' | stablesketch ...` has
  standard input; nothing else of a shell is known here.
- `>>> ...` is Python, with `ss` (stablesketch), `np`, `pa`, `pq`, `Path` and a `secret`; an expression or a statement.

To add a call, write its title and its lines, and let the rest be filled in; then read what it says:

    .venv/bin/python tests/messages/transcript.py
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import stablesketch as ss
from stablesketch.cli.app import run

HERE = Path(__file__).parent
_PROMPTS = ("$ ", ">>> ")
_SECRET = bytes(range(32))  # of tests alone


@dataclass(frozen=True)
class Entry:
    """A title, the lines that are run, and what the last of them printed."""

    title: str
    lines: tuple[str, ...]
    printed: str

    def text(self) -> str:
        return "\n".join([f"# {self.title}", *self.lines, self.printed])


@dataclass(frozen=True)
class Ran:
    """What the last line of an entry printed, what of it went to standard output, and the files it left."""

    printed: str
    out: str
    left: set[str]


def read(path: Path) -> list[Entry]:
    """The entries of a transcript."""
    return [_entry(block, path) for block in path.read_text(encoding="utf-8").strip().split("\n\n")]


def _entry(block: str, path: Path) -> Entry:
    title, *rest = block.split("\n")
    lines = [line for line in rest if line.startswith(_PROMPTS)]
    if not title.startswith("# ") or not lines or rest[: len(lines)] != lines:
        raise ValueError(f"{path.name}: not an entry: {block!r}")
    return Entry(title[2:], tuple(lines), "\n".join(rest[len(lines) :]))


def transcripts() -> list[Path]:
    return sorted(HERE.glob("*.txt"))


def events() -> str:
    """2,000 rows of 40 apps, in two countries, by 400 people."""
    rows = [f"app{i * i % 40},{'FR' if i % 3 else 'DE'},u{i % 400},{1 + i % 5}" for i in range(2000)]
    return "app,country,user,n\n" + "\n".join(rows) + "\n"


def played(entry: Entry) -> Ran:
    """Runs an entry, in a folder of its own."""
    names: dict[str, Any] = {"ss": ss, "np": np, "pa": pa, "pq": pq, "Path": Path}
    names["secret"] = ss.Secret.from_bytes(_SECRET)
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        Path("events.csv").write_text(events())
        for line in entry.lines[:-1]:
            _run(line, names)
        before = set(os.listdir())
        printed, out = _run(entry.lines[-1], names)
        return Ran(_plain(printed, folder), out, set(os.listdir()) - before)


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    back, columns = os.getcwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = "120"
    try:
        yield
    finally:
        os.chdir(back)
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns


def _run(line: str, names: dict[str, Any]) -> tuple[str, str]:
    if line.startswith(">>> "):
        return _python(line[4:], names), ""
    command = line[2:]
    words = shlex.split(command)
    if words[0] == "printf" and words[2] == ">":
        Path(words[3]).write_bytes(_bytes(words[1]))
        return "", ""
    given = b""
    if words[0] == "printf" and words[2] == "|":
        given, words = _bytes(words[1]), words[3:]
    if words[0] != "stablesketch":
        raise ValueError(f"not a command of a transcript: {line}")
    return _command(words[1:], given)


def _bytes(text: str) -> bytes:
    """What printf would write."""
    return codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape").encode("latin-1")


def _command(arguments: list[str], given: bytes) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    standard = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
    finally:
        sys.stdin = standard
    return f"exit {int(code)}\n{out.getvalue()}{err.getvalue()}".rstrip(), out.getvalue()


def _python(code: str, names: dict[str, Any]) -> str:
    try:
        try:
            program = compile(code, "<transcript>", "eval")
        except SyntaxError:
            exec(compile(code, "<transcript>", "exec"), names)
            return ""
        return repr(eval(program, names))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _plain(text: str, folder: str) -> str:
    """Without what differs from run to run, folders and times; and without empty lines, which separate entries."""
    text = text.replace(os.path.realpath(folder), "FOLDER").replace(folder, "FOLDER")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:+.]+", "TIME", text.replace(tempfile.gettempdir(), "TMPDIR"))
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def main() -> None:
    """Writes what every call says today. Read the difference before you commit it."""
    for path in transcripts():
        entries = [Entry(entry.title, entry.lines, played(entry).printed) for entry in read(path)]
        path.write_text("\n\n".join(entry.text() for entry in entries) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(entries)} calls")


if __name__ == "__main__":
    main()
