"""Report and pictures in a real browser: no complaint, nothing fetched, dark and light, on paper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser_helpers import Window, brightness
from outcomes import outcome_of

import stablesketch as ss
from stablesketch.pictures import picture_bytes, release_picture
from stablesketch.release.outcome import GroupRelease
from stablesketch.release.shares import Share
from stablesketch.report import Context, Named, report_page
from stablesketch.statistic import Subject

pytestmark = pytest.mark.slow

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs_per_person=5), size=50)


def released(value: float) -> ss.Release:
    return ss.Release(
        value, 0.8 * value, 1.2 * value, 0.95, "F_0.5", 0.5, PLAN.epsilon, PLAN.delta, "add_remove", None, 5, 1,
        "sketch", 50, PLAN.floor,
    )  # fmt: skip


GROUPS = [GroupRelease((name,), released(value)) for name, value in (("FR", 900.0), ("DE <b>", 1_200.0), ("MT", 20.0))]
PROFILE_PLAN = ss.plan(ss.Profile([0.25, 0.5]), ss.Privacy(1.0, 1e-6, relation="replace"), size=50)
PROFILE = replace(
    released(900.0), statistic=str(PROFILE_PLAN.statistic), relation="replace", pairs=100_000,
    points=(ss.Point(0.25, 900.0, 720.0, 1_080.0), ss.Point(0.5, 70.0, 50.0, 90.0)),
)  # fmt: skip


@pytest.fixture(params=["one", "groups", "profile", "profiles"])
def report(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    profiles = [GroupRelease((name,), profile_of(value)) for name, value in (("FR", 900.0), ("a long name", 1_200.0))]
    releases = {"one": [released(5_000.0)], "groups": GROUPS, "profile": [PROFILE], "profiles": profiles}[request.param]
    plan = {"profile": PROFILE_PLAN, "profiles": PROFILES_PLAN}.get(request.param, PLAN)
    grouped = request.param in ("groups", "profiles")
    outcome = outcome_of(plan, releases, grouped=grouped)
    path = tmp_path / "report.html"
    path.write_text(report_page(outcome, Context("2026-03-02", "0.1.0", Subject("app", person=True), by="country")))
    return path


def printed_pages(page: Any) -> int:
    """On A4, as a browser prints it."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4", prefer_css_page_size=True)))


PROFILES_PLAN = ss.plan(ss.Profile([0, 0.5, 1, 2]), ss.Privacy(1.0, 1e-6, pairs_per_person=5))


def profile_of(value: float) -> ss.Release:
    points = (
        ss.Point(q, v, 0.8 * v, 1.2 * v) for q, v in ((0.0, value), (0.5, value / 2), (1.0, value / 4), (2.0, 9.0))
    )
    return replace(released(value), statistic=str(PROFILES_PLAN.statistic), points=tuple(points))


@pytest.mark.parametrize(("plan", "own"), [(PLAN, released), (PROFILES_PLAN, profile_of)], ids=["numbers", "profiles"])
def test_twelve_groups_print_on_two_pages(
    window: Window, tmp_path: Path, plan: ss.Plan, own: Callable[[float], ss.Release]
) -> None:
    """Of a table whose names were chosen privately, of people: the page with the most sentences."""
    groups = [GroupRelease((f"country {i}",), own(900.0 - 50.0 * i)) for i in range(12)]
    shares = (Share("max_value", 0.1, 1e-7), Share("names", 0.1, 1e-7), Share("values", 0.8, 8e-7))
    outcome = outcome_of(plan, groups, grouped=True, shares=shares)
    subject, named = Subject("app", noun="apps", person=True), Named("Apps in use", "October 2026", "monthly table")
    path = tmp_path / "report.html"
    path.write_text(
        report_page(
            outcome,
            Context("2026-03-02", "0.1.0", subject, "country", ledger="It is recorded. " * 6, named=named),
        )
    )
    page = window.open(path)
    page.emulate_media(media="print")
    assert printed_pages(page) == 2


