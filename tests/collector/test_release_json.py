"""The JSON of a release is JSON: what is beyond the largest float is null."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import stablesketch as ss
from stablesketch.published import Point

PLAIN = ss.Release(
    value=2.0, low=1.0, high=3.0, confidence=0.95, statistic="Renyi", p=0.5, epsilon=1.0, delta=1e-9,
    relation="add_remove", pairs=None, pairs_per_person=1, max_value=1, mechanism="sketch", size=50, floor=0.0,
)  # fmt: skip


def no_constant(name: str) -> float:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize(
    "release",
    [
        PLAIN,
        replace(PLAIN, high=math.inf),
        replace(PLAIN, value=math.inf, low=math.inf, high=math.inf),
        replace(PLAIN, points=(Point(0.0, 2.0, 1.0, math.inf, 1.0, math.inf), Point(1.0, 2.0, 1.0, 3.0))),
    ],
    ids=["finite", "high", "all", "points"],
)
def test_infinite_limits_are_null_and_are_read_as_both(release: ss.Release) -> None:
    text = release.to_json()
    json.loads(text, parse_constant=no_constant)
    assert ss.Release.from_json(text) == release
    limits = ("value", "low", "high", "band_low", "band_high")
    before = text
    for name in limits:
        before = before.replace(f'"{name}": null', f'"{name}": Infinity')
    assert ss.Release.from_json(before) == release
