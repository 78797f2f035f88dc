"""What many releases cost together, against an integrator that shares no code with the library.

It is never below the truth, and above it by less than 1% of ε: the certified side is the upper one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import mixtures
import numpy as np
import pytest

import stablesketch as ss
from stablesketch.ledger.accounting import ComposedCost, LossMoment, best_theta
from stablesketch.plan.mechanism import charge_of
from stablesketch.plan.plan import altered
from stablesketch.privacy.charge import Charge
from stablesketch.privacy.loss_law import Law


def sketch(p: float, size: int, log_rho: float, gap: float = 0.0) -> Charge:
    # ε = ∞ keeps basic composition out of it.
    return Charge("sketch", p=p, size=size, log_rho=log_rho, gap=gap, epsilon=math.inf, delta=1e-9)


ONE = sketch(0.5, 50, 0.004)
MIXED: dict[str, list[tuple[Charge, int]]] = {
    "one sketch": [(sketch(0.5, 50, 0.02), 1)],
    "many alike": [(ONE, 100)],
    "a year of hours": [(sketch(0.5, 100, 2e-4), 8760)],
    "orders and sizes": [(sketch(0.25, 50, 0.01), 3), (sketch(0.75, 200, 0.002), 10), (sketch(1.0, 20, 0.03), 2)],
    "small p": [(sketch(0.1, 30, 0.02), 7), (sketch(0.1, 10, 0.01), 5)],
    "large and tiny": [(sketch(0.5, 50, 0.05), 1), (sketch(0.5, 50, 1e-5), 1000)],
}


# Another order takes the integrator ten seconds to prepare.
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name == "small p" else []) for name in MIXED]


@lru_cache(maxsize=64)
def losses(mechanism: Charge, count: int, wide_first: bool) -> mixtures.Losses:
    size = mechanism.size * count
    return mixtures.entries(mechanism.p, mechanism.log_rho, size, wide_first=wide_first)


def truth(parts: list[tuple[Charge, int]], wide_first: list[bool]) -> list[mixtures.Losses]:
    return [losses(m, count, wide) for (m, count), wide in zip(parts, wide_first, strict=True)]


def together(parts: list[tuple[Charge, int]], relation: str, theta: float | None = None) -> ComposedCost:
    costs = [ComposedCost.of(mechanism, relation, theta).times(count) for mechanism, count in parts]
    return sum(costs, ComposedCost.nothing(relation, theta))


@pytest.mark.parametrize("name", NAMES)
def test_adding_and_removing_each_in_its_direction(name: str) -> None:
    cost = together(MIXED[name], "add_remove")
    for wide, loss in zip((False, True), cost.losses, strict=True):
        parts = truth(MIXED[name], [wide] * len(MIXED[name]))
        alone = ComposedCost((loss,), (math.inf, 1.0))  # type: ignore[arg-type]
        for delta in (1e-4, 1e-9):
            epsilon = alone.epsilon(delta)
            assert mixtures.delta(parts, epsilon) <= delta
            assert mixtures.delta(parts, epsilon * 0.995) >= delta  # less than half a percent too much


@pytest.mark.parametrize("name", NAMES)
def test_replacing_covers_every_mixture_of_directions(name: str) -> None:
    """A replaced pair may raise one statistic and lower another: all directions at once, in every combination."""
    cost = together(MIXED[name], "replace")
    combinations = [[bool(i >> j & 1) for j in range(len(MIXED[name]))] for i in range(2 ** len(MIXED[name]))]
    for delta in (1e-4, 1e-9):
        epsilon = cost.epsilon(delta)
        assert max(mixtures.delta(truth(MIXED[name], wide), epsilon) for wide in combinations) <= delta
        assert max(mixtures.delta(truth(MIXED[name], wide), epsilon * 0.97) for wide in combinations) >= delta


def test_one_direction_for_all_would_be_too_little_under_replace() -> None:
    """Why there is a law for both directions: with one raised and one lowered, neither direction alone covers it.

    At small ε and large skewness the mixed pair exceeds the worse of the two pure ones.
    """
    parts = [(sketch(0.25, 8, 0.3), 1), (sketch(0.75, 8, 0.3), 1)]
    mixed = truth(parts, [False, True])
    cost = together(parts, "replace")
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        assert cost.delta(epsilon) >= mixtures.delta(mixed, epsilon) * (1.0 - 1e-6)


@pytest.mark.parametrize(("epsilon", "distance", "count"), [(0.1, 1500, 1), (0.1, 200, 60), (1.0, 700, 8), (2.0, 3, 4)])
def test_discrete_laplace_noise(epsilon: float, distance: int, count: int) -> None:
    mechanism = Charge("exact", epsilon=epsilon, distance=distance)
    cost = ComposedCost.of(mechanism, "replace", None).times(count)
    weight, loss, _ = mixtures.laplace(epsilon, distance, 1)
    for share in (0.0, 0.2, 0.5):
        at = share * epsilon * count
        if count == 1:
            true = float(np.sum(weight * np.maximum(-np.expm1(at - loss), 0.0)))
        else:
            # All outcomes of all releases, losses rounded to the lattice they are on: multiples of ε/D.
            index = np.rint(loss * distance / epsilon).astype(int) + distance
            law = np.bincount(index, weight, 2 * distance + 1)
            total = np.ones(1)
            for _ in range(count):
                total = np.convolve(total, law)
            losses = (np.arange(len(total)) - count * distance) * epsilon / distance
            true = float(np.sum(total * np.maximum(-np.expm1(at - losses), 0.0)))
        assert true * (1.0 - 1e-9) <= cost.delta(at) <= true * 1.02 + 0.02 * epsilon


def test_less_distance_is_less_loss() -> None:
    """Closer neighbours are dominated: at the same noise, the curve grows with the distance."""
    for near in (1, 2, 5, 9):
        for epsilon in (0.0, 0.1, 0.4, 0.8):
            values = []
            for distance in (near, 10):
                rate = 0.1
                z = np.arange(-400, 500)
                weight = math.tanh(0.5 * rate) * np.exp(-rate * np.abs(z))
                loss = rate * (np.abs(z - distance) - np.abs(z))
                values.append(float(np.sum(weight * np.maximum(-np.expm1(epsilon - loss), 0.0))))
            assert values[0] <= values[1] + 1e-15


# --- beside the distribution ---


def test_pure_and_single_releases_cost_what_they_say(exact: ss.Plan, plan: ss.Plan) -> None:
    """To the last digit: two releases of 0.1 are 0.2, and one planned release is its own ε at its own δ."""
    cost = ComposedCost.of(charge_of(exact), "replace", None)
    assert cost.epsilon(1e-12) == exact.epsilon
    assert (cost + cost).epsilon(1e-12) == pytest.approx(0.2, rel=1e-15)
    assert cost.times(3).epsilon(1e-12) == pytest.approx(0.3, rel=1e-15)
    single = ComposedCost.of(charge_of(plan), "replace", None)
    assert single.epsilon(plan.delta) <= plan.epsilon
    assert single.delta(plan.epsilon) <= plan.delta


def test_what_a_plan_says_of_itself_is_not_believed(plan: ss.Plan) -> None:
    """ε and δ are computed again from size, floor and privacy; a plan that claims more is refused."""
    assert charge_of(plan).basic() == (plan.epsilon, plan.delta)
    boastful = altered(plan, epsilon=0.9 * plan.epsilon)
    bare = altered(plan, phantoms=replace(plan.phantoms, count=plan.phantoms.count // 2, weight=1))
    careless = altered(plan, delta=0.5 * plan.delta)
    fine = altered(plan, step=plan.step / 1024)
    for forged in (boastful, bare, careless, fine):
        with pytest.raises(ss.LedgerError, match="do not support"):
            ComposedCost.of(charge_of(forged), "replace", None)


def test_a_plan_that_samples_is_charged_what_it_was_proved_to_be() -> None:
    """Its distribution is not that of its entries; the worst mechanism of its (ε, δ) is charged."""
    plan = ss.plan(
        ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 10_000, relation="replace"), size=20, sampling=0.5, mechanism="bare"
    )
    mechanism = charge_of(plan)
    assert (mechanism.kind, mechanism.epsilon, mechanism.delta) == ("other", plan.epsilon, plan.delta)
    cost = ComposedCost.of(mechanism, "replace", None)
    assert cost.epsilon(plan.delta) == plan.epsilon
    assert cost.delta(0.5 * plan.epsilon) > 0.2 * plan.epsilon


def test_finite_precision_is_charged_per_release() -> None:
    """The worst that outcomes changed with probability g on either neighbour can do: a curve H(α) + (1 + α) g as long
    as that falls, level from there on. The charge covers it all; for small ε it is little more than 2g.
    """
    gap = 1e-11
    for mechanism in (sketch(0.5, 50, 0.004, gap), sketch(0.5, 50, 0.05, gap)):
        with_gap = ComposedCost.of(mechanism, "replace", None)
        ideal = ComposedCost.of(replace(mechanism, gap=0.0), "replace", None)
        grid = np.linspace(0.0, 4.0, 2_000)
        worst = np.minimum.accumulate([ideal.delta(at) + (1.0 + math.exp(at)) * gap for at in grid.tolist()])
        for at, needed in zip(grid.tolist(), worst, strict=True):
            assert with_gap.delta(at) >= needed * (1.0 - 1e-4)  # the grid may miss the lowest point by that
    small = ComposedCost.of(sketch(0.5, 50, 1e-4, gap), "replace", None)
    assert isinstance(small.losses[0], Law)
    assert small.losses[0].infinity < 2.1 * gap


def test_nothing_costs_nothing() -> None:
    for relation in ("replace", "add_remove"):
        for theta in (None, 5.0):
            nothing = ComposedCost.nothing(relation, theta)
            assert nothing.epsilon(1e-9) < (1e-12 if theta is None else 5.0)
    assert ComposedCost.of(sketch(0.5, 50, 0.0), "replace", None).epsilon(1e-12) < 1e-12
    assert ComposedCost.of(sketch(0.5, 50, 1e-200), "replace", None).epsilon(1e-12) < 1e-12


# --- plans chosen after a look ---


@pytest.mark.parametrize("name", NAMES)
def test_the_moment_is_an_upper_bound_too(name: str) -> None:
    for budget in ((1.0, 1e-6), (4.0, 1e-9)):
        cost = together(MIXED[name], "add_remove", best_theta(*budget))
        for wide in (False, True):
            parts = truth(MIXED[name], [wide] * len(MIXED[name]))
            for epsilon in (0.5, 1.0, 2.0):
                assert cost.delta(epsilon) >= mixtures.delta(parts, epsilon) * (1.0 - 1e-6)


def test_the_moment_is_not_wasteful() -> None:
    """Within 35% of the distributions where the budget is used up."""
    parts = [(sketch(0.5, 100, 0.002), 200)]
    exactly = together(parts, "replace").epsilon(1e-6)
    assert together(parts, "replace", best_theta(exactly, 1e-6)).epsilon(1e-6) < 1.35 * exactly


def test_why_distributions_do_not_allow_a_look() -> None:
    """The counterexample of accounting.py, in numbers: two continuations within δ each, and a choice between them that
    is not.

    The first loss is ±x. Mechanism A has loss ±a and pushes the total above ε after +x only; B reveals all with a
    small probability. Both x then A, and x then B, have δ(ε) <= δ0; A after +x and B after -x has more.
    """
    x, a, epsilon = 1.0, 0.5, 1.2
    likely_x, likely_a = 1.0 / (1.0 + math.exp(-x)), 1.0 / (1.0 + math.exp(-a))
    after_plus_a = likely_a * -math.expm1(epsilon - x - a)
    with_a = likely_x * after_plus_a  # after -x nothing exceeds ε
    reveal = with_a  # B: everything at infinity with this probability, whatever came before
    chosen = likely_x * after_plus_a + (1.0 - likely_x) * reveal
    assert chosen > max(with_a, reveal) * 1.2


def test_moments_add_up_and_the_worse_counts() -> None:
    theta = 7.0
    cost = ComposedCost.of(ONE, "add_remove", theta)
    both = cost + cost
    for one, two in zip(cost.losses, both.losses, strict=True):
        assert isinstance(one, LossMoment)
        assert isinstance(two, LossMoment)
        assert two.log_moment == pytest.approx(2.0 * one.log_moment)
    assert (cost | both).losses == both.losses
    assert cost.times(5).losses[0].log_moment == pytest.approx(5.0 * cost.losses[0].log_moment)  # type: ignore[union-attr]


@pytest.mark.parametrize("scale", [0.0, 1e-14, 1e-11, 1e-3])
def test_a_moment_has_all_the_mass_at_infinity_that_its_law_can_have(scale: float) -> None:
    """The masses of a law are known up to a factor e^scale, and so is that at infinity (`Law.delta`)."""
    law = Law(-4, 0, np.array([0.5, 0.5]), infinity=1e-9, scale=scale)
    found = Fraction(LossMoment.of_law(2.0, law).infinity)
    assert found >= Fraction(law.infinity) * (1 + Fraction(scale))
    assert found <= Fraction(law.infinity) * (1 + Fraction(1.001 * scale)) * (1 + Fraction(1, 10**11))


def test_bytes_and_back() -> None:
    for theta in (None, 3.0):
        cost = ComposedCost.of(ONE, "add_remove", theta).times(3)
        again = ComposedCost.from_bytes(cost.to_bytes())
        assert again.to_bytes() == cost.to_bytes()
        assert again.delta(0.3) == cost.delta(0.3)


def test_what_is_added_up_is_rounded_only_where_it_has_to_be() -> None:
    """Two releases of ε = 1 and 0.5 once came to a hair more than 1.5, which was shown as 1.501."""
    pure = [ComposedCost.of(Charge("other", epsilon=epsilon, delta=0.0), "replace", None) for epsilon in (1.0, 0.5)]
    assert (pure[0] + pure[1]).basic == (1.5, 0.0)
    assert pure[1].times(6).basic == (3.0, 0.0)


def test_what_is_added_up_is_never_less_than_the_sum() -> None:
    rng = np.random.default_rng(3)
    for one, other in rng.lognormal(0.0, 5.0, (2000, 2)).tolist():
        costs = [ComposedCost((LossMoment(1.0),), (each, 0.0)) for each in (one, other)]
        for found, exact in (
            ((costs[0] + costs[1]).basic[0], Fraction(one) + Fraction(other)),
            (costs[0].times(7).basic[0], 7 * Fraction(one)),
        ):
            assert math.nextafter(found, 0.0) < exact <= found
