"""Plans of what is computed from several measurements: the price of all together, and how it is shared."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.mechanism.derived.plan import composed_epsilon
from stablesketch.plan.mechanism import charge_of
from stablesketch.plan.plan import altered
from stablesketch.privacy.charge import Charge

VALUES = ss.Privacy(1.0, 1e-9, 100_000, max_value=100, relation="replace")


def test_one_measurement_has_the_price_of_itself() -> None:
    plan = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-9, 1_000_000, relation="replace"), size=200, mechanism="bare")
    (one,) = plan.inputs
    privacy = ss.Privacy(1.0, 1e-9, 1_000_000, relation="replace")
    assert one.releases_like(ss.plan(ss.Moment(0.5), privacy, size=200, mechanism="bare"))
    assert (plan.epsilon, plan.delta, plan.size) == (one.epsilon, one.delta, 200)
    assert plan.error == pytest.approx(2.0 * one.error)  # 1/(1 - q) times
    assert charge_of(plan) == charge_of(one)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("statistic", [ss.Hill(0.5), ss.Profile([0.25, 0.5, 0.75])])
def test_several_measurements_together_are_within_what_is_asked(statistic: ss.Hill | ss.Profile, relation: str) -> None:
    plan = ss.plan(statistic, dataclasses.replace(VALUES, relation=relation), size=100, mechanism="bare")  # type: ignore[arg-type]
    assert plan.epsilon <= 1.0
    assert plan.delta <= 1e-9
    assert composed_epsilon(plan.inputs, relation, 1e-9) <= 1.0
    assert ss.Total() in {one.statistic for one in plan.inputs}
    for one in plan.inputs:  # none is starved
        assert one.epsilon > 0.05
    assert ss.Plan.from_json(plan.to_json()) == plan
    assert charge_of(plan).basic() == (plan.epsilon, plan.delta)


def test_composition_of_a_sketch_and_noise_is_never_below_a_simulation() -> None:
    """Five Cauchy entries of ratio 1.4 and Laplace noise on integers, with numpy's own samplers: the hockey-stick
    divergence by the mean of (1 - e^{ε - loss})_+ over 10^6 draws of the first law. Within 5 standard errors (a false
    alarm in 10^6), and not more than 3% above."""
    rng, draws, log_rho = np.random.default_rng(5), 1_000_000, math.log(1.4)
    charges = (
        Charge("sketch", p=1.0, size=5, log_rho=log_rho, epsilon=math.inf),
        Charge("exact", epsilon=0.7, distance=7),
    )
    law = Charge("all", epsilon=math.inf, charges=charges).laws("add_remove")[0]
    x = rng.standard_cauchy((draws, 5))
    wide = math.exp(log_rho)
    loss = np.sum(np.log((wide**2 + x**2) / (1.0 + x**2)) - log_rho, axis=1)
    q = math.exp(-0.1)
    noise = rng.geometric(1.0 - q, draws) - rng.geometric(1.0 - q, draws)
    loss = loss + 0.1 * (np.abs(noise - 7) - np.abs(noise))
    for epsilon in (0.0, 0.5, 1.0, 1.5):
        terms = np.maximum(-np.expm1(epsilon - loss), 0.0)
        found, doubt = float(terms.mean()), float(terms.std()) / math.sqrt(draws)
        assert found - 5.0 * doubt <= law.delta(epsilon) <= 1.03 * found + 5.0 * doubt


def test_the_error_is_that_of_all_measurements() -> None:
    plan = ss.plan(ss.Hill(0.5), VALUES, size=400, expected=2_000.0, mechanism="bare")
    moment, total = plan.inputs
    assert moment.expected == pytest.approx(math.sqrt(100_000 * 2_000.0))
    assert plan.expected == pytest.approx(2_000.0)
    assert plan.error == pytest.approx(math.hypot(2.0 * moment.error, total.error))


def test_an_error_that_is_asked_for_is_reached_or_refused() -> None:
    plan = ss.plan(ss.Renyi(0.5), ss.Privacy(1.0, 1e-9, 10**6, relation="replace"), error=0.08, mechanism="bare")
    assert 0.07 < plan.error <= 0.08
    assert not plan.relative
    with pytest.raises(ss.PlanInfeasible):
        ss.plan(
            ss.Hill(0.5), ss.Privacy(1.0, 1e-9, 500, max_value=1_000, relation="replace"), error=0.05, mechanism="bare"
        )


def test_sizes_and_memory_are_shared_out() -> None:
    privacy = ss.Privacy(1.0, 1e-9, 10**6, relation="replace")
    assert ss.plan(ss.Profile([0.25, 0.5]), privacy, size=[50, 80], mechanism="bare").sizes == (50, 80)
    assert ss.plan(ss.Profile([0.25, 0.5]), privacy, size=60, mechanism="bare").sizes == (60, 60)
    half = ss.plan(ss.Profile([0.25, 0.5]), privacy, memory="16K", mechanism="bare")
    assert 8_000 < half.bytes < 17_500
    with pytest.raises(ss.ArgumentError, match="must have one number for each of the 2 measurements"):
        ss.plan(ss.Profile([0.25, 0.5]), privacy, size=[50], mechanism="bare")


def test_exact_measurements_are_pure() -> None:
    plan = ss.plan(ss.Hill(0.5), VALUES, mechanism="exact")
    assert plan.delta == 0.0
    assert plan.epsilon <= 1.0
    assert plan.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda plan: plan["parts"].pop(), "has the wrong measurements"),
        (lambda plan: plan.pop("parts"), "no grid"),
        (lambda plan: plan["parts"][0]["numbers"].update(size="many"), "size"),
        (lambda plan: plan["asked"]["statistic"].update(name="hull"), "cannot read the format"),
        (lambda plan: plan["asked"]["statistic"].update(order=3), "order must .*got 3"),
    ],
)
def test_plans_that_nothing_writes_are_refused(change: object, says: str) -> None:
    content = json.loads(ss.plan(ss.Hill(0.5), VALUES, size=50, mechanism="bare").to_json())
    change(content)  # type: ignore[operator]
    with pytest.raises(ss.BlobError, match=says):
        ss.Plan.from_json(json.dumps(content))


def test_a_forged_price_is_found_out_by_who_charges_it() -> None:
    plan = ss.plan(ss.Hill(0.5), VALUES, size=50, mechanism="bare")
    with pytest.raises(ss.LedgerError, match="do not support"):
        charge_of(altered(plan, epsilon=plan.epsilon / 3.0)).basic()


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize(
    ("statistic", "expected"),
    [(ss.Tsallis(1.5), 2.0), (ss.Tsallis(2), 1e5), (ss.Renyi(0.5), 1e5), (ss.Hill(0.5), 1e30)],
)
def test_what_no_stream_can_have_is_not_expected(statistic: ss.Statistic, expected: float, mechanism: str) -> None:
    """Tsallis' entropy of order 1.5 is below 2, and Rényi's at most the logarithm of the number of keys."""
    with pytest.raises(ss.ArgumentError, match="must be at most"):
        ss.plan(statistic, ss.Privacy(1.0, 1e-9), expected=expected, mechanism=mechanism)  # type: ignore[arg-type]