def test_its_attachments_are_saved_as_files(window: Window, report: Path) -> None:
    page = window.open(report)
    for name in ("release.json", "plan.json"):
        with page.expect_download() as saving:
            page.get_by_role("link", name=name).click()
        assert saving.value.suggested_filename == name
        assert json.loads(Path(saving.value.path()).read_text())
    assert window.complaints == []


def test_the_report_opens_without_a_complaint(window: Window, report: Path) -> None:
    page = window.open(report)
    assert page.title().startswith("How varied are the values of app")
    headings = page.locator("h2").all_inner_texts()
    assert headings == [
        "What it cost", "What is protected, and what is not", "What was asked", "How it was computed", "How to verify",
    ]  # fmt: skip
    assert page.locator("figure svg").bounding_box()["width"] > 500
    assert window.complaints == []
    assert window.requests == [report.as_uri()]


def test_it_is_dark_where_the_reader_wants_it_and_light_on_paper(window: Window, report: Path) -> None:
    page = window.open(report)

    def colours() -> tuple[float, float]:
        body = page.locator("body")
        found = [body.evaluate(f"e => getComputedStyle(e).{name}") for name in ("backgroundColor", "color")]
        return brightness(found[0]), brightness(found[1])

    wants_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper, ink = colours()
    assert (paper < 0.2 and ink > 0.8) if wants_dark else (paper > 0.9 and ink < 0.2)
    page.emulate_media(media="print")
    paper, ink = colours()
    assert paper == 1.0
    assert ink == 0.0
    assert printed_pages(page) <= 2


@pytest.mark.parametrize("width", [360, 1000])
def test_nothing_runs_over_the_edge(window: Window, report: Path, width: int) -> None:
    window.page.set_viewport_size({"width": width, "height": 800})
    page = window.open(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_a_picture_that_can_be_read_and_commands_that_can_be_typed(window: Window, report: Path) -> None:
    """The type of the picture is at least 10 pixels high: it scrolls. No option is broken after a hyphen."""
    for width in (360, 1000):
        window.page.set_viewport_size({"width": width, "height": 800})
        page = window.open(report)
        drawn = page.locator("figure svg").evaluate("svg => svg.viewBox.baseVal.width")
        assert 13.0 * page.locator("figure svg").bounding_box()["width"] / drawn >= 10.0
        words = page.locator("pre .unbroken")
        assert "--relation" in words.all_inner_texts()
        assert set(words.evaluate_all("words => words.map(word => word.getClientRects().length)")) == {1}


def test_names_of_groups_are_text(window: Window, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(report_page(outcome_of(PLAN, GROUPS, grouped=True), Context("2026-03-02", "0.1.0", Subject())))
    page = window.open(path)
    assert page.locator("tbody.named th").all_inner_texts() == ["DE <b>", "FR", "MT"]


def test_a_complaint_would_be_noticed(window: Window, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    path.write_text("<script>console.error('one'); fetch('http://127.0.0.1:9/'); null.two</script>")
    window.open(path).wait_for_timeout(200)
    assert any("one" in complaint for complaint in window.complaints)
    assert any("null" in complaint for complaint in window.complaints)
    assert "http://127.0.0.1:9/" in window.requests


def test_a_picture_as_a_page(window: Window, tmp_path: Path) -> None:
    path = tmp_path / "groups.html"
    path.write_bytes(picture_bytes(release_picture(GROUPS), path, "Groups", "Three groups"))
    page = window.open(path)
    assert page.get_by_role("img", name="Three groups").is_visible()
    for width in (360, 1000, 1800):
        window.page.set_viewport_size({"width": width, "height": 800})
        heading, figure = (page.locator(name).bounding_box() for name in ("h1", "figure"))
        assert heading["x"] == pytest.approx(figure["x"], abs=0.5), width
    assert window.complaints == []
    assert window.requests == [path.as_uri()]
