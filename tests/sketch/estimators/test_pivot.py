"""The law of ln(F_hat/F), far into its tails, against plain simulation: counting, which the library does not do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.sketch.estimators import METHODS
from stablesketch.sketch.estimators.pivot import pivot_law


def pivots(method: str, p: float, size: int, sketches: int) -> np.ndarray:
    """ln F_hat of sketches with F = 1."""
    rng, law = np.random.default_rng([size, sketches]), ss.StableLaw(p)
    parts = []
    for _ in range(sketches // 20_000):
        parts.append(METHODS[method](*law.sample_logs((20_000, size), rng), p))
    return np.concatenate(parts)


def check_tails(method: str, p: float, size: int, sketches: int, confidence: float, blur: float = 0.0) -> None:
    """Each tail holds what is left of the confidence: 10% less or 7% more at most, and five deviations of the count."""
    drawn = pivots(method, p, size, sketches)
    drawn += blur * (np.random.default_rng(1).random(sketches) - 0.5)
    low, high = pivot_law(METHODS[method], p, size).limits(confidence, blur)
    expected = 0.5 * (1.0 - confidence) * sketches
    for found in (np.count_nonzero(drawn < low), np.count_nonzero(drawn > high)):
        assert 0.9 * expected - 5.0 * math.sqrt(expected) < found < 1.07 * expected + 5.0 * math.sqrt(expected)


@pytest.mark.parametrize(("p", "size"), [(0.5, 5), (1.0, 50)])
def test_tails_are_those_of_a_simulation(p: float, size: int) -> None:
    """At 99.9%, of 400,000 sketches 200 are in each tail. False alarm below 1e-5."""
    check_tails("geometric_mean", p, size, 400_000 if size == 5 else 100_000, 0.999)


def test_a_blur_widens_them_as_rounding_does() -> None:
    """A grid of two deviations, 0.8, with a random offset: the limits are not scaled, but those of the sum."""
    check_tails("geometric_mean", 0.5, 20, 200_000, 0.99, blur=0.8)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "size"), [(0.05, 20), (0.5, 5), (1.0, 5)])
def test_tails_of_the_default_estimator(p: float, size: int) -> None:
    """At 99.9% of 100,000 sketches 50 are in each tail. False alarm below 1e-4."""
    check_tails("pitman", p, size, 100_000, 0.999)


def test_a_normal_law_at_large_sizes() -> None:
    """2,000 entries, one in 10^6 either way: nearly sqrt(V/size) times 4.75 from nearly -V/(2 size)."""
    deviation = math.sqrt(2.0 / 2_000)
    low, high = pivot_law(METHODS["pitman"], 1.0, 2_000).limits(1.0 - 2e-6)
    assert -low == pytest.approx(4.75 * deviation, rel=0.04)
    assert high == pytest.approx(4.75 * deviation, rel=0.04)


def test_limits_widen_with_confidence() -> None:
    law = pivot_law(METHODS["pitman"], 0.5, 50)
    limits = [law.limits(confidence) for confidence in (0.5, 0.95, 0.999, 0.999999, 1.0 - 1e-9)]
    assert sorted(limits, reverse=True) == limits
    assert sorted(high for _, high in limits) == [high for _, high in limits]


def test_what_is_not_known_is_refused_and_the_most_that_is_works() -> None:
    law = pivot_law(METHODS["pitman"], 1.0, 5)
    with pytest.raises(ss.ArgumentError, match="confidence must be smaller") as caught:
        law.limits(0.99999999)
    most = float(str(caught.value).split("at most ")[1].rstrip("."))
    assert 0.9999 < most < 0.99999999
    low, high = law.limits(most)
    assert low < -3.0
    assert high > 3.0
