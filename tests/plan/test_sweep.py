"""Every plan of a wide sweep reaches the (ε, δ) asked for, by an integrator that shares no code with the library.

The claim of a plan is rebuilt from its public numbers alone. The mass of the phantoms and the sensitivity come from
their formulas (in floating point, over a search of its own), δ(ε) of 50 entries from tests/shared/independent.py,
the cost of rounding from (1 + e^ε) η/g. The integrator is good to 1e-6 or so, hence the tolerance of 1e-5.
"""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from independent import Pair

import stablesketch as ss

SIZE = 50
DELTA = 1e-9
TOLERANCE = 1e-5
ORDERS = (0.05, 0.25, 0.5, 0.75, 1.0)
EPSILONS = (0.1, 1.0, 5.0)
PROMISES = list(itertools.product((0, 10**3, 10**6, 10**9), (1, 100), ("replace", "add_remove")))

# Two or three of each order that is quick to integrate; every ε, promise, largest value and relation among them.
FEW = [
    (0.25, 0.1, 0, 1, "add_remove"),
    (0.25, 1.0, 10**6, 100, "replace"),
    (0.25, 5.0, 10**3, 1, "replace"),
    (0.5, 0.1, 10**3, 100, "add_remove"),
    (0.5, 1.0, 0, 100, "replace"),
    (0.5, 5.0, 0, 1, "add_remove"),
    (0.75, 0.1, 10**6, 1, "replace"),
    (0.75, 1.0, 10**3, 1, "add_remove"),
    (0.75, 5.0, 10**9, 100, "replace"),
    (1.0, 0.1, 10**6, 100, "replace"),
    (1.0, 1.0, 0, 1, "replace"),
    (1.0, 5.0, 10**3, 100, "add_remove"),
]


def make(p: float, epsilon: float, pairs: int, most: int, relation: str) -> ss.Plan:
    privacy = ss.Privacy(epsilon, DELTA, pairs, max_value=most, relation=relation)  # type: ignore[arg-type]
    plan = ss.plan(ss.Moment(p), privacy, size=SIZE, mechanism="bare")
    assert plan.epsilon <= epsilon
    assert plan.delta <= DELTA
    return plan


def excess(p: float, plan: ss.Plan) -> float:
    """ρ - 1 of the worst neighbours, by the formulas of the theory and a search over totals of the common pairs."""
    privacy = plan.privacy
    floor = plan.phantoms.count * float(plan.phantoms.weight) ** p
    gain, least = float(privacy.max_value) ** p, privacy.pairs
    if privacy.relation == "add_remove":
        return gain / (floor + (float(least) ** p if least else 0.0))

    def above_one(s: np.ndarray) -> np.ndarray:
        """(Λ + s^p + M^p)/(Λ + (s+1)^p) - 1, s the total of the common pairs."""
        after = (s + 1.0) ** p
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = np.where(s > 0.0, s**p * np.expm1(p * np.log1p(1.0 / s)), 1.0)
        return (gain - rise) / (floor + after)

    start = max(least - 1, 0)
    far = start + np.unique(np.floor(np.geomspace(1.0, 1e16, 4_000)))
    totals = np.concatenate([start + np.arange(1_000.0), far])
    best = float(totals[np.argmax(above_one(totals))])
    around = np.unique(np.floor(np.clip(best * np.linspace(0.98, 1.02, 20_001), start, None)))
    return float(max(above_one(totals).max(), above_one(around).max()))


def cost_of_rounding(plan: ss.Plan, epsilon: float) -> float:
    """(1 + e^ε) η/g: η is the declared numerical error, 2^-43, and g the step of the grid."""
    return (1.0 + math.exp(epsilon)) * 2.0**-43 / plan.step


def worst_delta(pair: Pair, epsilon: float) -> float:
    return max(pair.delta(epsilon, SIZE, wide_first=side) for side in (False, True))


def check(plan: ss.Plan) -> None:
    """(plan.epsilon, plan.delta) holds, and where there is a floor it is not larger than it has to be."""
    above_one = excess(plan.statistic.p, plan)
    if above_one == 0.0:
        return  # p = 1 and values of 1: F_1 is the number of pairs, which neighbours share
    # Of one ulp of 1 + excess the shift would take 1e-7 of itself at the longest streams: below the tolerance.
    pair = Pair(plan.statistic.p, 1.0 + above_one)
    claimed = worst_delta(pair, plan.epsilon) + cost_of_rounding(plan, plan.epsilon)
    assert claimed <= plan.delta * (1.0 + TOLERANCE)
    if plan.phantoms.weight >= 500:  # lighter ones are whole numbers too coarse to be so close
        assert plan.epsilon >= 0.97 * plan.privacy.epsilon


