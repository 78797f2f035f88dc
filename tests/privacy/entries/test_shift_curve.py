"""The privacy of entries R - H against independent integrators, and the measured bounds that its proof uses.

For one entry the tails of R come from the angle formula with 3,000 nodes, and the hockey-stick from differences of
tails; the library never forms those. For many entries the loss is a difference of ln h on another grid, rounded without
care for domination, and its sum is a tilted Fourier transform; the library adds up masses directly.
"""

from __future__ import annotations

import math
from functools import lru_cache

import mpmath
import numpy as np
import pytest

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.law.skewed import SkewedLaw
from stablesketch.privacy.entries.shift_curve import (
    MOST_SHIFT,
    SLOPE_ERROR,
    VALUE_ERROR,
    ShiftCurve,
    third_derivative_bound,
)
from stablesketch.privacy.loss_law import compose

LAW = SkewedLaw()


# --- one entry ---


def tails(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(R <= y) and P(R > y): the midpoint rule in the angle, whose integrand is periodic and smooth for y > -9."""
    theta = (np.arange(3_000) + 0.5) * (math.pi / 3_000) - 0.5 * math.pi
    rest = 0.5 * math.pi - theta
    place = np.tan(theta) * rest + np.log(np.cos(theta) / rest)
    below, above = np.empty_like(y), np.empty_like(y)
    for i, value in enumerate(y):
        w = np.exp(np.minimum(value - place, 700.0))
        below[i], above[i] = -np.expm1(-w).mean(), np.exp(-w).mean()
    return below, above


GRID = np.arange(-9.0, 5.0, 0.02)
BELOW, ABOVE = tails(GRID)


def one_entry(steps: int, alpha: float) -> tuple[float, float]:
    """The hockey-sticks of h against h_τ and of h_τ against h, τ = steps · 0.02, over all half lines and intervals that
    begin and end on the grid: lower bounds, short of the truth by the square of 0.02 at most.
    """
    shifted_above, shifted_below = ABOVE[steps:], BELOW[steps:]
    above, below = ABOVE[: len(GRID) - steps], BELOW[: len(GRID) - steps]
    if alpha >= 1.0:
        return max(0.0, float(np.max(above - alpha * shifted_above))), widest(shifted_below - alpha * below)
    # The best sets are then the complements of those of the other direction.
    outside = max(0.0, float(np.max(alpha * above - shifted_above)))
    return 1.0 - alpha + widest(alpha * shifted_below - below), 1.0 - alpha + outside


def widest(rise: np.ndarray) -> float:
    """The greatest difference of two values, the later less the earlier; 0 stands before the first."""
    from_the_left = np.append(0.0, rise)
    return float(np.max(from_the_left - np.minimum.accumulate(from_the_left)))


@pytest.mark.parametrize("steps", [1, 5, 25])
def test_one_entry_is_never_below_the_integral(steps: int) -> None:
    shift = 0.02 * steps
    curve = ShiftCurve(1, shift)
    for share in (-0.5, -0.1, 0.0, 0.02, 0.1, 0.2, 0.3, 0.6, 1.0, 3.0, 10.0):
        alpha = math.exp(share * shift)
        for true, law in zip(one_entry(steps, alpha), curve.laws(), strict=True):
            assert true <= law.delta(share * shift) * (1.0 + 1e-9) + 1e-14
            # The lattice has 40 points and more per deviation of one loss.
            assert law.delta(share * shift) <= 1.01 * true + 0.02 * shift
    assert curve.delta(0.0) == pytest.approx(max(one_entry(steps, 1.0)), rel=2e-3)


def test_every_lesser_shift_is_dominated() -> None:
    """The claim of section 2, on the integral alone and then on the bounds: at each α curves grow with the shift."""
    for alpha in (0.7, 0.95, 1.0, 1.01, 1.05, 1.2, 2.0):
        sticks = np.array([one_entry(steps, alpha) for steps in range(1, 40, 2)])
        assert np.all(np.diff(sticks, axis=0) > -1e-13)
    for size in (1, 100):
        widest = ShiftCurve(size, 0.05)
        for shift in (1e-7, 0.001, 0.02, 0.04, 0.049):
            narrower = ShiftCurve(size, shift)
            for epsilon in (0.0, 0.005, 0.03, 0.2, 1.0):
                for wide, narrow in zip(widest.laws(), narrower.laws(), strict=True):
                    assert narrow.delta(epsilon) <= wide.delta(epsilon) + 1e-25


# --- many entries ---


@lru_cache
def trapezoid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u = np.arange(-11.0, 5.35, 4e-3)
    y = u - np.exp(-u)
    return u, y, LAW.values(y).density


def composed(shift: float, size: int, delta: float, greater: bool) -> float:
    """ε at δ for `size` entries, nearly: a trapezoid rule in u with y = u - e^{-u}, and a tilted Fourier transform."""
    u, y, log_h = trapezoid()
    if shift > 1e-4:
        loss = log_h - LAW.values(y + shift).density
    else:  # differences would lose the digits: Simpson's rule on the slope is exact to shift^4
        loss = -shift / 6.0 * (LAW.slope(y) + 4.0 * LAW.slope(y + 0.5 * shift) + LAW.slope(y + shift))
    mass = 4e-3 * (1.0 + np.exp(-u)) * np.exp(log_h)
    mass, loss = np.append(mass, 1.0 - mass.sum()), np.append(loss, 0.0)  # far left there is no loss
    if greater:
        mass, loss = mass * np.exp(-loss), -loss
    deviation = math.sqrt(float(mass @ loss**2))
    step = deviation * math.sqrt(size) / 2_000
    kept = mass > 1e-22
    at = loss[kept] / step
    low = int(np.floor(at).min())
    index = np.floor(at).astype(int) - low
    count = int(index.max()) + 2
    lattice = np.bincount(index, mass[kept] * (1.0 - at % 1.0), count)
    lattice += np.bincount(index + 1, mass[kept] * (at % 1.0), count)
    places = (low + np.arange(count)) * step
    tilt = 3.0 / (deviation * math.sqrt(size))
    lattice *= np.exp(tilt * places)
    log_moment = math.log(lattice.sum())
    lattice /= lattice.sum()
    length = 1 << 18
    sums = np.fft.irfft(np.fft.rfft(lattice, length) ** size, length)
    first = round(size * float(lattice @ places) / step) - length // 3
    sums = np.roll(sums, -((first - size * low) % length))
    losses = (first + np.arange(length)) * step
    weights = np.where(sums > 1e-15, sums, 0.0) * np.exp(size * log_moment - tilt * losses)

    def reached(epsilon: float) -> float:
        above = losses > epsilon
        return float(weights[above] @ -np.expm1(epsilon - losses[above]))

    low_end, high_end = 0.0, float(losses[-1])
    for _ in range(50):
        middle = 0.5 * (low_end + high_end)
        low_end, high_end = (low_end, middle) if reached(middle) <= delta else (middle, high_end)
    return high_end


def check_many(size: int, shift: float, delta: float) -> None:
    """Never below the transform, and within two parts in a thousand. The transform is good to 1e-4 of ε."""
    curve = ShiftCurve(size, shift)
    expected = [composed(shift, size, delta, greater) for greater in (False, True)]
    assert max(expected) * (1.0 - 1e-4) <= curve.epsilon(delta) <= max(expected) * 1.002
    for law, epsilon in zip(curve.laws(), expected, strict=True):
        assert law.delta(epsilon * (1.0 - 1e-4)) >= delta
        assert law.delta(epsilon * 1.002) <= delta


@pytest.mark.parametrize(("size", "shift", "delta"), [(50, 0.02, 1e-5), (5_000, 1e-6, 1e-9)])
def test_many_entries(size: int, shift: float, delta: float) -> None:
    check_many(size, shift, delta)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "shift", "delta"),
    [(50, 0.1, 1e-6), (500, 1e-4, 1e-9), (500, 0.01, 1e-12), (2_000, 0.001, 1e-12), (5_000, 0.1, 1e-12)],
)
def test_many_entries_of_more_kinds(size: int, shift: float, delta: float) -> None:
    check_many(size, shift, delta)


def test_against_simulated_entries() -> None:
    """δ(ε) = E(1 - e^{ε-T})_+ over 20,000 draws of 50 entries. Five standard errors; false alarm below 1e-5."""
    shift, size = 0.1, 50
    u = np.linspace(-9.0, 4.5, 5_000)
    y = u - np.exp(-u)
    losses = LAW.values(y).density - LAW.values(y + shift).density
    loss = np.interp(LAW.sample((20_000, size), np.random.default_rng(31)), y, losses, left=0.0).sum(axis=1)
    lesser, _ = ShiftCurve(size, shift).laws()
    for epsilon in (0.0, 0.5, 1.0):
        drawn = np.maximum(-np.expm1(epsilon - loss), 0.0)
        error = 5.0 * drawn.std() / math.sqrt(len(drawn))
        assert drawn.mean() - error <= lesser.delta(epsilon) <= 1.01 * drawn.mean() + error


# --- what the proof leans on ---


def exact_derivatives(y: float) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """ln h, its slope and its third derivative in 40 digits: moments of w under w e^{-w}, trapezoid rule in the angle.

    With μ_k the mean of w^k: (ln h)' = 1 - μ₁, and the derivative of a mean is the mean of the derivative plus the
    covariance with 1 - w.
    """
    with mpmath.workdps(40):
        nodes, sums = 1_500, [mpmath.mpf(0)] * 4
        for k in range(nodes):
            phi = mpmath.pi * k / nodes
            place = mpmath.mpf(1) if k == 0 else phi * mpmath.cot(phi) + mpmath.log(mpmath.sin(phi) / phi)
            w = mpmath.exp(y - place)
            term = mpmath.exp(-w) * (mpmath.mpf(1) / 2 if k == 0 else 1) / nodes
            for power in range(4):
                term *= w
                sums[power] += term
        first, second, third = (s / sums[0] for s in sums[1:])
        rate_first = first - (second - first**2)
        rate_second = 2 * second - (third - second * first)
        return mpmath.log(sums[0]), 1 - first, -rate_first + rate_second - 2 * first * rate_first


@pytest.mark.parametrize("y", [-5.9, -1.0, 4.0])
def test_measured_errors_have_a_margin(y: float) -> None:
    value, slope, third = exact_derivatives(y)
    at = np.array([y])
    assert abs(float(LAW.values(at).density[0] - value)) < 0.2 * VALUE_ERROR * max(1.0, abs(float(value)))
    assert abs(float(LAW.slope(at)[0] - slope)) < 0.1 * SLOPE_ERROR * (1.0 + abs(float(slope)))
    assert abs(float(third)) < 0.95 * third_derivative_bound(at, at)[0]


def test_slopes_on_the_left() -> None:
    """Against differences of ln h, relative to 1/|y|; and the bound of the last panel."""
    y = -np.geomspace(6.5, 1e6, 200)
    step = 1e-3 * np.abs(y)
    rise = 8.0 * (LAW.values(y + step).density - LAW.values(y - step).density)
    rise -= LAW.values(y + 2.0 * step).density - LAW.values(y - 2.0 * step).density
    slope = LAW.slope(y)
    np.testing.assert_allclose(slope, rise / (12.0 * step), rtol=2e-9)
    far = y < -50.0
    assert np.all((slope[far] > 0.0) & (slope[far] < 5.0 / np.abs(y[far])))


def test_the_third_derivative_is_bounded_everywhere() -> None:
    """Second differences of the slope between panels of 0.1% of the scale."""
    y = np.concatenate([-np.geomspace(5_000.0, 6.0, 3_000), np.linspace(-6.0, 7.0, 3_000)])
    step = 2e-3 * np.maximum(1.0, np.abs(y))
    third = (LAW.slope(y + step) - 2.0 * LAW.slope(y) + LAW.slope(y - step)) / step**2
    assert np.all(np.abs(third) < third_derivative_bound(y, y))


def test_there_is_one_peak() -> None:
    """Section 1 is proved; this sees it: the slope changes its sign once, near 0.22."""
    y = np.concatenate([-np.geomspace(1e6, 6.0, 2_000), np.linspace(-5.9, 6.0, 4_000)])
    signs = np.sign(LAW.slope(y))
    assert np.count_nonzero(np.diff(signs)) == 1
    assert y[np.argmax(signs < 0.0)] == pytest.approx(0.2224, abs=0.005)


# --- the rest ---


def test_ends_of_the_range() -> None:
    assert ShiftCurve(10, 0.0).epsilon(1e-9) == ShiftCurve(10, 0.0).delta(0.0) == 0.0
    apart = ShiftCurve(10, 1.01 * MOST_SHIFT)
    assert apart.epsilon(1e-9) == math.inf
    assert apart.delta(50.0) == apart.law().delta(50.0) == 1.0
    assert compose(apart.law(), ShiftCurve(10, 0.01).law()).delta(50.0) == 1.0
    tiny = ShiftCurve(10, 1e-300)
    assert tiny.epsilon(1e-12) == 0.0
    assert ShiftCurve(50, 0.01).epsilon(0.0) == math.inf  # the loss has no bound
    assert ShiftCurve(50, 0.01).delta(math.inf) < 1e-25
    assert ShiftCurve(50, 1e-30).epsilon(1e-40) == math.inf  # nor is so small a δ certified


def test_epsilon_and_delta_are_inverse() -> None:
    curve = ShiftCurve(200, 0.003)
    for delta in (1e-12, 1e-9, 1e-5):
        epsilon = curve.epsilon(delta)
        assert curve.delta(epsilon) <= delta
        assert curve.delta(epsilon * 0.9999) > delta


def test_one_law_for_both_directions_composes() -> None:
    curve = ShiftCurve(100, 0.01)
    both = curve.law()
    for epsilon in (-0.3, 0.0, 0.1, 0.4):
        higher = max(law.delta(epsilon) for law in curve.laws())
        assert higher * (1.0 - 1e-12) <= both.delta(epsilon) <= 1.02 * higher + 1e-4
    twice, at_once = compose(both, both), ShiftCurve(200, 0.01)
    assert at_once.delta(0.3) <= twice.delta(0.3) <= 1.1 * at_once.delta(0.3)


@pytest.mark.parametrize(("size", "shift"), [(0, 0.1), (5, -0.1), (5, math.nan)])
def test_what_is_refused(size: int, shift: float) -> None:
    with pytest.raises(ArgumentError):
        ShiftCurve(size, shift)


def test_what_is_refused_by_type() -> None:
    with pytest.raises(ArgumentTypeError):
        ShiftCurve(5.0, 0.1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        ShiftCurve(5, "0.1")  # type: ignore[arg-type]
    curve = ShiftCurve(5, 0.1)
    with pytest.raises(ArgumentError, match="epsilon"):
        curve.delta(-1.0)
    with pytest.raises(ArgumentError, match="delta"):
        curve.epsilon(1.0)
    assert repr(curve) == "ShiftCurve(size=5, shift=0.1)"
