"""The live page of a monitor: value and band, drops, a table of the same, new windows as they come, dark, small."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_helpers import Window, brightness
from PIL import Image, ImageChops

import stablesketch as ss
from stablesketch.monitor import Watch
from stablesketch.monitor.demo_day import FIELDS
from stablesketch.monitor.shown.alerts import Judge
from stablesketch.monitor.shown.outputs import Outputs
from stablesketch.monitor.state.records import note_record, window_record
from stablesketch.monitor.windows import Windows

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
WATCH = Watch.of([ss.Shannon(), ss.Hill(0.5)], 1.0, 1e-9, FIELDS, Windows(60))
NOON = 29_913_840  # the window that begins at 2026-11-16T12:00:00Z
EMPTY = [plan.open().release() for plan in WATCH.plans]


def record(number: int, value: float, *, few: bool = False) -> str:
    """The window of that number, from noon on; its entropy, and as many keys in effect as a hundred times that."""
    content = json.loads(window_record("a", number, WATCH, NOON + number, EMPTY)) | {"few_rows": few}
    for release, unit in zip(content["releases"], (1.0, 100.0), strict=True):
        release |= {"value": unit * value, "low": unit * (value - 0.1), "high": unit * (value + 0.1)}
    return json.dumps(content)


@pytest.fixture
def shown() -> Iterator[tuple[str, Any, Outputs]]:
    """An hour of calm but for two drops: one of a window, one of three."""
    outputs = Outputs("127.0.0.1:0", None, None)
    values = [3.0 if number == 20 or 40 <= number < 43 else 6.0 + 0.01 * (number % 5) for number in range(60)]
    before = {number + 1: record(number, value) for number, value in enumerate(values)}
    (board,) = outputs.sinks(WATCH, Judge(drop=3.0), before, print)
    outputs.begin(None)  # type: ignore[arg-type]  # nobody asks how it is
    assert outputs.released is not None
    yield outputs.released.root, board, outputs
    outputs.close()


def opened(window: Window, address: str) -> Any:
    page = window.open(address)
    page.wait_for_selector("figure path.line")
    return page


def test_it_shows_all_windows_and_then_each_new_one(window: Window, shown: tuple[str, Any, Outputs]) -> None:
    address, board, _ = shown
    page = opened(window, address)
    assert page.title() == "How varied are the values of query?"
    assert page.locator("#state").inner_text() == "live"
    assert page.locator("#value").inner_text() == "6.040"
    assert page.locator("#between").inner_text() == "95% between 5.940 and 6.140, 2026-11-16 12:59 to 13:00 UTC"
    assert page.locator("figure").count() == 2
    assert page.locator("figure path.band").count() == 2
    board(61, record(60, 2.5))
    page.locator("#value", has_text="2.500").wait_for()
    assert page.locator("#said").inner_text().startswith("The entropy of values of query is about 2.5 nats")
    board(62, note_record("a", 62, 0, "the file was rotated <b>"))
    page.wait_for_selector("#notes:not([hidden])")
    assert page.locator("#noted").inner_text() == "1970-01-01T00:00:00Z: the file was rotated <b>"
    assert window.complaints == []
    assert {each.removeprefix(address) for each in window.requests} == {"", "events"}


def test_drops_are_marked_in_the_picture_in_words_and_in_the_table(
    window: Window, shown: tuple[str, Any, Outputs]
) -> None:
    page = opened(window, shown[0])
    assert page.locator("#drops li").all_inner_texts() == [
        "2026-11-16 12:40 to 12:43: 3 windows, the lowest 3.000, 59.2 deviations below the median",
        "2026-11-16 12:20 to 12:21: 3.000, 59.2 deviations below the median",
    ]
    assert page.locator("figure").first.locator("path.drop").count() == 2
    assert page.locator("#calm").is_hidden()
    assert page.locator("tr.dropped").count() == 3  # of the last thirty windows
    page.get_by_label("1,500").check()
    assert page.locator("#rows tr").count() == 30


def test_windows_with_few_rows_are_one_drop_that_says_so(window: Window, shown: tuple[str, Any, Outputs]) -> None:
    address, board, _ = shown
    page = opened(window, address)
    for number in range(60, 63):
        board(number + 1, record(number, 0.5, few=True))
    page.locator("#between", has_text="13:03 UTC; too few rows to say").wait_for()
    told = "2026-11-16 13:00 to 13:03: 3 windows, the lowest 0.5000, few or no rows: the input may have stopped"
    assert page.locator("#drops li").first.inner_text() == told
    assert page.locator("#said").inner_text() == "The last window has few or no rows: the input may have stopped."


def test_the_same_can_be_read_aloud(window: Window, shown: tuple[str, Any, Outputs]) -> None:
    page = opened(window, shown[0])
    picture = page.get_by_role("img", name="Shannon entropy (nats): 6.040 (5.940 to 6.140) in the last of 60 windows")
    assert picture.is_visible()
    assert "drops: 2. The numbers are in the table below." in picture.get_attribute("aria-label")
    table = page.get_by_role("region", name="The last windows").get_by_role("table")
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert heads == [
        "window, UTC", "Shannon entropy (nats)", "95% between", "Hill number of order 0.5", "95% between", "alert",
    ]  # fmt: skip
    assert table.get_by_role("rowheader").first.inner_text() == "2026-11-16 12:59"
    cells = table.get_by_role("row").nth(1).get_by_role("cell").all_inner_texts()
    assert cells == ["6.040", "5.940 and 6.140", "604.0", "594.0 and 614.0", ""]


def test_windows_that_nobody_watched_are_a_gap(window: Window, shown: tuple[str, Any, Outputs]) -> None:
    address, board, _ = shown
    for number in (70, 71):
        board(number, record(number, 6.0))
    page = opened(window, address)
    assert page.locator("figure").first.locator("path.line").count() == 2


def test_a_pointer_reads_a_window(window: Window, shown: tuple[str, Any, Outputs]) -> None:
    page = opened(window, shown[0])
    page.locator("figure svg").first.hover()
    assert page.locator("figure output").first.inner_text() == "2026-11-16 12:29 to 12:30: 6.040 (5.940 to 6.140)"


def test_it_says_that_the_monitor_has_gone_and_goes_on_when_it_is_back(
    window: Window, shown: tuple[str, Any, Outputs]
) -> None:
    address, _, outputs = shown
    page = opened(window, address)
    outputs.close()
    page.wait_for_selector("#state.gone")
    assert "does not answer" in page.locator("#state").inner_text()
    again = Outputs(address.removeprefix("http://").rstrip("/"), None, None)
    again.sinks(WATCH, Judge(), {number: record(number, 5.0) for number in range(58, 62)}, print)
    again.begin(None)  # type: ignore[arg-type]
    page.wait_for_selector("#state.live")
    page.locator("#value", has_text="5.000").wait_for()
    again.close()


@pytest.mark.parametrize("width", [360, 390, 1000])
def test_nothing_runs_over_the_edge(window: Window, shown: tuple[str, Any, Outputs], width: int) -> None:
    window.page.set_viewport_size({"width": width, "height": 800})
    page = opened(window, shown[0])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("figure svg").first.bounding_box()
    assert box["width"] > 0.85 * width
    assert box["height"] < 400


def test_it_is_dark_where_the_reader_wants_it(window: Window, shown: tuple[str, Any, Outputs]) -> None:
    page = opened(window, shown[0])
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper = brightness(page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor"))
    assert paper < 0.2 if dark else paper > 0.9


def test_the_pictures_in_the_documentation_look_like_it(chromium: Any, tmp_path: Path) -> None:
    """By patches of 31 by 44 pixels: releases are random, and move the line by a pixel or two."""
    program = ROOT / "benchmarks" / "live_page_picture.py"
    done = subprocess.run([sys.executable, str(program), "--output", str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("live-page.png", "live-page-dark.png"):
        pair = (Image.open(folder / name).convert("RGB").resize((32, 20)) for folder in (tmp_path, IMAGES))
        patches = ImageChops.difference(*pair).get_flattened_data()
        assert sum(max(patch) > 40 for patch in patches) / (32 * 20) < 0.10, name
