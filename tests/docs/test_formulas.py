"""Formulas of the pages: each is found, converted to MathML, and written so that the repository shows the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import markdown
import pytest
from mkdocs.exceptions import PluginError

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]


@pytest.fixture(scope="module")
def formulas() -> Any:
    spec = importlib.util.spec_from_file_location("formulas", ROOT / "docs" / "site" / "formulas.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(formulas: Any, text: str) -> str:
    """As the site makes a page; the extensions are those of mkdocs.yml that matter to formulas."""
    content = markdown.markdown(
        text,
        extensions=["tables", "pymdownx.arithmatex", "pymdownx.superfences"],
        extension_configs={"pymdownx.arithmatex": {"generic": True}},
    )
    return str(formulas.on_page_content(content, page=SimpleNamespace(file=SimpleNamespace(src_uri="page.md"))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_formula_of_the_pages_is_converted(formulas: Any, page: Path) -> None:
    assert "arithmatex" not in made(formulas, page.read_text(encoding="utf-8"))


def test_in_a_line_in_a_table_and_as_a_block(formulas: Any) -> None:
    content = made(formulas, "If $D_ε \\le δ < 1$.\n\n| a |\n|---|\n| $F_p$ |\n\n$$\n\\sum_k f_k^p\n$$\n")
    assert content.count("<math>") == 2
    assert "<msub><mi>D</mi><mi>ε</mi></msub><mo>≤</mo><mi>δ</mi><mo>&lt;</mo><mn>1</mn>" in content
    assert '<div class="formula"><math display="block">' in content
    assert "$" not in content


def test_a_prime_can_be_seen_and_a_long_formula_scrolls(formulas: Any) -> None:
    assert '<mi>F</mi><mo lspace="0" rspace="0">′</mo>' in made(formulas, "Let $F'$ be.")
    assert '<span class="formula"><math>' in made(formulas, "Let $a + b + c + d + e + f + g + h + i = 0$.")


def test_what_is_no_formula_is_left_alone(formulas: Any) -> None:
    content = made(formulas, "It costs $5 or $6, `$x$` and\n\n```sh\necho $HOME $PATH\n```\n")
    assert "<math" not in content


@pytest.mark.parametrize(
    ("formula", "told"), [("\\nothing x", "Unknown command"), ("\\frac{1}{2", "closing token"), ("a \\, b", "GitHub")]
)
def test_a_formula_that_would_be_wrong_ends_the_build(formulas: Any, formula: str, told: str) -> None:
    with pytest.raises(PluginError, match=f"page.md: .*{told}"):
        made(formulas, f"Let ${formula}$.")
