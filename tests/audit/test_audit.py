"""The audit passes what is sound and has teeth: it catches a known seed, a halved floor, and the paper's Theorem 4.

A sound mechanism fails an audit with probability at most 1 - confidence; the seeds here are fixed by the secrets, which
are derived from the trial's number, so the outcome never changes.
"""

from __future__ import annotations

import hashlib
import itertools
import math

import numpy as np
import pytest
from audit_helpers import worst_streams

import stablesketch as ss
from stablesketch.audit.samples import audit_samples
from stablesketch.plan import Phantoms
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.plan.plan import altered
from stablesketch.sketch.entry_values import log_magnitudes


def numbered_secrets(label: str):
    """Secrets that are as good as fresh ones and the same in every run."""
    for number in itertools.count():
        yield ss.Secret.from_bytes(hashlib.sha256(f"{label}/{number}".encode()).digest())


def opener(label: str, change=lambda plan: plan):
    source = numbered_secrets(label)
    return lambda plan: change(plan).open(secret=next(source))


@pytest.fixture(scope="module")
def plan():
    """A short stream of which nothing is promised: the floor alone protects it, at an ε that leaves much to see."""
    privacy = ss.Privacy(epsilon=4.0, delta=1e-6, pairs=0, relation="add_remove")
    return ss.plan(ss.Moment(0.5), privacy, size=50, mechanism="bare")


def test_the_worst_neighbours_attain_the_sensitivity(plan) -> None:
    totals = []
    for keys, values in worst_streams(plan):
        sums = np.bincount(keys, weights=values) if len(keys) else np.zeros(1)
        totals.append((sums**0.5).sum() + plan.floor)
    assert totals[0] / totals[1] == pytest.approx(ss.sensitivity(0.5, plan.privacy, plan.floor), rel=1e-12)


@pytest.mark.parametrize("relation", [pytest.param("replace", marks=pytest.mark.slow), "add_remove"])
def test_a_sound_plan_passes(relation: str) -> None:
    """False alarm: at most 1%."""
    privacy = ss.Privacy(epsilon=4.0, delta=1e-6, pairs=5, relation=relation, max_value=3, pairs_per_person=2)
    sound = ss.plan(ss.Moment(0.5), privacy, size=20, mechanism="bare")
    report = ss.audit(sound, 600, open_collector=opener(f"sound {relation}"), progress=False)
    assert report.passed, str(report)
    assert report.strongest_epsilon <= sound.epsilon


def test_the_exact_mechanism_passes() -> None:
    """False alarm: at most 1%."""
    privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=3, relation="replace")
    exact = ss.plan(ss.Moment(0.5), privacy, mechanism="exact")
    report = ss.audit(exact, 400, open_collector=opener("exact"), progress=False)
    assert report.passed, str(report)


def test_a_known_seed_is_caught(plan) -> None:
    """With a secret that somebody knows the release is a function of the data, and the claim falls at every ε."""

    def known(plan: ss.Plan) -> ss.Collector:
        return plan.open(secret=ss.Secret.from_bytes(bytes(32)))  # anew each time: a release destroys it

    report = ss.audit(plan, 200, open_collector=known, progress=False)
    assert not report.passed


@pytest.mark.slow
def test_a_halved_floor_is_caught(plan) -> None:
    """Half the floor is just as accurate, and protects half as well; 2,000 trials see it."""
    half = Phantoms.of_mass(0.5, plan.floor / 2)

    def halved(plan: ss.Plan) -> ss.Plan:
        return altered(plan, phantoms=half)

    report = ss.audit(plan, 2_000, open_collector=opener("half", halved), progress=False)
    assert not report.passed, str(report)


def test_theorem_4_of_the_paper_is_refuted() -> None:
    """Sub-sampling at rate q does not multiply ε by q: MATH of the counterexample in docs/privacy.md.

    p = 1, one entry, 100 pairs (1, 1), one of them replaced by (2, M): the paper claims ε = q ln ρ.
    """
    rate, pairs, most = 0.02, 100, 10_000
    rho = (pairs - 1 + most) / pairs
    claimed = rate * math.log(rho)
    rng = np.random.default_rng(4)
    source = numbered_secrets("theorem 4")

    def released(replaced: bool) -> float:
        kept = int(rng.binomial(pairs - 1, rate))
        sketch = ss.Sketch(p=1.0, size=1, secret=next(source))
        if kept:
            sketch.update([1] * kept)
        if rng.random() < rate:
            sketch.update([2] if replaced else [1], most if replaced else 1)
        return math.exp(log_magnitudes(sketch._entries)[0][0])  # |a|, of which an estimate is a function

    first = [released(True) for _ in range(4_000)]
    second = [released(False) for _ in range(4_000)]
    top = math.exp(claimed)
    report = audit_samples(
        first, second, lambda epsilon: max(0.0, (top - math.exp(epsilon)) / (top + 1.0)), delta=0.0, confidence=0.999
    )
    assert not report.passed
    assert report.strongest_epsilon > 2 * claimed


def test_the_claim_includes_finite_precision(plan) -> None:
    assert mechanism_of(plan).claimed_curve(plan)(plan.epsilon) <= plan.delta * (1 + 1e-9)
    assert mechanism_of(plan).claimed_curve(plan)(0.0) < 1.0


def test_bad_calls_say_what_to_do(plan) -> None:
    with pytest.raises(ss.ArgumentError, match="trials must be at least 100"):
        ss.audit(plan, 5)
    long = ss.plan(
        ss.Moment(0.5), ss.Privacy(epsilon=1.0, delta=1e-6, pairs=10**9, relation="replace"), size=50, mechanism="bare"
    )
    with pytest.raises(ss.ArgumentError, match="must have worst-case neighbours of at most 20,000,000 pairs"):
        ss.audit(long, 200)
