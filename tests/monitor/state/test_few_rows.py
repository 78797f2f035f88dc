"""Windows that may have no rows say so, by what was released of them alone, and their intervals claim nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from monitor_tools import JSON, at, run

import stablesketch as ss
from stablesketch.monitor import Watch
from stablesketch.monitor.state.records import window_record
from stablesketch.monitor.windows import Windows
from stablesketch.plan.mechanism import charge_of
from stablesketch.privacy import discrete_laplace
from stablesketch.release.publish import Till, publish_side_by_side
from stablesketch.secret import Secret

SHARES = [ss.Hill(0.5), ss.Shannon(), ss.Hill(1.0), ss.Renyi(0.5), ss.Profile((0.5, 1.0, 2.0))]


def records(statistic: ss.Statistic, rows: int, windows: int, mechanism: Any = "sketch") -> list[dict[str, Any]]:
    """Of windows with so many rows of 50 keys, under fixed secrets."""
    asked = Watch.of([statistic], 1.0, 1e-9, JSON, Windows(60, 10), mechanism=mechanism)
    found = []
    for number in range(windows):
        secret = Secret.from_bytes(number.to_bytes(32, "big"))
        collector = asked.plans[0].open(secret)
        if rows:
            collector.update([f"k{i % 50}" for i in range(rows)])
        releases = publish_side_by_side(asked.decisions, [collector], Till())
        found.append(json.loads(window_record("m", number, asked, number, releases)))
    return found


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("statistic", SHARES, ids=str)
def test_an_empty_window_has_few_rows_and_a_wide_interval(statistic: ss.Statistic, mechanism: str) -> None:
    """One of 1,000 empty windows is taken for one with rows: of 30, fewer than 2 but with probability 4e-4."""
    found = records(statistic, 0, 30, mechanism)
    assert sum(each["few_rows"] for each in found) >= 29
    for each in found:
        (release,) = each["releases"]
        assert release["total"]["scale"] > 0.0
        if each["few_rows"]:
            reach = math.log(20.0) * release["total"]["scale"]
            for point in release.get("points") or [release]:
                least, most = statistic.points[0].range()[0], math.log(reach)
                assert point["low"] == least
                assert point["high"] >= (math.exp(most) if least == 1.0 else most) * (1 - 1e-9)


@pytest.mark.parametrize("statistic", [*SHARES, ss.Moment(0.5)], ids=str)
def test_a_window_with_rows_is_left_as_it_was_released(statistic: ss.Statistic) -> None:
    """5,000 rows, and noise of a scale of 20 or less: none is taken for an empty one but with probability e^-200."""
    assert not any(each["few_rows"] for each in records(statistic, 5_000, 3))


def test_the_total_is_what_the_value_was_computed_from() -> None:
    """At ε = 1 the total of a Hill number has noise of scale 10, and is 5,000 within 200 but with probability 1e-8."""
    (each,) = records(ss.Hill(0.5), 5_000, 1)
    total = each["releases"][0]["total"]
    assert total["scale"] == pytest.approx(10.0)
    assert abs(total["value"] - 5_000.0) < 200.0


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("statistic", [*SHARES, ss.Moment(1.0), ss.Tsallis(2.0)], ids=str)
def test_the_total_is_paid_for_and_drawn_once(
    statistic: ss.Statistic, mechanism: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the draws that the value was computed from is the noise of the total, on its scale; and one part of what
    is charged is that of a number that neighbours change by c M, with this noise."""
    drawn: list[tuple[float, int]] = []

    def sample(scale: Fraction, below: discrete_laplace.Below) -> int:
        drawn.append((float(scale), draw(scale, below)))
        return drawn[-1][1]

    draw = discrete_laplace.sample
    monkeypatch.setattr(discrete_laplace, "sample", sample)
    fields = replace(JSON, value="v", max_value=5, person="u")
    asked = Watch.of(
        [statistic], 0.7, 1e-9, fields, Windows(60, 10), mechanism=mechanism, protect="person-window",
        pairs_per_person=3,
    )  # fmt: skip
    collector = asked.plans[0].open()
    collector.update([f"k{i % 50}" for i in range(400)], [1 + i % 5 for i in range(400)])
    (release,) = publish_side_by_side(asked.decisions, [collector], Till())
    with_total = len(drawn)
    assert release.total is not None
    assert drawn.count((release.total.scale, int(release.total.value) - 1_200)) == 1
    charges = charge_of(asked.plans[0]).charges or (charge_of(asked.plans[0]),)
    noisy = [each for each in charges if each.epsilon]  # a charge that costs δ alone has no noise
    assert [each.distance for each in noisy if release.total.scale == each.distance / each.epsilon] == [15]
    asked.plans[0].open().release()
    assert len(drawn) == 2 * with_total  # no draw is for the total alone


@pytest.mark.parametrize("statistic", [ss.Distinct(), ss.Moment(0.5), ss.Hill(0.0)], ids=str)
def test_without_a_total_it_is_the_interval_that_reaches_nothing(statistic: ss.Statistic) -> None:
    """2.5% of intervals miss nothing: of 20 empty windows 6 or more with probability 5e-6."""
    found = records(statistic, 0, 20)
    assert sum(each["few_rows"] for each in found) >= 15
    assert all("total" not in each["releases"][0] for each in found)


def test_no_other_release_has_the_total() -> None:
    collector = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-9)).open()
    collector.update(["a"])
    assert collector.release().total is None


def test_the_ledger_has_what_the_record_shows(tmp_path: Path) -> None:
    """A window is published once: its limits are made wide with the release, not in the record alone."""
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=9.0, delta=1e-6)
    asked = Watch.of([ss.Hill(0.5), ss.Profile((0.5, 1.0, 2.0))], 1.0, 1e-9, JSON, Windows(60, 10))
    found, _ = run(asked, [at(0), at(75)], ledger=ledger)
    windows = [each["releases"] for each in found if "releases" in each]
    assert len(windows) >= 2
    for own, profile in windows:
        for release in (own, profile):
            recorded = ledger.published(release["record"])
            assert recorded is not None
            assert json.loads(recorded) == release
        assert own["low"] == 1.0
        assert {point["low"] for point in profile["points"]} == {1.0}


def test_each_release_of_a_window_is_judged_by_its_own_total() -> None:
    """Its limits are a function of what it publishes. Of 60 windows of 60 rows, a total cannot be
    distinguished from 0 with probability 0.63: all would be alike under other secrets with a probability below 1e-11.
    """
    asked = Watch.of([ss.Hill(0.5), ss.Shannon()], 2.0, 1e-9, JSON, Windows(60, 10))
    seen = set()
    for number in range(60):
        secrets = [Secret.from_bytes(number.to_bytes(31, "big") + bytes([place])) for place in range(2)]
        collectors = [plan.open(secret) for plan, secret in zip(asked.plans, secrets, strict=True)]
        for collector in collectors:
            collector.update([f"k{i}" for i in range(60)])
        releases = publish_side_by_side(asked.decisions, collectors, Till())
        for statistic, release in zip((ss.Hill(0.5), ss.Shannon()), releases, strict=True):
            assert release.total is not None
            few = release.total.value < 1.0 + math.log(500.0) * release.total.scale
            assert not few or release.low == statistic.range()[0]
            seen.add((str(statistic), few))
    assert (str(ss.Hill(0.5)), True) in seen
    assert (str(ss.Hill(0.5)), False) in seen
