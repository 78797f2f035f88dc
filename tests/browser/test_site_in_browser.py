"""The documentation site in a real browser: no complaint, nothing from elsewhere, and the search finds things."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_helpers import Window

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    handler = functools.partial(Quiet, directory=str(folder))
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


def test_the_search_finds_a_page(window: Window, address: str) -> None:
    window.page.set_viewport_size({"width": 1280, "height": 800})
    page = window.open(f"{address}/index.html")
    page.keyboard.press("/")
    page.keyboard.type("ledger")
    page.wait_for_selector(".md-search-result__link", timeout=20_000)
    assert page.locator(".md-search-result__link").count() > 0
