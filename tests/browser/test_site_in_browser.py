"""The documentation site in a real browser: no complaint, nothing from elsewhere, and the search finds things."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_helpers import Window
from built_site import build_site

pytestmark = pytest.mark.slow


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["index", "start", "tutorials/groups", "reference", "privacy"])
def test_pages_open_without_a_complaint(window: Window, address: str, name: str) -> None:
    page = window.open(f"{address}/{name}.html")
    page.wait_for_load_state("networkidle")
    assert page.locator("h1").first.is_visible()
    for picture in page.locator("article img").all():
        assert picture.evaluate("e => e.naturalWidth") > 0
        assert picture.get_attribute("alt")
    assert window.complaints == []
    assert all(request.startswith(address) or request.startswith("data:") for request in window.requests)


@pytest.mark.parametrize("opened", ["served", "from disk"])
def test_the_search_finds_a_page(window: Window, address: str, site: Path, opened: str) -> None:
    window.page.set_viewport_size({"width": 1280, "height": 800})
    page = window.open(f"{address}/index.html" if opened == "served" else site / "index.html")
    page.keyboard.press("/")
    page.keyboard.type("ledger")
    found = page.locator(".md-search-result__link").first
    found.wait_for(timeout=20_000)
    found.click()
    assert "ledger" in page.locator("article").inner_text().lower()
    assert window.complaints == []
