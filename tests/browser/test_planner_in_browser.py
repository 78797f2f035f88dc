"""The planner page, used as people use it: by mouse, by keyboard, and when the program behind it has gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from browser_helpers import Window
from served import served

import stablesketch as ss
from stablesketch.planner_page import PlannerServer
from stablesketch.spoken import at_most

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
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9))
    noise = f"± {2**0.5 * plan.noise:.3g}"
    assert shown(page, "error") == f"{100 * plan.error:.3g}% and {noise}"
    assert shown(page, "noise-value") == noise
    assert shown(page, "exact-value") == "± 1.41"
    assert f"b = {at_most(plan.noise, 3)}, in units of F_0.5" in shown(page, "scale")
    assert shown(page, "epsilon-value") == at_most(plan.epsilon, 3)
    assert shown(page, "paper-value") == f"{ss.paper.epsilon(10**6, 2**20, 1, 0.5, plan.size):,.0f}"
    assert "at least 1,000" in shown(page, "least")
    assert f"{plan.bytes:,}" in shown(page, "bytes")
    assert window.complaints == []
    assert all(request.startswith(f"http://127.0.0.1:{server.server_port}/") for request in window.requests)


def test_every_slider_moves_by_keyboard_and_changes_the_plan(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    for name in ("p", "max_value", "epsilon", "delta", "size", "pairs_per_person"):
        before, command = shown(page, f"{name}-shown"), shown(page, "command")
        page.locator(f"#{name}").focus()
        page.keyboard.press("ArrowRight")
        settled(page)
        assert shown(page, f"{name}-shown") != before, name
        assert shown(page, "command") != command, name
        assert page.locator(f"#{name}").get_attribute("aria-valuetext") == shown(page, f"{name}-shown")
    command = shown(page, "command")
    page.get_by_label("pairs n, a guess").fill("0")
    settled(page)
    assert (shown(page, "pairs-shown"), shown(page, "least")) == ("none", "")
    assert shown(page, "command") == command  # the plan holds for any stream
    assert window.complaints == []


def test_the_tab_key_reaches_everything_in_order(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    order = []
    for _ in range(8):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert order == ["p", "max_value", "relation", "pairs_per_person", "epsilon", "delta", "size", "pairs"]


def test_clicking_through_it(window: Window, server: PlannerServer) -> None:
    page = window.open(server.url)
    settled(page)
    page.get_by_label("what a pair is").check()
    settled(page)
    assert "relation replace" in shown(page, "command")
    page.get_by_label("pairs of one person").fill("20")
    settled(page)
    assert shown(page, "paper-value") == "none"
    assert shown(page, "exact-value") == "± 28.3"
    page.get_by_label("order p").fill("1")
    settled(page)
    assert "the total: one counter" in shown(page, "error-at")
    assert not page.locator("#problem").is_visible()
    assert window.complaints == []


def test_the_command_that_is_shown_is_the_plan(window: Window, server: PlannerServer, capsys: Any) -> None:
    import shlex

    from stablesketch.cli.app import run

    page = window.open(server.url)
    settled(page)
    assert run(shlex.split(shown(page, "command"))[1:]) == 0
    error, noise = shown(page, "error").split(" and ")
    printed = capsys.readouterr().out
    assert f"error      {error} of F_0.5 if no key dominates" in printed
    assert f", and {noise}\n" in printed


def test_when_the_program_has_ended_the_page_says_so(window: Window) -> None:
    with PlannerServer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        page = window.open(server.url)
        settled(page)
        server.shutdown()
        thread.join()
    page.get_by_label("order p").fill("0.75")
    settled(page)
    assert "has ended" in shown(page, "problem")
