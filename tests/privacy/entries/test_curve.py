"""`PrivacyCurve`: never below the truth, and close to it."""

from __future__ import annotations

import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from independent import Pair, SmallPair

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.privacy import Privacy, PrivacyCurve, log_sensitivity, sensitivity

# Computed independently of this project: p, size, δ, ρ, and ε certainly between the two numbers.
REFERENCE = [
    (0.5, 50, 1e-6, 1.000999499999875, 0.0201329, 0.0202231),
    (0.25, 50, 1e-6, 1.0316225266015902, 0.985797, 0.98945),
    (0.75, 200, 1e-6, 1.0056226632518097, 0.233511, 0.235306),
    (0.1, 50, 1e-6, 1.2511885431509129, 10.6874, 10.7216),
    (0.5, 50, 1e-6, 1.0220818280066, 0.556294, 0.558299),
    (1.0, 50, 1e-6, 1.000999, 0.0156475, 0.0157172),
    (0.9, 1000, 1e-9, 1.0002421886386508, 0.0263992, 0.0268007),
]

INDICES = (0.05, 0.25, 0.5, 0.75, 0.999, 1.0)
SIZES = (1, 2, 10, 50, 1000, 10_000)
EXCESSES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-3)


@pytest.mark.parametrize(("p", "size", "delta", "rho", "low", "high"), REFERENCE)
def test_reference_brackets(p: float, size: int, delta: float, rho: float, low: float, high: float) -> None:
    curve = PrivacyCurve(p, size, rho)
    ours = curve.bracket(delta)
    assert low <= ours[0] <= ours[1] <= high
    assert curve.epsilon(delta) == ours[1]
    assert ours[1] - ours[0] < 1e-3 * ours[1]
    assert curve.pure_epsilon == pytest.approx(size / p * math.log(rho), rel=1e-12)


def test_the_promised_table() -> None:
    """10^6 pairs, M = 1, p = 1/2, 50 entries, δ = 1e-6: between 0.0200 and 0.0206; and the others of the table."""
    for p, max_value, size, rho, expected in (
        (0.5, 1, 50, None, 0.02018),
        (0.25, 1, 50, None, 0.9876),
        (1.0, 1000, 50, None, 0.01568),
        (1.0, 1, 200, 1.01, 0.3928),
    ):
        factor = rho or sensitivity(p, Privacy(1.0, 1e-6, 10**6, max_value, relation="replace"))
        epsilon = PrivacyCurve(p, size, factor).epsilon(1e-6)
        assert epsilon == pytest.approx(expected, abs=0.6 * 10 ** (math.floor(math.log10(expected)) - 3))
    assert (
        0.0200
        <= PrivacyCurve(0.5, 50, sensitivity(0.5, Privacy(1.0, 1e-6, 10**6, relation="replace"))).epsilon(1e-6)
        <= 0.0206
    )


@pytest.mark.parametrize(
    ("p", "size", "rho", "delta"),
    [
        (0.5, 50, 1.001, 1e-12),
        (0.25, 200, 1.03, 1e-9),
        (0.9, 10, 1.5, 1e-6),
        (1.0, 1000, 1.01, 1e-12),
        (0.5, 10_000, 1 + 1e-6, 1e-9),
        (0.75, 50, 1.0 + 1e-4, 1e-5),
    ],
)
def test_independent_integrator(p: float, size: int, rho: float, delta: float) -> None:
    """Another density, no lattice, no transform of ours: the truth lies inside the bracket."""
    low, high = PrivacyCurve(p, size, rho).bracket(delta)
    assert low * (1 - 1e-6) <= Pair(p, rho).epsilon(delta, size) <= high * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.05, 0.1, 0.25, 0.5, 0.75, 0.8, 0.999, 1.0])
@pytest.mark.parametrize("excess", [1e-7, 1e-5, 1e-3, 0.05, 0.3, 1.0])
def test_independent_integrator_everywhere(p: float, excess: float) -> None:
    """The true δ at the two ends of the bracket lies on the two sides of the δ asked for, wherever ε is below 50.

    The integrator is good to 1e-6 of δ or better; the bracket is some 1e-3 of δ wide.
    """
    pair = Pair(p, 1.0 + excess)
    for size in (10, 100, 2_000, 10_000):
        curve = PrivacyCurve(p, size, 1.0 + excess)
        for delta in (1e-12, 1e-7, 1e-3):
            low, high = curve.bracket(delta)
            if low > 0.0 and high < 50.0:
                at_low, at_high = (
                    max(pair.delta(epsilon, size, wide_first=side) for side in (False, True)) for epsilon in (low, high)
                )
                assert at_high <= delta * (1 + 1e-6)
                assert at_low >= delta * (1 - 1e-6)


