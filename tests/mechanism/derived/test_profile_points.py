"""Released profiles fall, stay near what was measured, and have a band that holds everything at once."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import stablesketch as ss
from stablesketch.mechanism.derived.profile_points import each_confidence, falling, profile_points

VALUES = st.lists(st.floats(1.0, 1e12), min_size=1, max_size=8)


@given(VALUES, st.data())
def test_the_nearest_falling_curve(values: list[float], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(values), max_size=len(values)))
    found = falling(values, weights)
    assert all(left >= right * (1 - 1e-12) for left, right in itertools.pairwise(found))
    assert min(values) * (1 - 1e-12) <= min(found)
    assert max(found) <= max(values) * (1 + 1e-12)
    if values == sorted(values, reverse=True):
        assert found == values
    # Nearest: no falling curve of block means that was drawn at random is nearer.
    logs, weight = np.log(values), np.array(weights)
    own = float(weight @ (np.log(found) - logs) ** 2)
    cuts = data.draw(st.lists(st.floats(1.0, 1e12), min_size=len(values), max_size=len(values)))
    other = np.log(sorted(cuts, reverse=True))
    assert own <= float(weight @ (other - logs) ** 2) * (1 + 1e-9) + 1e-9


def test_the_band_holds_all_truths_wherever_all_limits_do() -> None:
    """Simulated limits of independent orders, fixed seed: of 4,000 bands 95% or more hold; by chance fewer than 94.0%
    would with probability below 1e-3 if just 95% did."""
    generator = np.random.default_rng(5)
    truth = np.array([100.0, 90.0, 85.0, 20.0])
    deviation = np.array([0.05, 0.1, 0.2, 0.02])
    held = alone = 0
    for _ in range(4_000):
        logs = np.log(truth) + deviation * generator.standard_normal(4)
        limits = [
            [
                (float(np.exp(v)), float(np.exp(v - z * d)), float(np.exp(v + z * d)))
                for v, d in zip(logs, deviation, strict=True)
            ]
            for z in (1.959964, 2.497705)  # 95%, and 1 - 5%/4
        ]
        points = profile_points([0.0, 0.5, 1.0, 2.0], *limits)
        held += all(p.band_low <= t <= p.band_high for p, t in zip(points, truth, strict=True))  # type: ignore[operator]
        alone += all(p.low <= t <= p.high for p, t in zip(points, truth, strict=True))
        for point in points:
            assert point.low <= point.value <= point.high
            assert point.band_low <= point.value <= point.band_high  # type: ignore[operator]
    assert held >= 0.940 * 4_000
    assert alone < held  # pointwise limits promise less


def test_a_released_profile_falls_and_is_read_back() -> None:
    plan = ss.plan(ss.Profile([0, 0.5, 0.75]), ss.Privacy(1.0, 1e-9), size=(64, 20, 0, 20))
    collector = plan.open(ss.Secret.from_bytes(bytes(range(32))))
    collector.update(np.arange(3_000) % 300)
    release = collector.release()
    values = [point.value for point in release.points]
    assert values == sorted(values, reverse=True)
    assert ss.Release.from_json(release.to_json()) == release
    assert each_confidence(0.95, 5) == 0.99


def test_an_order_that_noise_carried_away_leaves_the_others_where_they_are() -> None:
    """Both its limits are then at the end of what can be, and meet: as narrow as they look, they know nothing."""
    good, lost = (1_000.0, 960.0, 1_040.0), (9e15, 9e15, 9e15)
    first, second = profile_points([0.0, 1.0], [good, lost], [good, lost])
    assert abs(first.value / 1_000.0 - 1.0) < 1e-3
    assert second.value == first.value
