"""The JSON of a release is JSON: what is beyond the largest float is null."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.statistic.published import NoisyTotal, Point

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
        replace(PLAIN, total=NoisyTotal(-3.0, 10.0)),
        replace(PLAIN, value=math.inf, low=math.inf, high=math.inf),
        replace(PLAIN, points=(Point(0.0, 2.0, 1.0, math.inf, 1.0, math.inf), Point(1.0, 2.0, 1.0, 3.0))),
    ],
    ids=["finite", "high", "total", "all", "points"],
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


@pytest.mark.parametrize(
    ("unit", "protects"),
    [("pair", "add_remove"), ("key", "add_remove of keys"), ("individual", "add_remove of individuals")],
)
def test_what_is_protected_is_in_the_json(unit: str, protects: str, tmp_path: Path) -> None:
    """Read as a row protected, a release of individuals would claim too much, and go into a ledger of pairs."""
    plan = ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-6, unit=unit), mechanism="exact")  # type: ignore[arg-type]
    collector = plan.open()
    collector.update(["a", "b"])
    release = collector.release()
    assert json.loads(release.to_json())["unit"] == unit
    assert ss.Release.from_json(release.to_json()) == release
    assert release.protects == protects
    assert f", {protects})" in str(release)
    books = ss.Ledger(tmp_path / "l.db", epsilon=3.0, delta=1e-5, relation="add_remove")
    read = ss.Release.from_json(release.to_json())
    if unit == "pair":
        books.charge(release=read)
        return
    with pytest.raises(ss.UnitMismatch):
        books.charge(release=read)


def test_older_json_does_not_say_the_unit_and_stays_as_it_was() -> None:
    text = PLAIN.to_json()
    assert "unit" not in json.loads(text)
    assert ss.Release.from_json(text).unit is None
    assert ss.Release.from_json(text).to_json() == text
    assert replace(PLAIN, person=True).protects == "add_remove of people"
    with pytest.raises(ss.BlobError, match="unit of the release must be one of pair, key, individual"):
        ss.Release.from_json(json.dumps({**json.loads(text), "unit": "row"}))