@pytest.mark.parametrize("p", [0.4, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("rho", [1.01, 1.5])
def test_one_and_two_entries(p: float, rho: float) -> None:
    """By the worst sets themselves: δ at the ends of the bracket lies on either side of the δ asked for.

    For two entries the integrator's rule meets a corner of its integrand, and is good to 1e-4 of δ only.
    """
    small = SmallPair(p, rho)
    for size, accuracy in ((1, 1e-6), (2, 1e-4)):
        curve = PrivacyCurve(p, size, rho)
        for delta in (1e-3, 1e-6):
            low, high = curve.bracket(delta)
            at_low, at_high = (
                max(small.delta(epsilon, size, wide_first=side) for side in (False, True)) for epsilon in (low, high)
            )
            assert at_high <= delta * (1 + accuracy)
            assert at_low >= delta * (1 - accuracy)
            bounds = curve.delta_bracket(high)
            assert bounds[0] * (1 - accuracy) <= at_high <= bounds[1] * (1 + accuracy)


def test_one_cauchy_entry_in_closed_form() -> None:
    rho = mpmath.mpf("1.25")
    curve = PrivacyCurve(1.0, 1, 1.25)
    for epsilon in (0.0, 0.01, 0.1, 0.2, 0.22):
        a = mpmath.exp(mpmath.mpf(epsilon))
        x = mpmath.sqrt((rho**2 - a * rho) / (a * rho - 1))
        true = float(2 / mpmath.pi * (mpmath.atan(x) - a * mpmath.atan(x / rho)))
        low, high = curve.delta_bracket(epsilon)
        assert low <= true <= high
        assert high - low <= 2e-3 * high
        assert curve.bracket(true)[0] <= epsilon <= curve.bracket(true)[1] or epsilon == 0.0


def check_width(p: float, size: int, excess: float, delta: float) -> None:
    """At most 1% wide for ε from 1e-3 to 20; and in fact at every setting of the sweep."""
    low, high = PrivacyCurve(p, size, 1.0 + excess).bracket(delta)
    assert 0.0 <= low <= high <= size / p * math.log1p(excess) * (1 + 1e-12)
    assert high - low <= 0.01 * high


@pytest.mark.parametrize("p", INDICES)
@pytest.mark.parametrize(("size", "excess", "delta"), [(1, 0.1, 1e-9), (50, 1e-3, 1e-12), (10_000, 1e-4, 1e-6)])
def test_brackets_are_narrow(p: float, size: int, excess: float, delta: float) -> None:
    check_width(p, size, excess, delta)


@pytest.mark.slow
@pytest.mark.parametrize("p", INDICES)
@pytest.mark.parametrize("size", SIZES)
def test_brackets_are_narrow_everywhere(p: float, size: int) -> None:
    for excess in EXCESSES:
        for delta in DELTAS:
            check_width(p, size, excess, delta)


@pytest.mark.parametrize(
    "setting", [(0.05, 10_000, 1 + 1e-7), (1.0, 10_000, 2.0), (0.05, 1, 2.0), (0.5, 50, 1 + 1e-12)]
)
def test_memory_stays_small(setting: tuple[float, int, float]) -> None:
    """However small or large ε is; 500 MB is the promise, and a tenth of it is what is used."""
    tracemalloc.start()
    try:
        PrivacyCurve(*setting).bracket(1e-12)
        PrivacyCurve(*setting).delta_bracket(1e-6)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


@settings(deadline=None, max_examples=12)
@given(
    p=st.sampled_from([0.05, 0.4, 0.8, 1.0]),
    size=st.integers(1, 5_000),
    log_excess=st.floats(-20.0, 2.0),
    log_delta=st.floats(-60.0, -0.1),
)
def test_the_two_readings_of_the_curve_agree(p: float, size: int, log_excess: float, log_delta: float) -> None:
    """At the upper ε no δ above the one asked for is certain, and at the lower ε none below it."""
    curve = PrivacyCurve(p, size, 1.0 + math.exp(log_excess))
    delta = math.exp(log_delta)
    low, high = curve.bracket(delta)
    assert 0.0 <= low <= high <= curve.pure_epsilon
    assert curve.delta_bracket(high)[0] <= delta
    if low > 0.0:
        assert curve.delta(low) >= delta


@pytest.mark.parametrize("p", [0.1, 0.6, 1.0])
def test_order(p: float) -> None:
    """More entries, a larger ρ or a smaller δ cost more; a larger ε needs less δ."""
    by_size = [PrivacyCurve(p, size, 1.01).epsilon(1e-6) for size in (1, 2, 5, 20, 100, 1000)]
    by_rho = [PrivacyCurve(p, 30, 1.0 + excess).epsilon(1e-6) for excess in (1e-4, 1e-3, 1e-2, 0.1)]
    curve = PrivacyCurve(p, 30, 1.1)
    by_delta = [curve.epsilon(delta) for delta in (0.1, 1e-2, 1e-4, 1e-8, 1e-16, 0.0)]
    by_epsilon = [curve.delta(epsilon) for epsilon in (2.0, 1.0, 0.5, 0.1, 0.0)]
    for values in (by_size, by_rho, by_delta, by_epsilon):
        assert np.all(np.diff(values) > 0.0)
    assert by_delta[-1] == curve.pure_epsilon


def test_both_directions_count() -> None:
    """For p < 1 narrow against wide is the worse; the bound covers the other direction as well."""
    pair = Pair(0.5, 1.05)
    low, high = PrivacyCurve(0.5, 100, 1.05).delta_bracket(0.8)
    narrow_first, wide_first = (pair.delta(0.8, 100, wide_first=side) for side in (False, True))
    assert wide_first < narrow_first
    assert low <= narrow_first <= high


def test_gaussian_guide() -> None:
    """μ = ln ρ sqrt(r I) understates ε by 1 to 3% at r = 5000: a sanity check by a formula that knows no lattice."""
    p, size, rho, delta = 0.5, 5000, 1.002, 1e-6
    mu = math.log(rho) * math.sqrt(size / 1.4261)

    def normal(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    low, high = 0.0, 10.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        reached = normal(mu / 2 - middle / mu) - math.exp(middle) * normal(-mu / 2 - middle / mu)
        low, high = (middle, high) if reached > delta else (low, middle)
    assert 1.0 < PrivacyCurve(p, size, rho).epsilon(delta) / high < 1.04


def test_tiny_shifts() -> None:
    """The curve shrinks with ln ρ: ε and δ at 1e-12 are those at 1e-8, ten thousand times smaller."""
    small, large = PrivacyCurve.from_log(0.5, 50, 1e-12), PrivacyCurve.from_log(0.5, 50, 1e-8)
    assert small.epsilon(1e-17) == pytest.approx(1e-4 * large.epsilon(1e-13), rel=1e-4)
    assert small.delta(0.0) == pytest.approx(1e-4 * large.delta(0.0), rel=1e-4)
    assert small.epsilon(1e-6) == 0.0
    assert PrivacyCurve.from_log(0.5, 50, 1e-300).bracket(1e-6) == (0.0, pytest.approx(1e-298))


def test_from_log_is_the_same_curve() -> None:
    privacy = Privacy(1.0, 1e-9, 10**6, relation="replace")
    by_rho = PrivacyCurve(0.5, 50, sensitivity(0.5, privacy))
    by_log = PrivacyCurve.from_log(0.5, 50, log_sensitivity(0.5, privacy))
    assert by_rho.epsilon(1e-9) == pytest.approx(by_log.epsilon(1e-9), rel=1e-9)
    assert by_log.rho == pytest.approx(by_rho.rho)


def test_nothing_to_protect() -> None:
    curve = PrivacyCurve(0.5, 50, 1.0)
    assert curve.bracket(1e-9) == (0.0, 0.0)
    assert curve.delta_bracket(0.0) == (0.0, 0.0)
    assert curve.pure_epsilon == 0.0


def test_pure_privacy_and_beyond() -> None:
    curve = PrivacyCurve(0.5, 3, 1.5)
    low, high = curve.bracket(0.0)
    assert low <= 6.0 * math.log(1.5) <= high == curve.pure_epsilon
    assert curve.delta(curve.pure_epsilon) == 0.0
    assert curve.delta(100.0) == 0.0
    # Just below, δ is tiny and not 0.
    assert 0.0 < curve.delta(0.999999 * curve.pure_epsilon) < 1e-6
    assert repr(curve) == "PrivacyCurve(p=0.5, size=3, rho=1.5)"


def test_bad_arguments_are_refused() -> None:
    for rho in (0.5, math.inf, math.nan):
        with pytest.raises(ArgumentError, match="floor") as caught:
            PrivacyCurve(0.5, 50, rho)
        assert caught.value.argument == "rho"
    for size in (0, -3):
        with pytest.raises(ArgumentError, match="must be at least 1"):
            PrivacyCurve(0.5, size, 1.1)
    with pytest.raises(ArgumentTypeError):
        PrivacyCurve(0.5, 50.0, 1.1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        PrivacyCurve(0.5, 50, "1.1")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"must be between 0.05 and 1"):
        PrivacyCurve(2.0, 50, 1.1)
    with pytest.raises(ArgumentError, match="709"):
        PrivacyCurve.from_log(0.5, 50, math.inf)
    curve = PrivacyCurve(0.5, 50, 1.1)
    for delta in (-1e-9, 1.0, math.nan):
        with pytest.raises(ArgumentError, match="must be at least 0 and below 1"):
            curve.epsilon(delta)
    for epsilon in (-1.0, math.nan):
        with pytest.raises(ArgumentError, match="must be a number of 0 or more"):
            curve.delta(epsilon)
