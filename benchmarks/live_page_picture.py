"""The live page of a monitor on the day of docs/tutorials/monitor.md, in a real Chromium.

    python benchmarks/live_page_picture.py [--output docs/images]

It writes live-page.png, and live-page-dark.png for dark pages of the site. Needs playwright and the system's chromium.
A release is random, so the pictures differ each time.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import stablesketch as ss
from stablesketch.monitor import Monitor, Watch
from stablesketch.monitor.demo_day import FIELDS, START, minute
from stablesketch.monitor.input.blocks import Block
from stablesketch.monitor.shown.alerts import Judge
from stablesketch.monitor.shown.outputs import Outputs
from stablesketch.monitor.state.state import MonitorState
from stablesketch.monitor.windows import SECOND, Windows

FIRST, LAST = 240, 510  # minutes of the day: from 04:00 to 08:30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "docs" / "images")
    folder = parser.parse_args().output
    from playwright.sync_api import sync_playwright

    windows = Windows(60, span=(START // 60 + FIRST, START // 60 + LAST))
    watch = Watch.of([ss.Shannon()], 1.0, 1e-9, FIELDS, windows)
    outputs = Outputs("127.0.0.1:0", None, None)
    sinks = outputs.sinks(watch, Judge(drop=3.0), {}, print)
    state = MonitorState(None, watch.to_json())
    monitor = Monitor(watch, "the day", lambda *_: _blocks(), state, sinks, replays=True)
    outputs.begin(monitor)
    monitor.run()
    assert outputs.released is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in ("live-page.png", "live-page-dark.png"):
            scheme: Literal["light", "dark"] = "dark" if "dark" in name else "light"
            page = browser.new_page(viewport={"width": 1000, "height": 880}, color_scheme=scheme)
            page.goto(outputs.released.root)
            page.locator("figure path.line").wait_for()
            page.screenshot(path=folder / name)
        browser.close()
    outputs.close()


def _blocks() -> Iterator[Block]:
    for number in range(FIRST, LAST):
        now = (START + 60 * number) * SECOND
        yield Block(minute(number), now, now)


if __name__ == "__main__":
    main()
