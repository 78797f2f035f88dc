"""The planner page, used as people use it: by mouse, by keyboard, and when the program behind it has gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from browser_helpers import Window
from served import served

import stablesketch as ss
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.planner_page import PlannerServer
from stablesketch.statistic import STATISTICS
from stablesketch.text.spoken import at_most

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[PlannerServer]:
    with served() as server:
        yield server


def settled(page: Any) -> None:
    page.wait_for_selector("body:not(.waiting)", timeout=60_000)


def shown(page: Any, name: str) -> str:
    return str(page.locator(f"#{name}").inner_text())


def test_it_shows_the_plan_of_the_library(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    plan = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-9), memory="256K")
    assert shown(page, "error") == f"{plan.statistic}: error {mechanism_of(plan).error_in_words(plan)}"
    assert shown(page, "price") == f"ε = {at_most(plan.epsilon)}, δ = 1e-09"
    assert f"{plan.bytes:,}" in shown(page, "bytes")
    page.locator("summary").click()
    assert shown(page, "table") == str(plan)
    assert "paper" not in page.locator("main").inner_text()
    assert window.complaints == []
    assert all(request.startswith(f"http://127.0.0.1:{server.server_port}/") for request in window.requests)


def test_every_slider_moves_by_keyboard_and_changes_the_command(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    page.get_by_label("people").check()
    page.locator("#groups").select_option("public")
    settled(page)
    for name in ("max_value", "pairs_per_person", "groups_per_person", "epsilon", "delta"):
        before, command = shown(page, f"{name}-shown"), shown(page, "command")
        page.locator(f"#{name}").focus()
        page.keyboard.press("ArrowRight")
        settled(page)
        assert shown(page, f"{name}-shown") != before, name
        assert shown(page, "command") != command, name
        assert page.locator(f"#{name}").get_attribute("aria-valuetext") == shown(page, f"{name}-shown")
    command = shown(page, "command")
    page.get_by_label("pairs in the stream").fill("0")
    settled(page)
    assert (shown(page, "pairs-shown"), page.locator("#bars").is_visible()) == ("none", False)
    assert shown(page, "command") == command  # the plan holds for any stream
    assert window.complaints == []


def test_the_command_is_broken_at_spaces_alone(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    for width in range(320, 1400, 60):
        page.set_viewport_size({"width": width, "height": 800})
        lines = "word => word.getClientRects().length"
        assert set(page.locator("#command .unbroken").evaluate_all(f"words => words.map({lines})")) == {1}, width
        assert page.locator("#command").evaluate("shown => shown.scrollWidth <= shown.clientWidth"), width
    assert " --order 0.5" in str(page.locator("#command").text_content())


def test_the_tab_key_reaches_everything_in_order(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    order = []
    for _ in range(13):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert order == [
        "statistic", "hill-order", "max_value", "groups", "people", "relation", "pairs_per_person", "epsilon", "delta",
        "mechanism", "memory", "pairs", "copy",
    ]  # fmt: skip


def test_every_statistic_and_mechanism_can_be_chosen(window: Window, server: PlannerServer) -> None:
    """What cannot be planned is said; every other choice has a command."""
    page = window.open(server.url)
    settled(page)
    offered = [kind.name for kind in STATISTICS.values() if kind.on_command_line]
    assert page.locator("#statistic option").all_inner_texts() == offered
    for name in offered:
        page.locator("#statistic").select_option(name)
        settled(page)
        assert page.locator(".option:visible").count() == len(STATISTICS[name].arguments)
        assert not page.locator("#problem").is_visible(), name
        assert f"--statistic {name}" in shown(page, "command") or STATISTICS[name].usual or STATISTICS[name].by_option
    for name in ("exact", "bare", "sketch"):
        page.locator("#mechanism").select_option(name)
        settled(page)
        assert page.locator("#problem").is_visible() or (f"--mechanism {name}" in shown(page, "command")) == (
            name != "sketch"
        )
    assert window.complaints == []


def test_it_says_which_scale_its_bars_have(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)

    def lengths() -> list[float]:
        return [page.locator(f"#{name}-bar").bounding_box()["width"] for name in ("sketch", "exact")]

    assert "if all keys differ. If one key holds everything: sketch 18%, exact" in shown(page, "scale")
    assert "Bars are logarithmic" in shown(page, "scale")
    page.get_by_label("pairs in the stream").fill("3")
    settled(page)
    sketch, exact = (float(shown(page, f"{name}-value").rstrip("%")) for name in ("sketch", "exact"))
    assert shown(page, "scale").endswith("Bars start at 0.")
    assert lengths()[0] / lengths()[1] == pytest.approx(sketch / exact, rel=0.02)


def test_the_command_is_copied(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    settled(page)
    page.get_by_role("button", name="copy").click()
    page.get_by_role("button", name="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == shown(page, "command")
    assert copied.startswith("stablesketch release data.csv --key key ")


@pytest.mark.parametrize("width", [360, 1000])
def test_nothing_runs_over_the_edge(window: Window, server: PlannerServer, width: int) -> None:
    window.page.set_viewport_size({"width": width, "height": 800})
    page = window.open(server.url)
    settled(page)
    page.locator("#groups").select_option("private")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_when_the_program_has_ended_the_page_says_so(window: Window) -> None:
    with PlannerServer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        page = window.open(server.url)
        settled(page)
        server.shutdown()
        thread.join()
    page.get_by_role("textbox", name="order").fill("0.75")
    settled(page)
    assert "has ended" in shown(page, "problem")
