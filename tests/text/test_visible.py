"""Names that came with data are shown, never obeyed: on the terminal, in errors, pictures and pages; JSON is exact."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.text.visible import json_visible, visible

NASTY = {
    "escape": "a\x1b[31mred",
    "8-bit escape": "a\x9b31mred",
    "right to left": "a\u202etxt.exe",
    "isolate": "a\u2066b\u2069",
    "zero width": "a\u200bb\u200db\ufeff",
    "newline": "a\nb\r\tc",
    "null": "a\0b",
    "separator": "a\u2028b",
    "filler": "a\u3164b",
    "surrogate": "a\ud800b",
    "private": "a\U000f0000b",
}


@pytest.mark.parametrize("name", NASTY)
def test_what_is_not_seen_is_written_out(name: str) -> None:
    shown = visible(NASTY[name])
    assert shown.isprintable()
    assert shown.isascii()
    assert shown.startswith("a\\")
    shown.encode()


@pytest.mark.parametrize("text", ["app", "Zürich, 東京", "ε ≤ 1 · ½", "🎉", "[red]", "a--b <!-- $x$"])
def test_what_is_seen_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("name", NASTY)
def test_json_keeps_the_exact_name(name: str) -> None:
    text = json_visible(json.dumps(NASTY[name], ensure_ascii=False))
    assert text.isprintable()
    assert json.loads(text) == NASTY[name]


def test_errors_show_names_so_that_nothing_obeys_them() -> None:
    error = ss.DataError("e\x1b[2J.csv", "there is no such column", "The columns are: a\u202eb", column="k\x1b[0m")
    assert "\x1b" not in str(error)
    assert "\u202e" not in str(error)
    assert "e\\x1b[2J.csv" in str(error)
    assert "\x1b" not in str(ss.LedgerError("no ledger \x1b]0;x\x07"))


GROUPS = ["a\x1b[31mred", "b\u202etxt", "[bold]c[/bold]", "d-->e]]>", "<script>f", "z\u200bw"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f'app{i * i % 40},"{GROUPS[i % len(GROUPS)]}"\n' for i in range(300)]
    (tmp_path / "e.csv").write_text("app,place\n" + "".join(rows), encoding="utf-8")
    (tmp_path / "g.txt").write_text("".join(f'"{name}"\n' for name in GROUPS), encoding="utf-8")
    return tmp_path


def test_groups_on_the_terminal_in_pictures_and_in_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    private = ["--p", "0.5", "--epsilon", "5", "--delta", "1e-6", "--size", "50"]
    release = ["release", "e.csv", "--key", "app", "--by", "place", "--groups", "g.txt", *private]
    kept = ["--plot", "p.svg", "--report", "r.html", "-o", "o.json"]
    assert run([*release, *kept]) == 0
    shown = capsys.readouterr()
    assert all(character.isprintable() or character == "\n" for character in shown.out + shown.err)
    assert "a\\x1b[31mred" in shown.out
    assert "[bold]c[/bold]" in shown.out
    assert "b\\u202etxt" in shown.out
    ElementTree.parse(folder / "p.svg")  # well-formed
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert all(character.isprintable() or character in "\n\t" for character in page)
    assert "<script>f" not in page
    stored = json.loads((folder / "o.json").read_text(encoding="utf-8"))
    assert [one["group"] for one in stored] == GROUPS


def test_columns_and_files_in_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.csv").write_text("a\x1b[31mb,c\n1,2\n")
    private = ["--p", "0.5", "--epsilon", "5", "--delta", "1e-6"]
    assert run(["release", "x.csv", "--key", "k\u202e", *private]) == 3
    assert run(["release", "no\x1b[2Jfile.csv", "--key", "k", *private]) == 3
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "no\\x1b[2Jfile.csv" in said
