"""Several sketches share an ε: what they reach together is near what is asked, never below the truth, and charged."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from independent import Pair

import stablesketch as ss
from stablesketch.plan.mechanism import charge_of

ANY_LENGTH = ss.Privacy(3.0, 1e-9, 0, relation="add_remove")


def independent_delta(plan: ss.Plan, epsilon: float, *, wide_first: bool) -> float:
    """δ(ε) of all measurements together, one pair being added to the empty stream or removed: (1/π) ∫ Re[M(z) e^{-zε} /
    (z (1+z))] as in tests/shared/independent.py, M being the product of the moments of all.

    The empty stream is the worst (docs/math-sensitivity-and-curve.md): F_p + Λ is Λ or Λ + 1.
    """
    laws = []
    for one in plan.inputs:
        if isinstance(one.statistic, ss.Total):
            epsilon_n = one.epsilon  # noise on N, which is 0 or 1: two outcomes tell all of it
            stays = 1.0 / (1.0 + math.exp(-epsilon_n))
            laws.append((1, np.array([stays, 1.0 - stays]), np.array([epsilon_n, -epsilon_n])))
        else:
            weight, loss = Pair(one.statistic.p, 1.0 + 1.0 / one.floor).directed(wide_first)
            laws.append((one.size, weight, loss))

    def log_moment(theta: float) -> float:
        return sum(size * float(np.log(np.sum(weight * np.exp(theta * loss)))) for size, weight, loss in laws)

    theta = min(np.geomspace(0.1, 200.0, 200).tolist(), key=lambda at: log_moment(at) - at * epsilon)
    spread = 0.0
    for size, weight, loss in laws:
        tilted = weight * np.exp(theta * loss)
        tilted /= tilted.sum()
        spread += size * float(tilted @ (loss - tilted @ loss) ** 2)
    s = np.arange(0.0, 25.0, 0.02) / math.sqrt(spread)
    z = theta + 1j * s
    whole = np.ones_like(z)
    for size, weight, loss in laws:
        tilted = weight * np.exp(theta * loss)
        whole *= (np.exp(1j * s[:, None] * loss) @ (tilted / tilted.sum())) ** size
    terms = np.real(whole * np.exp(-1j * s * epsilon) / (z * (1.0 + z)))
    integral = (s[1] - s[0]) * (terms.sum() - 0.5 * terms[0]) / math.pi
    return math.exp(log_moment(theta) - theta * epsilon) * float(integral)


@pytest.mark.parametrize("orders", [[0.3, 0.7], pytest.param([0.1, 0.3, 0.5, 0.7], marks=pytest.mark.slow)], ids=str)
def test_what_is_reached_is_near_what_is_asked_and_never_below_the_truth(orders: list[float]) -> None:
    """Half of ε was left unused. Nothing is drawn: no false alarm."""
    plan = ss.plan(ss.Profile(orders), ANY_LENGTH, size=30, mechanism="bare")
    assert 0.95 * 3.0 <= plan.epsilon <= 3.0
    found = [independent_delta(plan, plan.epsilon, wide_first=wide_first) for wide_first in (False, True)]
    assert 0.05 * plan.delta < max(found) <= plan.delta
    # The check itself sees an ε that is a little too small.
    assert max(independent_delta(plan, 0.9 * plan.epsilon, wide_first=wide) for wide in (False, True)) > plan.delta


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_hill_numbers_of_values_use_their_epsilon(relation: str) -> None:
    privacy = ss.Privacy(1.0, 1e-9, 10_000, max_value=100, relation=relation)  # type: ignore[arg-type]
    plan = ss.plan(ss.Hill(0.5), privacy, size=60, mechanism="bare")
    assert 0.95 <= plan.epsilon <= 1.0


@pytest.mark.slow
def test_a_ledger_takes_plans_of_several_sketches_under_their_own_relation(tmp_path: Path) -> None:
    """Under add_remove all sketches move the same way, and are composed so; as under replace it would cost more."""
    privacy = ss.Privacy(1.0, 1e-9, 0, relation="add_remove")
    plan = ss.plan(ss.Profile([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), privacy, size=20, mechanism="bare")
    assert charge_of(plan).basic("add_remove") == (plan.epsilon, plan.delta)
    with pytest.raises(ss.LedgerError, match="do not support"):
        charge_of(plan).basic("replace")
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=1.0, delta=1e-6, relation="add_remove")
    collector = plan.open()
    collector.update(range(1_000))
    collector.release(ledger=ledger)
    assert 0.5 < ledger.spent() <= plan.epsilon
