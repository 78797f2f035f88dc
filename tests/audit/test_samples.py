"""The statistics of an audit: mechanisms whose privacy is known pass as often as they should, and broken ones do not.

Every sample has a fixed seed. A sound mechanism may fail an audit with a chance of 1%, by construction; the broken ones
are caught in all of the repetitions here.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from stablesketch.audit.events import Event, pick_events
from stablesketch.audit.samples import AuditReport, audit_samples
from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.law import StableLaw

Floats = NDArray[np.float64]
Curve = Callable[[float], float]
Draw = Callable[[np.random.Generator, int], Floats]


# --- mechanisms with a known curve: how to draw for either neighbour, and δ(ε) ---


def gaussian_curve(mu: float) -> Curve:
    """Noise N(0, 1) on a number that neighbours change by μ (Balle and Wang)."""
    return lambda e: float(special.ndtr(mu / 2 - e / mu) - math.exp(e) * special.ndtr(-mu / 2 - e / mu))


def gaussian(shift: float) -> Draw:
    return lambda rng, n: rng.normal(shift, 1.0, n)


def laplace_curve(mu: float) -> Curve:
    """Laplace noise of scale 1 on a number that neighbours change by μ."""
    return lambda e: max(0.0, 1.0 - math.exp((e - mu) / 2))


def laplace(shift: float) -> Draw:
    return lambda rng, n: rng.laplace(shift, 1.0, n)


def stable_curve(p: float, rho: float) -> Curve:
    """|X| of D_{p,1} against D_{p,ρ}: the likelihood ratio is monotone, so that half-lines are all one has to try.

    The largest over a grid is below the largest of all by some 1e-6, far less than an audit can see.
    """
    y = np.linspace(-40.0, 40.0 / p, 20_001)
    law = StableLaw(p)
    narrow, wide = (2 * law.cdf(np.exp(y - shift)) - 1 for shift in (0.0, math.log(rho) / p))
    sf_narrow, sf_wide = (2 * law.sf(np.exp(y - shift)) for shift in (0.0, math.log(rho) / p))

    def delta(e: float) -> float:
        below, above = narrow - math.exp(e) * wide, sf_wide - math.exp(e) * sf_narrow
        return max(0.0, float(below.max()), float(above.max()))

    return delta


def stable(p: float, rho: float) -> Draw:
    """By Chambers, Mallows and Stuck; not the sampler of the library."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        theta, w = rng.uniform(-math.pi / 2, math.pi / 2, n), rng.exponential(1.0, n)
        x = np.sin(p * theta) / np.cos(theta) ** (1 / p) * (np.cos((1 - p) * theta) / w) ** ((1 - p) / p)
        return np.abs(x) * rho ** (1 / p)

    return draw


def leaking(draw: Draw, probability: float, leaked: float) -> Draw:
    """The mechanism, but with some probability the output gives the neighbour away."""

    def leak(rng: np.random.Generator, n: int) -> Floats:
        return np.where(rng.random(n) < probability, leaked, draw(rng, n))

    return leak


def audits(first: Draw, second: Draw, curve: Curve, trials: int, repetitions: int, delta: float) -> list[AuditReport]:
    rng = np.random.default_rng(20_262)
    return [audit_samples(first(rng, trials), second(rng, trials), curve, delta=delta) for _ in range(repetitions)]


def failures(reports: list[AuditReport]) -> int:
    return sum(not report.passed for report in reports)


HONEST = {
    "gaussian, μ = 1": (gaussian(0.0), gaussian(1.0), gaussian_curve(1.0)),
    "laplace, ε = 1": (laplace(1.0), laplace(0.0), laplace_curve(1.0)),
    "stable, p = 0.5, ρ = 1.5": (stable(0.5, 1.0), stable(0.5, 1.5), stable_curve(0.5, 1.5)),
}


