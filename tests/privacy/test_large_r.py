"""Large R of an entropy sketch are drawn from 62 bits: what that costs, and the room there is for it.

docs/math-noisy-estimate.md, "Large R", has the proof. Here are the numbers that it uses, from laws and integrals that
the noise itself does not use.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from stablesketch import Privacy
from stablesketch.privacy.noisy_entropy import EntropyNoise
from stablesketch.sketch.estimators.entropy_mean import EntropyMeanLaw, entropy_mean_law

LAYOUTS = [(19_968, 312), (32_000, 2_000), (512, 2), (40_000, 4), (8, 1), (64, 1), (1_822, 1), (10_000, 1)]
TOTALS = [1, 10**3, 10**6, 10**8, 10**9, 10**12, 2**53]


ANGLES = (np.arange(100_000) + 0.5) / 100_000 * math.pi - math.pi / 2
PLACES = np.tan(ANGLES) * (math.pi / 2 - ANGLES) + np.log(np.cos(ANGLES) / (math.pi / 2 - ANGLES))


def survival(x: float) -> float:
    """P(R > x): the mean over θ of exp(-e^(x - A(θ))), A(θ) = tan θ (π/2 - θ) + ln(cos θ/(π/2 - θ))."""
    return float(np.mean(np.exp(-np.exp(np.minimum(x - PLACES, 700.0)))))


def quantile(t: float) -> float:
    """R at a place t above the median: P(R > x) = t/2."""
    low, high = 0.0, 8.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if survival(middle) > t / 2 else (low, middle)
    return 0.5 * (low + high)


def slope(t: float) -> float:
    """|dR/d ln t|, from differences."""
    return (quantile(0.99 * t) - quantile(1.01 * t)) / math.log(1.01 / 0.99)


def test_the_mean_error_of_a_large_r() -> None:
    assert 2.0**-63 * slope(1.05e-5) / 1.05e-5 < 1e-15
    rises = quantile(2.0**-62) - quantile(1.05e-5)
    assert 1.0 < rises < 1.42
    moved = slope(2.0**-62) * math.log(2.0)  # a t of [2^-63, 2^-62), or moved up there
    assert rises + 2.0 * 2.0 * moved < 1.5


def outside(law: EntropyMeanLaw, above: float, below: float) -> float:
    """The probability of ζ beyond these limits."""
    return float(law.tails(above)[1]) + float(law.tails(-below)[0])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(("size", "buckets"), LAYOUTS)
def test_the_limits_of_zeta_leave_room(size: int, buckets: int, delta: float, epsilon: float) -> None:
    for relation in ("add_remove", "replace"):
        noise = EntropyNoise(Privacy(epsilon, delta, relation=relation), size, buckets=buckets)
        law, (above, below) = entropy_mean_law(noise.entries), noise.reaches
        changed = noise.changed_buckets
        allowed = noise.lost / noise._failures / changed
        assert outside(law, above, below) < 0.5 * allowed
        if buckets == 1 or noise.entries > 256:  # V(T) has the room
            continue
        for total in TOTALS:
            change, spare = noise.change(total), noise.error * total
            if change > noise._coarse * total and spare < change / 1000:
                nearer = float(change) / 1000 / (2 if relation == "replace" else 1)
                assert outside(law, above - nearer, below - nearer) < 10.0 * allowed


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(("size", "buckets"), LAYOUTS)
def test_errors_of_large_r_fail_less_often_than_zeta(size: int, buckets: int, delta: float) -> None:
    """3 · 2^-64 g T ε_G/V(T), for every total."""
    noise = EntropyNoise(Privacy(1.0, delta), size, buckets=buckets)
    allowed = noise.lost / noise._failures / noise.changed_buckets
    for total in TOTALS:
        fails = 3.0 * 2.0**-64 * noise.entries * total * noise.mass_epsilon / float(noise.change(total))
        assert fails < 0.2 * allowed


def test_noise_grows_with_the_total_of_very_long_streams_alone() -> None:
    noise = EntropyNoise(Privacy(1.0, 1e-9), 19_968, buckets=312)
    grown = [float(noise.change(10 * total) - noise.change(total)) for total in (10**4, 10**6)]
    assert grown == pytest.approx([math.log(10) / 2] * 2, rel=1e-3)
    assert noise.noise(10**9) / 10**9 == pytest.approx(3.4e-7, rel=0.01)
    assert noise.noise(2**53) / 2**53 == pytest.approx(3.4e-7, rel=0.01)
