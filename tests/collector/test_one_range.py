"""Value and limits of every release live in one range: what the statistic can be, given what is public."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

import pytest

import stablesketch as ss
from stablesketch.statistic import STATISTICS, Known, Statistic

MECHANISMS = ("sketch", "exact", "bare")
ORDERS = {"profile": ([0, 0.4],), **dict.fromkeys(("shannon", "distinct", "total", "simpson", "hhi"), ())}
STREAMS = {
    "none": [],
    "one": [7],
    "two of a kind": [7, 7],
    "all of one key": [7] * 300,
    "every key once": list(range(300)),
    "some": [i * i % 37 for i in range(300)],
}


def statistics() -> list[Statistic]:
    """Every one that exists."""
    return [kind(*ORDERS.get(name, (0.4,))) for name, kind in STATISTICS.items()]


def releases(statistic: Statistic) -> Iterator[tuple[str, ss.Release, tuple[float, float]]]:
    """Every stream under every relation, unit and mechanism that there is a plan for; with much noise."""
    for relation, unit, mechanism in itertools.product(("replace", "add_remove"), ("pair", "key"), MECHANISMS):
        privacy = ss.Privacy(0.5, 1e-6, 0, 5, relation, unit=unit)  # type: ignore[arg-type]
        size = None if mechanism == "exact" else 64
        try:
            plan = ss.plan(statistic, privacy, size=size, mechanism=mechanism)  # type: ignore[arg-type]
        except (ss.PlanInfeasible, ss.ArgumentError):
            continue
        for (name, stream), secret in itertools.product(STREAMS.items(), range(2)):
            keys = stream if unit == "pair" else sorted(set(stream))
            collector = plan.open(ss.Secret.from_bytes(bytes([secret]) * 32))
            if keys:
                collector.update(keys, [1 + key % 5 for key in keys])
            yield f"{name}, {privacy}, {mechanism}", collector.release(), plan.range(len(keys))


@pytest.mark.parametrize("statistic", statistics(), ids=str)
def test_low_value_and_high_are_in_order_and_in_range(statistic: Statistic) -> None:
    """No chance is involved: it holds for every secret and every draw of noise."""
    tried = 0
    for told, found, (least, most) in releases(statistic):
        for each in (found, *found.points):
            assert least <= each.low <= each.value <= each.high <= most, (told, found)
            assert math.isfinite(each.high), told
        assert ss.Release.from_json(found.to_json()) == found
        tried += 1
    assert tried or isinstance(statistic, ss.Shannon)  # which needs a promise: see below


def test_shannon_and_a_sample_are_in_range_too() -> None:
    shannon = ss.plan(ss.Shannon(), ss.Privacy(5.0, 1e-6, 300, relation="replace"), size=5, mechanism="bare")
    sampled = ss.plan(
        ss.Moment(0.4), ss.Privacy(5.0, 1e-6, 300, relation="replace"), size=20, sampling=0.3, mechanism="bare"
    )
    for plan, keys, secret in itertools.product((shannon, sampled), ([7] * 300, list(range(300))), range(20)):
        collector = plan.open(ss.Secret.from_bytes(bytes([secret]) * 32))
        collector.update(keys)
        found, (least, most) = collector.release(), plan.range(300)
        assert least <= found.low <= found.value <= found.high <= most


def test_what_was_seen_before() -> None:
    """One pair has F_p = 1, and 200 pairs have at most 200 keys: value and limits say so."""
    for secret in range(10):
        held = [ss.Secret.from_bytes(bytes([secret, i]) * 16) for i in range(2)]
        one = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 1, relation="replace"), size=20, mechanism="bare").open(
            held[0]
        )
        one.update([1])
        found = one.release()
        assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)
        keys = ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-9, 200, relation="replace"), size=64, mechanism="bare").open(
            held[1]
        )
        keys.update(list(range(200)))
        assert keys.release().value <= 200.0


RANGES = {
    "nothing is known": (Known(), [(0, math.inf), (0, math.inf), (0, math.inf), (1, math.inf)]),
    "ten pairs up to 9": (Known(10, 10, 0, 9), [(10**0.5, 30), (10, 90), (1, 10), (1, 10)]),
    "ten keys up to 9": (Known(10, 10, 0, 9, True), [(10, 30), (10, 90), (10, 10), (1, 10)]),
    "a promised total": (
        Known(10, math.inf, 400, 100),
        [(20, math.inf), (400, math.inf), (1, math.inf), (1, math.inf)],
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges_by_hand(name: str) -> None:
    known, expected = RANGES[name]
    for statistic, limits in zip((ss.Moment(0.5), ss.Total(), ss.Distinct(), ss.Hill(0.5)), expected, strict=True):
        assert statistic.range(known) == pytest.approx(limits)


def test_json_of_a_release_about_people_is_read() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, relation="add_remove"), mechanism="exact")
    found = dataclasses.replace(plan.open().release(), person=True)
    assert ss.Release.from_json(found.to_json()) == found
    with pytest.raises(ss.BlobError, match="person must be true"):
        ss.Release.from_json(found.to_json().replace('"person": true', '"person": false'))
