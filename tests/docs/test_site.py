"""The documentation site: it builds without a warning, all of it is there, and nothing comes from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_snippets import ROOT, make_targets

import stablesketch as ss

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def test_make_docs_is_strict() -> None:
    assert "docs" in make_targets()
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_page_is_there(site: Path) -> None:
    sources = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    for source in sources:
        made = "index.html" if source.name == "README.md" else source.with_suffix(".html").name
        assert (site / source.parent / made).exists(), source
    for name in ("contributing.html", "changelog.html"):
        assert (site / name).exists()


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    text = (site / "reference.html").read_text(encoding="utf-8")
    for name in ss.__all__:
        if name not in ("errors", "paper"):  # modules, whose members are there
            assert re.search(rf'id="stablesketch\.[\w.]*\b{name}"', text), name


def test_proofs_beside_the_code_are_pages(site: Path) -> None:
    text = (site / "bare.html").read_text(encoding="utf-8")
    (link,) = set(re.findall(r'href="(code/stablesketch\.privacy\.precision\.html)"', text))
    assert "rounded" in (site / link).read_text(encoding="utf-8")


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        sources = re.findall(r'<(?:script|img|iframe|link)[^>]*?(?:src|href)="(https?://[^"]+)"', text)
        assert not sources, page
