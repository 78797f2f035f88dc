"""A catalogue of wrong calls of the command line: the exit code of each, and what it says.

Every message is one line on standard error that names what is wrong and what to do; nothing is printed to standard
output, and no file is left.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_helpers import PRIVATE, SMALL, Shell


@dataclass(frozen=True)
class Wrong:
    """Arguments, the exit code, what is said, and what has to be there before."""

    arguments: list[str]
    code: int
    says: tuple[str, ...]
    before: Callable[[Shell], object] = lambda shell: None


def csv(text: str) -> Callable[[Shell], object]:
    return lambda shell: shell.write("e.csv", text)


def release(*more: str, private: list[str] = SMALL, files: tuple[str, ...] = ("events.csv",)) -> list[str]:
    return ["release", *files, *private, *more]


def parquet(name: str, **columns: object) -> Callable[[Shell], object]:
    return lambda shell: pq.write_table(pa.table(columns), shell.folder / name)


def both(*steps: Callable[[Shell], object]) -> Callable[[Shell], object]:
    return lambda shell: [step(shell) for step in steps]


def stored(shell: Shell) -> None:
    """A plan, a secret, and a sketch a.ssk of the events."""
    shell("plan", *SMALL, "--pairs", "2000", "-o", "plan.json")
    shell("secret", "new", "s.key")
    shell("sketch", "events.csv", "--key", "app", *SHARD, "-o", "a.ssk")


SHARD = ["--plan", "plan.json", "--secret", "s.key", "--shard", "a"]
KEY = ("--key", "app")

USAGE: dict[str, Wrong] = {
    "no such command": Wrong(["relase"], 2, ("No such command", "release")),
    "no such option": Wrong(release(*KEY, "--espilon", "1"), 2, ("--espilon",)),
    "no order": Wrong(["release", "events.csv", "--key", "app"], 2, ("--p is needed", "Try --p 0.5")),
    "no epsilon": Wrong(release(*KEY, private=["--p", "0.5", "--delta", "1e-6"]), 2, ("--epsilon is needed",)),
    "no delta": Wrong(release(*KEY, private=["--p", "0.5", "--epsilon", "1"]), 2, ("--delta is needed",)),
    "no key": Wrong(release(), 2, ("--key is needed", "variety")),
    "nothing to read": Wrong(release(*KEY, files=()), 2, ("nothing to read", "standard input")),
    "p of two": Wrong(release(*KEY, private=["--p", "2", *PRIVATE[2:]]), 2, ("--p = 2.0", "between 0.05 and 1")),
    "p that is no number": Wrong(release(*KEY, private=["--p", "half", *PRIVATE[2:]]), 2, ("--p", "number")),
    "epsilon nought": Wrong(release(*KEY, "--epsilon", "0"), 2, ("--epsilon = 0.0", "above 0")),
    "epsilon negative": Wrong(release(*KEY, "--epsilon", "-1"), 2, ("--epsilon = -1.0",)),
    "delta nought": Wrong(release(*KEY, "--delta", "0"), 2, ("--delta = 0.0", "1e-12")),
    "delta one": Wrong(release(*KEY, "--delta", "1"), 2, ("--delta = 1.0", "probability")),
    "pairs half": Wrong(release(*KEY, "--pairs", "1.5"), 2, ("--pairs", "1.5", "1e6")),
    "pairs in words": Wrong(release(*KEY, "--pairs", "many"), 2, ("many", "not a whole number")),
    "pairs negative": Wrong(release(*KEY, "--pairs", "-5"), 2, ("-5",)),
    "error and size": Wrong(release(*KEY, "--error", "0.1"), 2, ("one of them decides the size",)),
    "error of two": Wrong(release(*KEY, "--error", "2", private=PRIVATE), 2, ("--error = 2.0", "Pass 0.05 for 5%")),
    "size of one": Wrong(release(*KEY, "--size", "1", private=PRIVATE), 2, ("--size = 1", "5 to 10000")),
    "little memory": Wrong(release(*KEY, "--memory", "10", private=PRIVATE), 2, ("--memory", "1K")),
    "memory in words": Wrong(release(*KEY, "--memory", "much", private=PRIVATE), 2, ("--memory = 'much'", "64K")),
    "no such mechanism": Wrong(release(*KEY, "--mechanism", "magic"), 2, ("--mechanism", "'sketch', 'exact'")),
    "no such relation": Wrong(release(*KEY, "--relation", "swap"), 2, ("--relation", "'replace', 'add_remove'")),
    "no such way with bad rows": Wrong(release(*KEY, "--on-bad", "ignore"), 2, ("--on-bad", "'error', 'skip'")),
    "confidence of one": Wrong(release(*KEY, "--confidence", "1"), 2, ("--confidence = 1.0", "between 0 and 1")),
    "value without max_value": Wrong(release(*KEY, "--value", "n"), 2, ("--value needs --max-value", "auto")),
    "max_value without value": Wrong(release(*KEY, "--max-value", "5"), 2, ("--max-value = 5", "counts 1", "--value")),
    "max_value in words": Wrong(release(*KEY, "--value", "n", "--max-value", "big"), 2, ("big",)),
    "max_value nought": Wrong(release(*KEY, "--value", "n", "--max-value", "0"), 2, ("--max-value = 0", "1 and 2^53")),
    "clip without value": Wrong(release(*KEY, "--clip"), 2, ("no values to clip",)),
    "groups without by": Wrong(
        release(*KEY, "--groups", "g.txt"), 2, ("--groups", "--by"), lambda shell: shell.write("g.txt", "FR\n")
    ),
    "no list of groups": Wrong(release(*KEY, "--by", "country", "--groups", "g.txt"), 3, ("g.txt", "one name a line")),
    "an empty list of groups": Wrong(
        release(*KEY, "--by", "country", "--groups", "g.txt"), 2, ("empty",), lambda shell: shell.write("g.txt", "")
    ),
    "a group twice": Wrong(
        release(*KEY, "--by", "country", "--groups", "g.txt"), 2, ("twice",),
        lambda shell: shell.write("g.txt", "FR\nFR\n"),
    ),
    "a group of two parts": Wrong(
        release(*KEY, "--by", "country", "--groups", "g.txt"), 2, ("1 part",),
        lambda shell: shell.write("g.txt", "FR,mon\n"),
    ),
    "pairs of groups": Wrong(release(*KEY, "--by", "country", "--pairs", "100"), 2, ("--pairs = 100", "private")),
    "people in groups without their column": Wrong(
        release(*KEY, "--by", "country", "--pairs-per-person", "3"), 2, ("--pairs-per-person = 3", "--person")
    ),
    "people under replace": Wrong(
        release(*KEY, "--person", "user", "--relation", "replace"), 2, ("--relation = 'replace'", "add_remove")
    ),
    "groups per person without people": Wrong(
        release(*KEY, "--by", "country", "--groups-per-person", "2"), 2, ("--groups-per-person = 2", "person column")
    ),
    "a secret for a fresh release": Wrong(release(*KEY, "--secret", "s.key"), 2, ("--secret is for stored sketches",)),
    "dry run without pairs": Wrong(release(*KEY, "--dry-run"), 2, ("--dry-run reads no data", "--pairs 1e6")),
    "standard input and a file": Wrong(release(*KEY, files=("-", "events.csv")), 2, ("read alone",)),
    "standard input as parquet": Wrong(release(*KEY, "--format", "parquet", files=("-",)), 2, ("lines, csv or tsv",)),
    "no such format": Wrong(release(*KEY, "--format", "xlsx"), 2, ("--format = 'xlsx'", "parquet")),
    "delimiter of two characters": Wrong(release(*KEY, "--delimiter", "||"), 2, ("--delimiter = '||'",)),
    "an query is empty": Wrong(["release", "--sql", " ; ", *SMALL, *KEY], 2, ("query is empty",)),
    "a key named twice": Wrong(release("--key", "app,app"), 2, ("--key", "twice")),
    "an output that is there": Wrong(release(*KEY, "-o", "events.csv"), 2, ("such a file already",)),
    "an output nowhere": Wrong(release(*KEY, "-o", "no/such/out.json"), 2, ("no such folder",)),
    "trials of an audit": Wrong(["audit", "plan.json", "--trials", "5"], 2, ("--trials = 5", "100"), stored),
}  # fmt: skip

DATA: dict[str, Wrong] = {
    "no such file": Wrong(release(*KEY, files=("e.csv",)), 3, ("e.csv", "no such file", "current folder")),
    "no file of a pattern": Wrong(release(*KEY, files=("*.parquet",)), 3, ("no file matches",)),
    "a folder": Wrong(release(*KEY, files=(".",)), 3, ("folder",)),
    "a file twice": Wrong(release(*KEY, files=("events.csv", "./events.csv")), 3, ("twice",)),
    "an unknown suffix": Wrong(
        release(*KEY, files=("e.xyz",)), 3, ("suffix", "--format"), lambda shell: shell.write("e.xyz", "a\n")
    ),
    "two formats": Wrong(
        release(*KEY, files=("events.csv", "e.json")), 2, ("several formats", "--sql"),
        lambda shell: shell.write("e.json", "{}"),
    ),
    "no such column": Wrong(
        release("--key", "apps"), 3,
        ("events.csv, column apps", "no such column among the 4", "Look at its first line", "--no-header"),
    ),
    "no such column beside one that is there": Wrong(
        release(*KEY, "--by", "count"), 3, ("events.csv, column count", "The columns are: app, country, user, n")
    ),
    "an empty file": Wrong(release(*KEY, files=("e.csv",)), 3, ("e.csv", "empty"), csv("")),
    "no rows": Wrong(release(*KEY, files=("e.csv",)), 3, ("no pairs", "--pairs 0"), csv("app\n")),
    "an empty key": Wrong(
        release(*KEY, files=("e.csv",)), 3, ("e.csv, row 3, column app", "empty or null", "--on-bad skip"),
        csv("app,n\na,1\n,2\nb,3\n"),
    ),
    "a field too many": Wrong(
        release(*KEY, files=("e.csv",)), 3, ("e.csv, row 3", "3 fields instead of 2"), csv("app,n\na,1\nb,2,3\n")
    ),
    "a field too few": Wrong(
        release(*KEY, files=("e.csv",)), 3, ("e.csv, row 3", "1 fields instead of 2"), csv("app,n\na,1\nb\n")
    ),
    "a quote that does not end": Wrong(
        release(*KEY, files=("e.csv",)), 3, ("e.csv, row 3", "quoted field"), csv('app,n\na,1\n"b,2\n')
    ),
    "not UTF-8": Wrong(
        release(*KEY, files=("e.csv",)), 3, ("e.csv, row 2", "UTF-8"),
        lambda shell: (shell.folder / "e.csv").write_bytes(b"app,n\n\xff\xfe,1\n"),
    ),
    "two columns of one name": Wrong(release(*KEY, files=("e.csv",)), 3, ("header",), csv("app,app\na,b\n")),
    "a header that differs": Wrong(
        release(*KEY, files=("e.csv", "events.csv")), 3, ("events.csv", "columns are not those of e.csv"),
        csv("app\na\n"),
    ),
    "a value of a half": Wrong(
        release(*KEY, "--value", "n", "--max-value", "5", files=("e.csv",)), 3,
        ("e.csv, row 3, column n", "not a whole number"), csv("app,n\na,1\nb,1.5\n"),
    ),
    "a value that is not written in digits": Wrong(
        release(*KEY, "--value", "n", "--max-value", "99", files=("e.csv",)), 3,
        ("e.csv, row 3, column n", "not a whole number"), csv("app,n\na,1\nb,0x10\n"),
    ),
    "a value of nought": Wrong(
        release(*KEY, "--value", "n", "--max-value", "5", files=("e.csv",)), 3,
        ("e.csv, row 2, column n", "below 1"), csv("app,n\na,0\n"),
    ),
    "a negative value": Wrong(
        release(*KEY, "--value", "n", "--max-value", "5", files=("e.csv",)), 3,
        ("e.csv, row 2, column n", "whole number"), csv("app,n\na,-3\n"),
    ),
    "a value above the promised one": Wrong(
        release(*KEY, "--value", "n", "--max-value", "4"), 3,
        ("events.csv, row 6, column n", "max_value = 4", "--clip"),
    ),
    "an enormous value": Wrong(
        release(*KEY, "--value", "n", "--max-value", "5", "--clip", files=("e.csv",)), 3,
        ("e.csv, row 2, column n", "2^53"), csv(f"app,n\na,{10**30}\n"),
    ),
    "a person missing": Wrong(
        release(*KEY, "--person", "u", files=("e.csv",)), 3, ("e.csv, row 3, column u",), csv("app,u\na,1\nb,\n")
    ),
    "a group missing": Wrong(
        release(*KEY, "--by", "g", files=("e.csv",)), 3, ("e.csv, row 3, column g",), csv("app,g\na,1\nb,\n")
    ),
    "a key of floats": Wrong(
        release("--key", "x", files=("e.parquet",)), 3, ("e.parquet, column x", "DOUBLE", "cast"),
        parquet("e.parquet", x=[1.5, 2.5]),
    ),
    "a key of truth values": Wrong(
        release("--key", "x", files=("e.parquet",)), 3, ("e.parquet, column x", "BOOLEAN"),
        parquet("e.parquet", x=[True, False]),
    ),
    "values of floats": Wrong(
        release("--key", "x", "--value", "v", "--max-value", "5", files=("e.parquet",)), 3,
        ("e.parquet, column v", "DOUBLE", "whole numbers"), parquet("e.parquet", x=[1, 2], v=[1.0, 2.0]),
    ),
    "a null in a parquet file": Wrong(
        release("--key", "x", files=("e.parquet",)), 3, ("e.parquet, row 2, column x", "null"),
        parquet("e.parquet", x=["a", None, "b"]),
    ),
    "types that differ": Wrong(
        release("--key", "x", files=("1.parquet", "2.parquet")), 3, ("2.parquet, column x", "VARCHAR", "BIGINT"),
        both(parquet("1.parquet", x=[1]), parquet("2.parquet", x=["1"])),
    ),
    "no parquet file": Wrong(
        release(*KEY, files=("e.parquet",)), 3, ("e.parquet",), lambda shell: shell.write("e.parquet", "PAR1")
    ),
    "malformed JSON": Wrong(
        release(*KEY, files=("e.json",)), 3, ("e.json, row 2", "malformed JSON: unexpected end of data"),
        lambda shell: shell.write("e.json", '{"app": "a"}\n{"app": \n'),
    ),
    "a query that does not parse": Wrong(["release", "--sql", "selec app", *SMALL, *KEY], 3, ("the query", "selec")),
    "a query that is no selection": Wrong(
        ["release", "--sql", "copy (select 1) to 'x.csv'", *SMALL, *KEY], 3, ("the query",)
    ),
    "a database without a query": Wrong(
        release(*KEY, files=("e.db",)), 3, ("database", "--sql"),
        lambda shell: (shell.folder / "e.db").write_bytes(b"SQLite format 3\x00" + bytes(100)),
    ),
    "a query over a file that is no database": Wrong(
        ["release", "events.csv", "--sql", "select 1", *SMALL, *KEY], 3, ("no database", "from 'events.csv'")
    ),
}  # fmt: skip

REFUSED: dict[str, Wrong] = {
    "fewer pairs than promised": Wrong(release(*KEY, "--pairs", "3000"), 4, ("3,000", "fewer pairs")),
    "an error out of reach": Wrong(
        release(*KEY, "--error", "0.011", private=PRIVATE), 4, ("0.011", "--mechanism exact", "--expected")
    ),
    "delta too small": Wrong(release(*KEY, "--delta", "1e-40"), 4, ("δ = 1e-40",)),
}

FILES: dict[str, Wrong] = {
    "a secret that is there": Wrong(["secret", "new", "events.csv"], 5, ("events.csv exists already",)),
    "no such secret": Wrong(["release", "a.ssk", "--secret", "t.key"], 5, ("t.key",), stored),
    "a secret others can read": Wrong(
        ["release", "a.ssk", "--secret", "s.key"], 5, ("0644", "chmod 600"),
        both(stored, lambda shell: os.chmod(shell.folder / "s.key", 0o644)),
    ),
    "no secret for a sketch": Wrong(["release", "a.ssk"], 2, ("--secret is needed",), stored),
    "another secret": Wrong(
        ["release", "a.ssk", "--secret", "t.key"], 5, ("not the one",),
        both(stored, lambda shell: shell("secret", "new", "t.key")),
    ),
    "a sketch and a key": Wrong(["release", "a.ssk", "--secret", "s.key", *KEY], 2, ("--key was decided",), stored),
    "a damaged sketch": Wrong(
        ["inspect", "a.ssk"], 5, ("checksum",),
        both(stored, lambda shell: (shell.folder / "a.ssk").write_bytes((shell.folder / "a.ssk").read_bytes()[:-9])),
    ),
    "no sketch": Wrong(["inspect", "b.ssk"], 5, ("b.ssk",)),
    "no such plan": Wrong(["sketch", "events.csv", *KEY, *SHARD, "-o", "x.ssk"], 5, ("plan.json", "stablesketch plan")),
    "a plan that is none": Wrong(
        ["audit", "plan.json"], 5, ("not the JSON of a plan",), lambda shell: shell.write("plan.json", "{}")
    ),
    "a shard merged twice": Wrong(["merge", "a.ssk", "a.ssk", "-o", "x.ssk"], 5, ("shard 'a' is in already",), stored),
    "sketches of two plans": Wrong(
        ["merge", "a.ssk", "b.ssk", "-o", "x.ssk"], 5, ("different plans",),
        both(
            stored,
            lambda shell: shell("plan", *SMALL, "--pairs", "5", "-o", "other.json"),
            lambda shell: shell(
                "sketch", "events.csv", *KEY, "--plan", "other.json", "--secret", "s.key", "--shard", "b", "-o", "b.ssk"
            ),
        ),
    ),
    "sketches of two secrets": Wrong(
        ["merge", "a.ssk", "b.ssk", "-o", "x.ssk"], 5, ("different secrets",),
        both(
            stored,
            lambda shell: shell("secret", "new", "t.key"),
            lambda shell: shell(
                "sketch", "events.csv", *KEY, "--plan", "plan.json", "--secret", "t.key", "--shard", "b", "-o", "b.ssk"
            ),
        ),
    ),
    "no such ledger": Wrong(release(*KEY, "--ledger", "budget.db"), 5, ("budget.db",)),
    "a ledger that is there": Wrong(
        ["ledger", "new", "events.csv", "--epsilon", "1", "--delta", "1e-6"], 2, ("exists already",)
    ),
    "a ledger that is none": Wrong(["ledger", "show", "events.csv"], 5, ("events.csv",)),
}  # fmt: skip

CATALOGUE = {
    f"{part}: {name}": wrong
    for part, chapter in (("usage", USAGE), ("data", DATA), ("refused", REFUSED), ("files", FILES))
    for name, wrong in chapter.items()
}


def test_the_catalogue_is_long_enough() -> None:
    assert len(CATALOGUE) >= 40


@pytest.mark.parametrize("name", CATALOGUE)
def test_wrong_calls_say_what_to_do(name: str, shell: Shell) -> None:
    wrong = CATALOGUE[name]
    wrong.before(shell)
    there = set(os.listdir(shell.folder))
    shown = shell(*wrong.arguments)
    assert shown.code == wrong.code, shown
    assert shown.out == ""
    assert shown.err.startswith("Error: ")
    assert shown.err.count("\n") == 1, "one line"
    for part in wrong.says:
        assert part in shown.err
    assert set(os.listdir(shell.folder)) == there


CSV = ["release", "-", "--format", "csv", *KEY, *SMALL]
VALUED = [*CSV, "--value", "n", "--max-value", "5"]
LINES = {
    "an empty line": (["release", "-", *SMALL], b"a\n\nb\n", "standard input, row 2, column line", "empty"),
    "nothing at all": (["release", "-", *SMALL], b"", "standard input", "no pairs"),
    "csv without anything": (CSV, b"", "standard input", "nothing to read"),
    "csv of other columns": (CSV, b"x,y\n1,2\n", "column app", "no such column among the 2"),
    "csv with an empty key": (
        CSV, b"app,n\na,1\n,2\n", "standard input, row 3, column app", "empty"
    ),
    "csv with a value of a half": (
        VALUED, b"app,n\na,1\nb,1.5\n", "standard input, row 3, column n", "whole number"
    ),
    "csv with a value too large": (
        VALUED, b"app,n\na,1\nb,6\n", "standard input, row 3, column n", "max_value = 5"
    ),
    "csv with a field too few": (
        CSV, b"app,n\na,1\nb\n", "standard input, row 3", "Expected 2 columns"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_wrong_standard_input(name: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, raw, *says = LINES[name]

    class Standard:
        buffer = io.BytesIO(raw)

    monkeypatch.setattr(sys, "stdin", Standard())
    shown = shell(*arguments)
    assert shown.code == 3
    assert shown.out == ""
    for part in says:
        assert part in shown.err
