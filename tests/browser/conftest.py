"""A real Chromium, without a window. It is that of the system; nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from browser_helpers import CHROMIUM, Window


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; where there is none, the tests are skipped, but never in CI, which installs it."""
    if CHROMIUM is None:
        reason = "pages NOT TESTED in a browser, no chromium: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=["light", "dark"])
def window(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Window]:
    """A fresh window in light and in dark colours, without a network beyond this machine."""
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1000, "height": 800})
    yield Window(context.new_page())
    context.close()
