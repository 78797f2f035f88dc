"""The documentation site as readers see it: no page has a fault of layout, and the main pages look as they did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built_site import build_site
from looks import MODES, MOST, PAGES, difference, look

pytestmark = pytest.mark.slow

FAULTS = (Path(__file__).parent / "faults.js").read_text(encoding="utf-8").partition("\n")[2]

# Left edge and width of what a page is made of, in pixels; nothing of it depends on words or fonts.
COLUMNS = {
    ("start", "light"): {
        ".md-sidebar--primary": (0, 242),
        "article": (266, 748),
        ".md-sidebar--secondary": (1038, 242),
    },
    ("start", "phone"): {".md-sidebar--primary": (-242, 242), "article": (16, 358)},
    ("index", "light"): {
        ".hero img.on-wide": (631, 633),
        ".cards > :first-child": (16, 604),
        ".cards > :last-child": (660, 604),
    },
    ("index", "phone"): {
        ".hero img.on-phone": (16, 358),
        ".cards > :first-child": (16, 358),
        ".cards > :last-child": (16, 358),
    },
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """In the mode that the test names."""
    context = chromium.new_context(**MODES[request.node.callspec.params["mode"]])
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("mode", ["light", "phone"])
def test_no_page_has_a_fault(page: Any, site: Path, mode: str) -> None:
    found = {}
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
        found[path.relative_to(site).as_posix()] = page.evaluate(FAULTS)
    assert len(found) > 60
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("mode", ["phone"])
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<h1 style='width: 500px'>a heading</h1>", "the page is"),
        ("<table><td style='width: 9px'><code style='word-break: break-all'>wide_word</code></table>", "broken in two"),
        ("<p style='width: 9px'>1e-9</p>", "broken in two"),
        ("<span class=formula style='display: block; width: 9px'><math><mi>xxx</mi></math>.</span>", "parted from"),
        ("<pre><button class=md-clipboard style='margin: -9px'>c</button><code>text</code></pre>", "under the copy"),
        ("<img alt=none src=none.svg>", "no picture"),
        ("<math></math>", "an empty formula"),
    ],
)  # fmt: skip
def test_a_fault_would_be_found(page: Any, mode: str, body: str, fault: str) -> None:
    page.set_content(f"<article><h1>a page</h1>{body}</article>")
    assert any(each.startswith(fault) for each in page.evaluate(FAULTS))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PAGES)
def test_main_pages_look_as_they_did(page: Any, site: Path, name: str, mode: str) -> None:
    """After a change that is meant: python tests/browser/looks.py."""
    page.goto((site / f"{name}.html").as_uri())
    assert difference(look(page), name, mode) <= MOST


@pytest.mark.parametrize(("name", "mode"), COLUMNS)
def test_columns_stand_where_they_did(page: Any, site: Path, name: str, mode: str) -> None:
    page.goto((site / f"{name}.html").as_uri())
    for selector, column in COLUMNS[name, mode].items():
        box = page.locator(selector).bounding_box()
        assert (box["x"], box["width"]) == pytest.approx(column, abs=3), selector


@pytest.mark.parametrize("mode", MODES)
def test_a_broken_look_would_be_noticed(page: Any, site: Path, mode: str) -> None:
    page.route("**/site/style.css", lambda route: route.abort())
    page.goto((site / "index.html").as_uri())
    assert difference(look(page), "index", mode) > MOST
