"""The documentation site: it builds without a warning, all of it is there, and nothing comes from elsewhere."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from built_site import build_site
from test_snippets import ROOT, make_targets

import stablesketch as ss

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


def test_make_docs_is_strict() -> None:
    assert "docs" in make_targets()
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_pictures_suit_light_and_dark_pages() -> None:
    for picture in (ROOT / "docs" / "images").glob("*.svg"):
        assert "prefers-color-scheme: dark" in picture.read_text(encoding="utf-8"), picture


def test_every_page_is_there(site: Path) -> None:
    for source in (ROOT / "docs").rglob("*.md"):
        if source.parent.name != "site":
            made = site / source.relative_to(ROOT / "docs").with_suffix(".html")
            assert (site / "contents.html" if source.name == "README.md" else made).exists(), source
    for name in ("index.html", "contributing.html", "changelog.html"):
        assert (site / name).exists()


def test_the_repository_is_linked_where_it_has_an_address(tmp_path: Path) -> None:
    address = {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "some/where"}
    page = (build_site(tmp_path, **address) / "start.html").read_text(encoding="utf-8")
    assert re.search(r'<a href="https://example.org/some/where"[^>]*title="Go to repository"', page)


def test_pyproject_is_the_one_place_for_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Source in [project.urls] goes before the address of the workflow; the package has the same."""
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "site" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    monkeypatch.setattr(hooks, "_text", lambda name: '[project.urls]\nSource = "https://example.org/here"\n')
    monkeypatch.setenv("GITHUB_REPOSITORY", "some/fork")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    config = hooks.on_config(SimpleNamespace())
    assert (config.repo_url, config.repo_name) == ("https://example.org/here", "Repository")


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    for name in ss.__all__:
        if name not in ("errors", "paper"):  # modules, whose members are there
            assert re.search(rf'id="stablesketch\.[\w.]*\b{name}"', text), name


def test_signatures_show_every_argument(site: Path) -> None:
    """`**what` is written out: the arguments of a function are those of Python's own help, in the same order."""
    pages = [(site / "reference" / name).read_text(encoding="utf-8") for name in ("data.html", "clusters.html")]
    assert not any("Unpack" in page for page in pages)
    for function in (ss.release, ss.exact, ss.collect):
        name = re.escape(f"{function.__module__}.{function.__name__}")
        found = re.search(rf'id="{name}".*?<pre>.*?</pre>', pages[0], re.DOTALL)
        assert found is not None
        text = re.sub(r"<[^>]*>", "", found[0])
        assert re.findall(r"^ +(\w+):", text, re.MULTILINE) == [*inspect.signature(function).parameters]


def test_proofs_beside_the_code_are_pages(site: Path) -> None:
    text = (site / "bare.html").read_text(encoding="utf-8")
    (link,) = set(re.findall(r'href="(code/stablesketch\.privacy\.precision\.html)"', text))
    assert "rounded" in (site / link).read_text(encoding="utf-8")


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        sources = re.findall(r'<(?:script|img|iframe|link)[^>]*?(?:src|href)="(https?://[^"]+)"', text)
        assert not sources, page


def test_examples_of_docstrings_are_code(site: Path) -> None:
    text = (site / "reference" / "plans.html").read_text(encoding="utf-8")
    assert "<blockquote>" not in text
    assert '<span class="go">Privacy(epsilon=1.0, delta=1e-09)</span>' in text


def test_markdown_takes_no_list_or_formula_apart(site: Path) -> None:
    """A list needs an empty line before it; (x)_+ and (y)_+ are emphasis, and a line that begins with >= is a quote."""
    for page in site.rglob("*.html"):
        text = re.sub(r"<(pre|math)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        paragraphs = re.findall(r"<(?:p|li)>.*?</(?:p|li)>", text, re.DOTALL)
        lost = [each for each in paragraphs if re.search(r"\n- |[^\s>(\"]<em>|</em>[\w+]|^<p>=", each)]
        assert not lost, page
