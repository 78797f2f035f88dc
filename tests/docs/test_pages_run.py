"""The start, the tutorials and the how-to pages work by copy and paste; the tutorials from a fresh clone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from engine_streams import QUICK_JAVA
from page_runner import SETUP, Reader, reader_here, shape
from test_snippets import FOLLOWED, ROOT, blocks


def test_the_start_runs(tmp_path: Path) -> None:
    reader_here(tmp_path).follow(ROOT / "docs" / "start.md")


@pytest.mark.slow
@pytest.mark.parametrize("name", [page for page in FOLLOWED if "/how-to/" in page])
def test_the_page_runs(name: str, tmp_path: Path) -> None:
    if name.endswith("/beam.md"):
        pytest.importorskip("apache_beam", reason="make test-slow follows this page in .venv-beam")
    reader = reader_here(tmp_path)
    if name.endswith("/spark.md"):
        if shutil.which("java") is None:
            pytest.skip("NO JAVA. Install it: apt-get install openjdk-17-jre-headless")
        reader.environment |= QUICK_JAVA
    reader.follow(ROOT / name)


@pytest.mark.slow
def test_the_tutorials_run_from_a_fresh_clone(tmp_path: Path) -> None:
    """Nothing but the files of the repository: the environment is made by the first commands of each page."""
    if not (ROOT / ".git").exists():
        pytest.skip("an sdist is no clone")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    clone = tmp_path / "clone"
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    bare = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")}
    bare["COLUMNS"] = "200"
    for name in ["docs/start.md", *(page for page in FOLLOWED if "/tutorials/" in page)]:
        text = (clone / name).read_text(encoding="utf-8")
        assert text.index("make cli") < text.index("stablesketch "), name
        Reader(clone, setup=True, environment=dict(bare)).follow(ROOT / name)


@pytest.mark.parametrize("name", [page for page in FOLLOWED if "/tutorials/" in page])
def test_tutorials_begin_by_themselves(name: str) -> None:
    first = next(block for block in blocks(ROOT / name) if block.language == "sh")
    assert tuple(first.text.splitlines()[:2]) == SETUP


def test_what_is_compared_of_an_output() -> None:
    assert shape("a  1,234.5 to -2e-9\n ──── \n\n") == shape("a 7 to 8")
    assert shape("a  1") != shape("b  1")
    assert shape("1,237, 95% to 3") == shape("1,237.5, 95% to 2") != shape("1,237 95% to 3")


def test_a_page_that_fails_is_noticed(tmp_path: Path) -> None:
    page = ROOT / "docs" / "start.md"  # its name is all that is used
    reader = reader_here(tmp_path)
    (block,) = [block for block in blocks(page) if "mkdir" in block.text]
    with pytest.raises(AssertionError, match="exit code 1"):
        reader._run(["bash", "-euo", "pipefail", "-c", "false | true"], page, block)
