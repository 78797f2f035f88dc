"""`make demo`, on a few small files instead of the whole standard library."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from stablesketch.cli import demo


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Ascii(io.StringIO):
    """A stream that has no box characters."""

    encoding = "ascii"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Five files that count, and three that do not."""
    root = tmp_path / "lib"
    for i, name in enumerate(["abc.py", "json/decoder.py", "json/encoder.py", "os.py", "typing.py"]):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "def word_{i}(self): return self\n" * (i + 1) + f"x{i} = 1.5e3 # naïve\n" * 50, encoding="utf-8"
        )
    for name in ["site-packages/other.py", "test/test_os.py", "json/notes.txt"]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("never counted", encoding="utf-8")
    return root


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the report goes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run(root: Path, out: io.StringIO | None = None, progress: io.StringIO | None = None) -> tuple[int, str, str]:
    out, progress = out or io.StringIO(), progress or io.StringIO()
    code = demo.run(root, out, progress, size=50)
    return code, out.getvalue(), progress.getvalue()


def test_files_are_pythons_own_in_a_fixed_order(library: Path) -> None:
    names = [path.relative_to(library).as_posix() for path in demo.python_files(library)]
    assert names == ["abc.py", "json/decoder.py", "json/encoder.py", "os.py", "typing.py"]


def test_words_are_identifiers_and_words(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f_1(x): # naïve 42 3e5\n    return 'a b'\n", encoding="utf-8")
    assert demo.words_of(path) == ["def", "f_1", "x", "naïve", "return", "a", "b"]


def test_batches_hold_the_whole_stream(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = demo.python_files(library)
    expected = [word for path in files for word in demo.words_of(path)]
    monkeypatch.setattr(demo, "BATCH_WORDS", 60)
    pieces = list(demo.batches(files, demo.ProgressBar(io.StringIO(), 1)))
    assert len(pieces) > 1
    assert [word for piece in pieces for word in piece] == expected


def test_the_report(library: Path) -> None:
    code, out, progress = run(library)
    assert code == 0
    words = [word for path in demo.python_files(library) for word in demo.words_of(path)]
    counts = Counter(words)
    assert f"{len(words):,} words, {len(counts)} distinct, in 5 files" in out
    for p in demo.ORDERS:
        effective = (sum(count**p for count in counts.values()) / len(words) ** p) ** (1 / (1 - p))
        assert re.search(rf"^ +{p:.2f} +{effective:,.0f} ", out, re.MULTILINE)
    assert out.count("✓") == 2
    assert "✗" not in out
    said = " ".join(out.split())
    assert "The private answer The rows are as varied as" in said
    assert "equally common words: between" in said
    assert "It costs ε = " in said
    (page,) = re.findall(r"^  (/.*report\.html)$", out, re.MULTILINE)
    report = Path(page).read_text(encoding="utf-8")
    assert "How varied are the words?" in report
    assert "<svg" in report
    *_, next_line, _, _, _ = out.splitlines()
    assert re.fullmatch(r"  \S*stablesketch release FILE\.csv --key COLUMN --epsilon 1 --delta 1e-9", next_line)
    assert max(len(line) for line in out.splitlines() if "/" not in line) <= 80  # paths are as long as they are
    assert "\x1b" not in out + progress
    assert progress.splitlines()[-1] == f"  100% read, {len(words):,} words"
    assert len(progress.splitlines()) <= 4


def test_a_property_that_fails_is_shown_and_reported(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo.Sketch, "delete", lambda self, keys: None)
    code, out, _ = run(library)
    assert code == 1
    assert "✗ delete" in out


def test_colours_and_a_bar_on_a_terminal_only(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    _, out, progress = run(library, Terminal(), Terminal())
    assert "\x1b[1m" in out
    assert "━" in progress
    assert progress.endswith("\r\x1b[K")  # the bar is gone when the report comes
    monkeypatch.setenv("NO_COLOR", "1")
    _, out, _ = run(library, Terminal(), Terminal())
    assert "\x1b" not in out


def test_plain_characters_where_there_are_no_others(library: Path) -> None:
    code, out, progress = run(library, Ascii(), Ascii())
    assert code == 0
    assert (out + progress).isascii()


def test_no_library_to_read(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path)
    assert code == 1
    assert "No *.py files" in out


def test_the_line_it_ends_with_works(library: Path, tmp_path: Path) -> None:
    """As it stands there, with a file and a column in their places."""
    _, out, _ = run(library)
    (typed,) = [line for line in out.splitlines() if "release FILE.csv" in line]
    (tmp_path / "own.csv").write_text("app\na\nb\n" * 50, encoding="utf-8")
    command = typed.replace("FILE.csv", str(tmp_path / "own.csv")).replace("COLUMN", "app")
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Hill number of order 0.5" in done.stdout


def test_without_the_library_for_pictures_it_says_so(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, _ = run(library)
    assert code == 0
    assert "Not written: pictures need matplotlib. Run: pip install" in " ".join(out.split())
