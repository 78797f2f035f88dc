"""The catalogue of bad calls and of what each says, in one file to be read: catalogue.txt.

    python tests/messages/catalogue.py

writes it anew. Read what changed before it is committed: it is what people see when something is wrong.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import shlex
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import stablesketch as ss
from stablesketch.cli.app import run

sys.path.insert(0, str(Path(__file__).parent))
from calls import COMMANDS, PYTHON, SHARD, SMALL

CATALOGUE = Path(__file__).with_name("catalogue.txt")
_HEAD = "Bad calls and what they say. Made by: python tests/messages/catalogue.py\n\n"


def folder_of_files(folder: Path) -> None:
    """The files that the calls name."""
    rows = [f"app{i * i % 40},{'FR' if i % 3 else 'DE'},u{i % 400},{1 + i % 5}" for i in range(600)]
    texts = {
        "events.csv": "app,country,user,n\n" + "\n".join(rows) + "\n",
        "groups.txt": "FR\nDE\n",
        "empty.txt": "",
        "twice.txt": "FR\nFR\n",
        "parts.txt": "FR,mon\n",
        "strange.xyz": "a\n",
        "objects.json": "{}\n",
        "empty.csv": "",
        "header.csv": "app\n",
        "nokey.csv": "app,n\na,1\n,2\nb,3\n",
        "many.csv": "app,n\na,1\nb,2,3\n",
        "few.csv": "app,n\na,1\nb\n",
        "quote.csv": 'app,n\na,1\n"b,2\n',
        "escape.csv": "a\x1b[31mpp,n\na,1\n",
        "values.csv": "app,n\na,1\nb,1.5\n",
        "zero.csv": "app,n\na,0\n",
        "notjson.json": '{"app": "a"}\n{"app": \n',
        "notparquet.parquet": "not parquet",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.csv").write_bytes("app,n\nZürich,1\n".encode("latin-1"))
    for arguments in (
        f"plan {SMALL} --pairs 600 -o plan.json",
        "secret new s.key",
        "secret new other.key",
        "secret new open.key",
        f"sketch events.csv --key app {SHARD} -o a.ssk",
        "ledger new budget.db --epsilon 3 --delta 1e-5 --relation replace",
        "ledger new small.db --epsilon 0.01 --delta 1e-7",
        "ledger new unit.db --epsilon 3 --delta 1e-5 --relation add_remove",
    ):
        code, _, err = shown(shlex.split(arguments))
        assert code == 0, err
    blob = bytearray((folder / "a.ssk").read_bytes())
    blob[-1] ^= 1
    (folder / "broken.ssk").write_bytes(blob)
    (folder / "open.key").chmod(0o644)
    with contextlib.closing(sqlite3.connect(folder / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")


def names() -> dict[str, Any]:
    """What the calls of Python may use."""
    privacy = ss.Privacy(2.0, 1e-6, 600)
    plan = ss.plan(ss.Moment(0.5), privacy, size=50)

    def filled() -> ss.Collector:
        collector = plan.open()
        collector.update(range(600))
        return collector

    released = filled()
    released.release()
    small, other_unit = ss.Ledger("small.db"), ss.Ledger("unit.db")
    return {
        "ss": ss, "privacy": privacy, "plan": plan, "filled": filled, "released": released, "small": small,
        "other_unit": other_unit, "pickle": pickle,
    }  # fmt: skip


def shown(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code of a command, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """(call, what it says), in the order of calls.py; the current folder has the files."""
    before = {file.name for file in folder.iterdir()}
    for command in COMMANDS:
        code, out, err = shown(shlex.split(command))
        said = "".join(f"    {line}\n" for line in (out + err).splitlines())
        yield f"$ stablesketch {command}", normal(f"exit code {code}\n{said}", folder)
        _check_untouched(command, folder, before)
    here = names()
    for call in PYTHON:
        try:
            said = f"returned {eval(call, dict(here))!r}"
        except Exception as error:
            said = f"{type(error).__name__}\n    {error}"
        yield f">>> {call}", normal(said + "\n", folder)
        _check_untouched(call, folder, before)


def _check_untouched(call: str, folder: Path, before: set[str]) -> None:
    left = {file.name for file in folder.iterdir()} - before
    left = {name for name in left if not name.endswith(("-wal", "-shm"))}
    assert not left, f"{call} left {left}"


def normal(text: str, folder: Path) -> str:
    """Without what differs between machines and runs."""
    text = text.replace(f"{folder}/", "").replace(str(folder), "FOLDER").replace(ss.__version__, "VERSION")
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    text = re.sub(r"shard-[0-9a-f]{16}", "shard-...", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


@contextlib.contextmanager
def surroundings() -> Iterator[Path]:
    """The folder, and a screen of one width."""
    with tempfile.TemporaryDirectory() as name:
        folder, was, columns = Path(name).resolve(), Path.cwd(), os.environ.get("COLUMNS")
        os.environ["COLUMNS"] = "120"
        os.chdir(folder)
        try:
            folder_of_files(folder)
            yield folder
        finally:
            os.chdir(was)
            os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)


def catalogue() -> str:
    """All of it, as the file has it."""
    with surroundings() as folder:
        return _HEAD + "\n".join(f"{call}\n{said}" for call, said in entries(folder))


if __name__ == "__main__":
    CATALOGUE.write_text(catalogue(), encoding="utf-8")
    print(f"{len(COMMANDS)} commands and {len(PYTHON)} calls of Python written to {CATALOGUE}")
