"""Windows that may have no rows say so, by what was released of them alone, and their intervals claim nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from monitor_tools import JSON

import stablesketch as ss
from stablesketch.collector.releasing import released
from stablesketch.monitor import Watch
from stablesketch.monitor.records import window_record
from stablesketch.monitor.windows import Windows
from stablesketch.plan.mechanism import charge_of
from stablesketch.privacy import discrete_laplace
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
        found.append(json.loads(window_record("m", number, asked, number, released([collector], asked.terms))))
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
    (release,) = released([collector], asked.terms)
    with_total = len(drawn)
    assert release.total is not None
    assert drawn.count((release.total.scale, int(release.total.value) - 1_200)) == 1
    parts = charge_of(asked.plans[0]).parts or (charge_of(asked.plans[0]),)
    assert [each.distance for each in parts if release.total.scale == each.distance / each.epsilon] == [15]
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