@pytest.mark.parametrize(("p", "epsilon", "pairs", "most", "relation"), FEW)
def test_the_claim_of_a_plan_holds(p: float, epsilon: float, pairs: int, most: int, relation: str) -> None:
    check(make(p, epsilon, pairs, most, relation))


def test_the_few_have_everything() -> None:
    for place, values in ((1, EPSILONS), (2, (0, 10**3, 10**6, 10**9)), (3, (1, 100)), (4, ("replace", "add_remove"))):
        assert {case[place] for case in FEW} == set(values)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("p", ORDERS[1:])
def test_the_claim_of_every_plan_holds(p: float, epsilon: float) -> None:
    for pairs, most, relation in PROMISES:
        check(make(p, epsilon, pairs, most, relation))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_plan_of_the_least_order_reaches_what_was_asked(epsilon: float) -> None:
    """At p = 0.05 one integration takes half a minute. δ grows with ρ, so the most sensitive plan stands for all 16."""
    p = ORDERS[0]
    plans = [make(p, epsilon, *promise) for promise in PROMISES]
    worst = max(plans, key=lambda plan: excess(p, plan))
    pair = Pair(p, 1.0 + excess(p, worst))
    assert worst_delta(pair, epsilon) + cost_of_rounding(worst, epsilon) <= DELTA * (1.0 + TOLERANCE)
    claimed = worst_delta(pair, worst.epsilon) + cost_of_rounding(worst, worst.epsilon)
    assert claimed <= worst.delta * (1.0 + TOLERANCE)
    assert len({plan.step for plan in plans}) == 1


def by_default(p: float, epsilon: float, pairs: int, most: int, relation: str) -> ss.Plan | str:
    """The plan at the default error, or what its refusal says."""
    privacy = ss.Privacy(epsilon, DELTA, pairs, max_value=most, relation=relation)  # type: ignore[arg-type]
    try:
        return ss.plan(ss.Moment(p), privacy, mechanism="bare")
    except (ss.PlanInfeasible, ss.ArgumentError) as refused:
        return str(refused)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("p", ORDERS)
def test_the_default_error_is_reached_or_the_refusal_says_what_would_do(p: float, epsilon: float) -> None:
    """What would do is tried: the error or the size that the message names, or an expected F_p that is large enough.

    Every sixth promise, others for the next order or ε: a plan by error takes a second or two.
    """
    for pairs, most, relation in PROMISES[(3 * ORDERS.index(p) + EPSILONS.index(epsilon)) % 6 :: 6]:
        found = by_default(p, epsilon, pairs, most, relation)
        privacy = ss.Privacy(epsilon, DELTA, pairs, max_value=most, relation=relation)  # type: ignore[arg-type]
        if isinstance(found, str):
            assert "expected=" in found
            named = re.search(r"[Pp]ass (error|size)=([\d.]+)", found)
            assert named is not None or pairs == 0
            way = {named[1]: (float if named[1] == "error" else int)(named[2])} if named else {"expected": 1e12}
            found = ss.plan(ss.Moment(p), privacy, **way, mechanism="bare")  # type: ignore[arg-type]
        assert found.epsilon <= epsilon
        assert found.delta <= DELTA
        curve = ss.PrivacyCurve.from_log(p, found.size, math.log1p(excess(p, found)))
        assert curve.delta_bracket(found.epsilon)[0] + cost_of_rounding(found, found.epsilon) <= DELTA


@pytest.mark.parametrize("p", [0.25, 0.5, 1.0])
def test_the_default_error_at_a_large_epsilon(p: float) -> None:
    """ε = 5 and δ = 1e-9 take a coarser grid than a quarter of the deviation, and the error is still 5%."""
    plan = by_default(p, 5.0, 10**6, 1, "replace")
    assert isinstance(plan, ss.Plan)
    assert plan.error <= 0.05
    assert plan.step > 0.05 / 4.0
    if p > 0.25:
        return  # without a floor ε is far below 5 and nothing is left to check; p = 1 has ρ = 1
    pair = Pair(p, 1.0 + excess(p, plan))
    worst = max(pair.delta(plan.epsilon, plan.size, wide_first=side) for side in (False, True))
    assert worst + cost_of_rounding(plan, plan.epsilon) <= plan.delta * (1.0 + TOLERANCE)


def test_the_check_has_teeth() -> None:
    """Half the floor, and the integrator says so."""
    plan = make(0.5, 1.0, 0, 1, "add_remove")
    pair = Pair(0.5, 1.0 + 2.0 * excess(0.5, plan))
    assert worst_delta(pair, plan.epsilon) > 1_000.0 * plan.delta
