"""The audit of sums over buckets: a norm without noise is caught, which shows in the limits alone.

What is said of estimates without buckets as well is in test_audit_noisy.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from audit_helpers import caught, opener, secret, worst_streams
from test_audit_noisy import BUCKETS as PLAN
from test_audit_noisy import SEVERAL_IN_BUCKETS as SEVERAL

import stablesketch as ss
from stablesketch.mechanism.noisy import moment
from stablesketch.mechanism.noisy.measure import spread_noise
from stablesketch.plan.mechanism import mechanism_of

# Here limits are much wider where one bucket has everything, so that a norm shows in them.
WIDE = ss.plan(ss.Moment(0.5), ss.Privacy(4.0, 1e-6), size=1_024, entries_per_key=16)


# --- the claim ---


def test_the_plans_have_buckets_and_two_outputs_in_their_claim() -> None:
    """b is that of both outputs together, so the claim is above that of the noise of the sum alone."""
    for plan in (PLAN, SEVERAL):
        assert (plan.buckets, plan.entries_per_key) == (4, 40)
        scale, step, cap = spread_noise(plan)
        curve = mechanism_of(plan).claimed_curve(plan)
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
        sketch = ss.Sketch(0.9, 160, secret(number), law="one-sided", buckets=4)
        sketch.update(keys)
        occupied.append(np.count_nonzero(sketch.bucket_estimates()))
    assert set(occupied) == {1, 2, 3}


# --- what is not sound is caught ---


def test_a_norm_without_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows in the limits alone, which are computed from it."""

    def bare(plan: ss.Plan) -> tuple[float, float, float]:
        scale, step, cap = spread_noise(plan)
        return 1e-3 * scale, 1e-3 * step, cap

    monkeypatch.setattr(moment, "spread_noise", bare)
    caught(WIDE, 300, opener(4))


def test_sum_and_norm_have_noise_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an empty stream both outputs are noise alone, of the planned scales and without correlation: of 400 secrets a
    deviation of either is 0.05, so that a false alarm has a probability below 2e-4."""
    names: list[object] = []
    real = moment.noise_of

    def noted(secret: ss.Secret, what: object) -> Callable[[int], int]:
        names.append(what)
        return real(secret, what)

    monkeypatch.setattr(moment, "noise_of", noted)
    opened, drawn = opener(6), []
    sample = moment.discrete_laplace.sample

    def kept(scale: Fraction, below: Callable[[int], int]) -> int:
        drawn.append(sample(scale, below))
        return drawn[-1]

    monkeypatch.setattr(moment.discrete_laplace, "sample", kept)
    for _ in range(400):
        opened(PLAN).release()
    sums, norms = np.array(drawn, dtype=np.float64).reshape(400, 2).T
    assert len(set(map(str, names))) == 2
    assert abs(np.corrcoef(np.sign(sums), np.sign(norms))[0, 1]) < 0.2
    assert abs(np.corrcoef(np.abs(sums), np.abs(norms))[0, 1]) < 0.2
    scale, step, _ = spread_noise(PLAN)
    assert np.mean(np.abs(sums)) * PLAN.step == pytest.approx(PLAN.noise, rel=0.2)
    assert np.mean(np.abs(norms)) * step == pytest.approx(scale, rel=0.2)