SLOW = pytest.mark.slow


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW if "stable" in name else ()) for name in HONEST])
def test_sound_mechanisms_pass(name: str) -> None:
    """200 audits: at most 1% may fail. More than 9 of 200 would have a chance of 4e-5 at 1%; there are next to none."""
    reports = audits(*HONEST[name], trials=1_000, repetitions=200, delta=0.0)
    assert stats.binom.sf(9, 200, 0.01) < 5e-5
    assert failures(reports) <= 9


@pytest.mark.parametrize("name", HONEST)
def test_refuted_epsilon_is_below_the_truth(name: str) -> None:
    """With 20,000 trials it comes near: the audit is not sound by being blind. False alarm 1% each, at most."""
    (report,) = audits(*HONEST[name], trials=20_000, repetitions=1, delta=1e-3)
    curve = HONEST[name][2]
    # The least ε with δ(ε) <= 1e-3, by bisection.
    low, high = 0.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) <= 1e-3 else (middle, high)
    assert report.passed
    assert 0.5 * high < report.strongest_epsilon < high


BROKEN = {
    # Half the noise is the same as twice the distance.
    "gaussian, μ = 2 for 1": (gaussian(0.0), gaussian(2.0), gaussian_curve(1.0), 1_000),
    "gaussian, μ = 0.4 for 0.2": (gaussian(0.0), gaussian(0.4), gaussian_curve(0.2), 10_000),
    "laplace, ε = 2 for 1": (laplace(0.0), laplace(2.0), laplace_curve(1.0), 1_000),
    "laplace, ε = 0.4 for 0.2": (laplace(0.4), laplace(0.0), laplace_curve(0.2), 10_000),
    # An outright leak with probability 0.05, far out and in the midst of the noise.
    "leak beyond": (leaking(laplace(0.0), 0.05, 1e9), leaking(laplace(1.0), 0.05, -1e9), laplace_curve(1.0), 4_000),
    "leak within": (leaking(laplace(0.0), 0.05, 0.25), leaking(laplace(1.0), 0.05, 0.75), laplace_curve(1.0), 4_000),
    "leak as a refusal": (leaking(laplace(0.0), 0.05, math.inf), laplace(1.0), laplace_curve(1.0), 4_000),
    # A scale family: ρ twice as large as claimed, and ln ρ twice as large.
    "stable, ρ = 2.4 for 1.2": (stable(0.5, 1.0), stable(0.5, 2.4), stable_curve(0.5, 1.2), 2_000),
    "stable, ρ = 1.44 for 1.2": (stable(0.5, 1.0), stable(0.5, 1.44), stable_curve(0.5, 1.2), 15_000),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_mechanisms_are_caught(name: str) -> None:
    """In all of 30 audits at the stated number of trials, in either order of the neighbours."""
    first, second, curve, trials = BROKEN[name]
    assert failures(audits(first, second, curve, trials, 15, 1e-6)) == 15
    assert failures(audits(second, first, curve, trials, 15, 1e-6)) == 15


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_broken_mechanisms_are_caught_99_times_in_100(name: str) -> None:
    """500 audits, none missed: with 99% or less to be caught that would have a chance of 0.7%."""
    first, second, curve, trials = BROKEN[name]
    assert failures(audits(first, second, curve, trials, 500, 1e-6)) == 500


def test_two_sided_events_are_found() -> None:
    """Signed Cauchy outputs of different scale differ in an interval and its complement, not in half-lines."""
    rng = np.random.default_rng(5)
    narrow, wide = rng.standard_cauchy(5_000), 3.0 * rng.standard_cauchy(5_000)
    report = audit_samples(narrow, wide, lambda e: 0.05, delta=0.0)
    assert not report.passed
    assert 0.5 < report.strongest_epsilon < math.log(3.0)


def test_several_intervals_are_found() -> None:
    """A density with teeth: only unions of intervals tell it from the uniform one."""
    rng = np.random.default_rng(6)
    even, uneven = rng.random(20_000), rng.random(20_000)
    tooth = np.floor(uneven * 8) % 2 == 0
    uneven = np.where(tooth & (rng.random(20_000) < 0.8), (uneven + 0.125) % 1.0, uneven)
    report = audit_samples(even, uneven, lambda e: 0.0, delta=0.0)
    assert report.strongest_epsilon > 0.8 * math.log(5.0)
    assert "or" in report.worst.event


def test_few_values_are_told_apart() -> None:
    """Randomised response on three values, where the middle one carries everything; integers, as a release may be."""
    rng = np.random.default_rng(7)
    first = rng.choice([1, 2, 3], 5_000, p=[0.3, 0.4, 0.3])
    second = rng.choice([1, 2, 3], 5_000, p=[0.4, 0.2, 0.4])
    report = audit_samples(first, second, lambda e: 0.0, delta=0.0)
    assert 0.5 < report.strongest_epsilon < math.log(2.0)
    assert report.worst.event in ("value = 2", "1 < value <= 2", "value <= 1 or 2 < value", "value < 2 or 2 < value")
    assert audit_samples(first, second, lambda e: 0.4 - 0.2 * math.exp(e) if e < math.log(2) else 0.0, delta=0.0).passed


def test_equal_samples_refute_nothing() -> None:
    for outputs in (np.zeros(500), np.arange(500.0), np.full(500, math.inf), np.full(500, -math.inf)):
        report = audit_samples(outputs, outputs, lambda e: 0.0, delta=0.0)
        assert report.passed
        assert report.strongest_epsilon == 0.0


def test_sorted_samples_make_no_difference_to_the_verdict() -> None:
    rng = np.random.default_rng(8)
    first, second = np.sort(rng.normal(0, 1, 3_000)), np.sort(rng.normal(1, 1, 3_000))[::-1]
    assert audit_samples(first, second, gaussian_curve(1.0), delta=1e-6).passed
    assert not audit_samples(first, second, gaussian_curve(0.5), delta=1e-6).passed


def test_given_epsilons_are_tested_and_nought_too() -> None:
    rng = np.random.default_rng(9)
    first, second = rng.normal(0, 1, 3_000), rng.normal(2, 1, 3_000)
    seen: list[float] = []

    def claimed(epsilon: float) -> float:
        seen.append(epsilon)
        return gaussian_curve(1.0)(epsilon) if epsilon < 700.0 else 0.0

    report = audit_samples(first, second, claimed, delta=1e-6, epsilons=[1.0, 800.0])
    assert seen == [0.0, 1.0, 800.0]
    assert not report.passed
    assert report.worst.epsilon == 1.0
    # A claim that is false at ε = 0 alone is caught there.
    assert audit_samples(first, second, lambda e: 0.0 if e == 0.0 else 1.0, delta=0.0).worst.epsilon == 0.0


def test_confidence_is_what_it_costs() -> None:
    rng = np.random.default_rng(10)
    first, second = rng.normal(0, 1, 3_000), rng.normal(1, 1, 3_000)
    refuted = [
        audit_samples(first, second, gaussian_curve(1.0), delta=1e-6, confidence=confidence).strongest_epsilon
        for confidence in (0.9, 0.99, 1 - 1e-9)
    ]
    assert refuted == sorted(refuted, reverse=True)


def test_report_can_be_read() -> None:
    rng = np.random.default_rng(11)
    report = audit_samples(rng.laplace(0, 1, 4_000), rng.laplace(2, 1, 4_000), laplace_curve(1.0), delta=1e-9)
    text = str(report)
    assert text.startswith("FAILED: the releases contradict the claim.")
    assert "4,000 releases of each of two data sets" in text
    assert f"ε is at least {report.strongest_epsilon:.4g} at δ = 1e-09 (99% confidence)" in text
    assert "at most 1 in 100 audits of a correct mechanism fails" in text
    assert report.worst.event in text
    assert report.worst.refutes
    assert report.worst.observed > report.worst.claimed
    honest = audit_samples(rng.laplace(0, 1, 4_000), rng.laplace(1, 1, 4_000), laplace_curve(1.0), delta=1e-9)
    assert str(honest).startswith("Passed: nothing contradicts the claim.")
    assert not honest.worst.refutes


@pytest.mark.parametrize(
    ("mask", "says", "held"),
    [
        ([1, 0, 0, 0, 0], "value < 1", [0.5]),
        ([1, 1, 0, 0, 0], "value <= 1", [0.5, 1.0]),
        ([0, 0, 1, 1, 1], "1 < value", [1.5, 2.0, 3.0]),
        ([0, 1, 1, 0, 0], "1 <= value < 2", [1.0, 1.5]),
        ([0, 0, 0, 1, 0], "value = 2", [2.0]),
        ([1, 0, 0, 0, 1], "value < 1 or 2 < value", [0.5, 3.0]),
    ],
)
def test_events_say_what_they_hold(mask: list[int], says: str, held: list[float]) -> None:
    event = Event(np.array([1.0, 2.0]), np.array(mask, dtype=bool))
    assert event.of("value") == says
    values = np.array([0.5, 1.0, 1.5, 2.0, 3.0])
    assert [value for value in values.tolist() if event.count(np.array([value]))] == held
    assert event.count(values) == len(held)


def test_events_are_few_and_different() -> None:
    rng = np.random.default_rng(12)
    events = pick_events(rng.normal(0, 1, 2_000), rng.normal(1, 1, 2_000), 6_000, 1e-6)
    assert 1 <= len(events) <= 15
    assert len({event.mask.tobytes() for event in events}) == len(events)


GOOD = np.arange(200.0)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda: audit_samples(GOOD, GOOD[:150], lambda e: 1.0, delta=0.0),
            ArgumentError,
            "must have as many outputs as the first sample, 200",
        ),
        (lambda: audit_samples(GOOD[:99], GOOD[:99], lambda e: 1.0, delta=0.0), ArgumentError, "first must .*got 99"),
        (lambda: audit_samples(GOOD, GOOD * math.nan, lambda e: 1.0, delta=0.0), ArgumentError, "NaN"),
        (lambda: audit_samples(GOOD > 3, GOOD, lambda e: 1.0, delta=0.0), ArgumentTypeError, "bool"),
        (lambda: audit_samples(GOOD, np.ones((200, 2)), lambda e: 1.0, delta=0.0), ArgumentTypeError, "2-dim"),
        (lambda: audit_samples(GOOD, ["a"] * 200, lambda e: 1.0, delta=0.0), ArgumentTypeError, "second"),
        (lambda: audit_samples(GOOD, GOOD, lambda e: -1.0, delta=0.0), ArgumentError, "claimed must .*got -1.0"),
        (lambda: audit_samples(GOOD, GOOD, lambda e: math.nan, delta=0.0), ArgumentError, "claimed must .*got nan"),
        (lambda: audit_samples(GOOD, GOOD, lambda e: 1.0, delta=1.0), ArgumentError, "delta must .*got 1.0"),
        (lambda: audit_samples(GOOD, GOOD, lambda e: 1.0, delta="x"), ArgumentTypeError, "delta must .*got 'x'"),
        (
            lambda: audit_samples(GOOD, GOOD, lambda e: 1.0, delta=0, confidence=1.0),
            ArgumentError,
            "confidence must .*got 1",
        ),
        (lambda: audit_samples(GOOD, GOOD, lambda e: 1.0, delta=0, confidence=0.5), ArgumentError, "above 0.5"),
        (
            lambda: audit_samples(GOOD, GOOD, lambda e: 1.0, delta=0, epsilons=[-1.0]),
            ArgumentError,
            "epsilons must .*got -1",
        ),
    ],
)
def test_wrong_calls(call: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()
