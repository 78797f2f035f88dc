"""The audit of sums over buckets: sound plans pass; too little noise, a norm without noise, an estimate that is not
equivariant in every bucket, a secret used again, and noise for one pair where several were meant are caught.

Secrets are numbered, and the noise comes from them, so no outcome ever changes.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.audit import claimed_curve, worst_streams
from stablesketch.collector import noisy_state
from stablesketch.plan.noisy_measure import spread_noise
from stablesketch.sketch.estimators import one_sided

# At this p and size ξ is hardly ever far from 1, so that the claim is nearly attained.
PLAN = ss.plan(ss.Moment(0.9), ss.Privacy(4.0, 1e-6), size=160, entries_per_key=40)
# Here limits are much wider where one bucket has everything, so that a norm shows in them.
WIDE = ss.plan(ss.Moment(0.5), ss.Privacy(4.0, 1e-6), size=1_024, entries_per_key=16)
SEVERAL = ss.plan(ss.Moment(0.9), ss.Privacy(2.0, 1e-6, pairs_per_person=3), size=160, entries_per_key=40)


def opener(salt: int, change: Callable[[ss.Plan], ss.Plan] = lambda plan: plan) -> Callable[[ss.Plan], ss.Collector]:
    """Collectors under secrets that come out the same each time."""
    numbers = itertools.count(salt << 64)
    return lambda plan: change(plan).open(ss.Secret.from_bytes(next(numbers).to_bytes(32, "little")))


def quieter(factor: float) -> Callable[[ss.Plan], ss.Plan]:
    """Less noise on the sum, and on the norm."""
    return lambda plan: dataclasses.replace(plan, noise=factor * plan.noise)


# --- the claim ---


def test_the_plans_have_buckets_and_two_outputs_in_their_claim() -> None:
    """b is that of both outputs together, so the claim is above that of the noise of the sum alone."""
    for plan in (PLAN, SEVERAL):
        assert (plan.buckets, plan.entries_per_key) == (4, 40)
        scale, step, cap = spread_noise(plan)
        curve = claimed_curve(plan)
        assert curve(plan.epsilon) <= plan.delta * (1.0 + 1e-9)
        assert curve(0.98 * plan.epsilon) > plan.delta
        change = plan.privacy.pairs_per_person
        together = change * (1.0 / plan.noise + 1.0 / scale)
        assert curve(0.0) > 0.98 * -np.expm1(-0.5 * together)
        assert step / scale <= plan.step / plan.noise
        assert cap <= plan.cap / np.sqrt(plan.buckets)


def test_the_neighbours_of_several_pairs_are_in_several_buckets() -> None:
    (keys, _), (none, _) = worst_streams(SEVERAL)
    assert len(none) == 0
    occupied = []
    for number in range(20):
        sketch = ss.Sketch(0.9, 160, ss.Secret.from_bytes(number.to_bytes(32, "little")), law="one-sided", buckets=4)
        sketch.update(keys)
        occupied.append(np.count_nonzero(sketch.bucket_estimates()))
    assert set(occupied) == {1, 2, 3}


# --- what is sound passes ---


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        pytest.param(SEVERAL, marks=pytest.mark.slow),
        pytest.param(WIDE, marks=pytest.mark.slow),
        pytest.param(
            ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 0, 3, "replace", 2), size=64, entries_per_key=16),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, unit="key"), size=32, entries_per_key=8),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda plan: f"{plan.statistic}, {plan.privacy.relation}, {plan.privacy.pairs_per_person}",
)
def test_sound_plans_pass(plan: ss.Plan) -> None:
    """False alarm: at most 1%, and the secrets are the same each time."""
    report = ss.audit(plan, 300, open_collector=opener(1), progress=False)
    assert report.passed, str(report)
    assert report.strongest_epsilon <= plan.epsilon


# --- what is not is caught ---


def test_half_of_the_noise_is_caught() -> None:
    report = ss.audit(PLAN, 200, open_collector=opener(2, quieter(0.5)), progress=False)
    assert not report.passed, str(report)


@pytest.mark.slow
def test_four_fifths_of_the_noise_are_caught() -> None:
    report = ss.audit(PLAN, 2_000, open_collector=opener(2, quieter(0.8)), progress=False)
    assert not report.passed, str(report)


def test_noise_for_one_pair_where_three_were_meant_is_caught() -> None:
    """Though the three may fall into one bucket, or two, or three."""
    report = ss.audit(SEVERAL, 200, open_collector=opener(3, quieter(1.0 / 3.0)), progress=False)
    assert not report.passed, str(report)
    assert report.strongest_epsilon > SEVERAL.epsilon


def test_a_norm_without_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows in the limits alone, which are computed from it."""

    def bare(plan: ss.Plan) -> tuple[float, float, float]:
        scale, step, cap = spread_noise(plan)
        return 1e-3 * scale, 1e-3 * step, cap

    monkeypatch.setattr(noisy_state, "spread_noise", bare)
    report = ss.audit(WIDE, 300, open_collector=opener(4), progress=False)
    assert not report.passed, str(report)


def test_sum_and_norm_have_noise_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an empty stream both outputs are noise alone, of the planned scales and without correlation: of 400 secrets a
    deviation of either is 0.05, so that a false alarm has a probability below 2e-4."""
    names: list[object] = []
    real = noisy_state.noise_of

    def noted(secret: ss.Secret, what: object) -> Callable[[int], int]:
        names.append(what)
        return real(secret, what)

    monkeypatch.setattr(noisy_state, "noise_of", noted)
    opened, drawn = opener(6), []
    sample = noisy_state.discrete_laplace.sample

    def kept(scale: Fraction, below: Callable[[int], int]) -> int:
        drawn.append(sample(scale, below))
        return drawn[-1]

    monkeypatch.setattr(noisy_state.discrete_laplace, "sample", kept)
    for _ in range(400):
        opened(PLAN).release()
    sums, norms = np.array(drawn, dtype=np.float64).reshape(400, 2).T
    assert len(set(map(str, names))) == 2
    assert abs(np.corrcoef(np.sign(sums), np.sign(norms))[0, 1]) < 0.2
    assert abs(np.corrcoef(np.abs(sums), np.abs(norms))[0, 1]) < 0.2
    scale, step, _ = spread_noise(PLAN)
    assert np.mean(np.abs(sums)) * PLAN.step == pytest.approx(PLAN.noise, rel=0.2)
    assert np.mean(np.abs(norms)) * step == pytest.approx(scale, rel=0.2)


def test_an_estimate_that_is_not_equivariant_in_a_bucket_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant that a bucket gets unless it is empty tells whether there was anything in it."""
    real = one_sided.log_estimates

    def corrected(logs: np.ndarray, p: float) -> np.ndarray:
        found = real(logs, p)
        return np.where(np.isneginf(found), found, np.logaddexp(found, 0.0))

    monkeypatch.setattr(one_sided, "log_estimates", corrected)
    report = ss.audit(PLAN, 200, open_collector=opener(5), progress=False)
    assert not report.passed, str(report)


@pytest.mark.parametrize("secrets", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_a_secret_used_again_is_caught(secrets: int) -> None:
    """One for all releases, or six in turn: hash, ξ and noise are the same on both streams, and come again."""
    numbers = itertools.cycle(range(secrets))

    def reused(plan: ss.Plan) -> ss.Collector:
        return plan.open(ss.Secret.from_bytes(next(numbers).to_bytes(32, "little")))  # anew: a release destroys it

    report = ss.audit(PLAN, 200, open_collector=reused, progress=False)
    assert not report.passed, str(report)
