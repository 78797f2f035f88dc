"""Tables: every group has the whole ε. Neighbours by brute force, divergences of all groups together by exact sums.

Nothing here uses the code it checks but for the noise that plans ask for, and what they say it costs.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import integrate, stats

import stablesketch as ss
from stablesketch.bounding.groups import GroupBudget
from stablesketch.mechanism.entropy.noise import entropy_noise
from stablesketch.mechanism.exact.number import ExactNumber
from stablesketch.mechanism.registers import phantom_number
from stablesketch.plan.mechanism import charge_of, mechanism_of
from stablesketch.plan.plan import altered
from stablesketch.privacy.charge import Charge
from stablesketch.privacy.noisy_estimate import Precision

GROUPS, KEYS, MOST = 3, 2, 2
EPSILON, DELTA = 1.0, 1e-4
PAIRS = list(itertools.product(range(GROUPS), range(KEYS), (1, MOST)))  # (group, key, value)
Stream = tuple[tuple[int, int, int], ...]
ASKED = {
    "one pair": ss.Privacy(EPSILON, DELTA, max_value=MOST),
    "a replaced pair": ss.Privacy(EPSILON, DELTA, max_value=MOST, relation="replace"),
    "a person": ss.Privacy(EPSILON, DELTA, max_value=MOST, pairs_per_person=2),
}
TOUCHED = {"one pair": 1, "a replaced pair": 2, "a person": 2}


def group_privacy(whose: str) -> ss.Privacy:
    return GroupBudget.of(ASKED[whose], TOUCHED[whose]).privacy


def neighbours(whose: str) -> Iterator[tuple[Stream, Stream]]:
    """Every pair of neighbours over up to two shared pairs."""
    for shared in itertools.chain.from_iterable(itertools.combinations_with_replacement(PAIRS, n) for n in range(3)):
        if whose == "a replaced pair":
            for one, other in itertools.combinations(PAIRS, 2):
                yield (*shared, one), (*shared, other)
        else:
            for count in range(1, 3 if whose == "a person" else 2):
                for own in itertools.combinations_with_replacement(PAIRS, count):
                    yield shared, (*shared, *own)


def totals(stream: Stream, group: int) -> list[int]:
    found: Counter[int] = Counter()
    for own, key, value in stream:
        if own == group:
            found[key] += value
    return list(found.values())


def moved(whose: str, number: object) -> set[tuple[int, ...]]:
    """By how much the whole numbers of all groups differ, for all neighbours; those that differ, sorted, with signs."""
    found = set()
    for one, other in neighbours(whose):
        both = ([number(totals(stream, g)) for g in range(GROUPS)] for stream in (one, other))  # type: ignore[operator]
        found.add(tuple(sorted(b - a for a, b in zip(*both, strict=True) if a != b)))
    return found


def together(shifts: tuple[int, ...], scale: float, epsilon: float) -> float:
    """D_ε of discrete Laplace noise on several integers: the losses of all of them, added up one by one."""
    losses, masses = np.zeros(1), np.ones(1)
    q = math.exp(-1.0 / scale)
    for shift in map(abs, shifts):
        z = np.arange(shift + 1)
        mass = q**z * np.where((z == 0) | (z == shift), 1.0, 1.0 - q) / (1.0 + q)
        losses = np.add.outer(losses, (shift - 2.0 * z) / scale).ravel()
        masses = np.multiply.outer(masses, mass).ravel()
    return float(masses @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def exact_distance(plan: ss.Plan) -> int:
    way = mechanism_of(plan)
    assert isinstance(way, ExactNumber)
    return way.distance(plan)


def check_noise(shifts: set[tuple[int, ...]], scale: Fraction, charge: Charge) -> None:
    """No neighbours tell more than the whole table is charged, at ε and below it; some tell nearly all of it."""
    worst = max(shifts, key=lambda each: sum(map(abs, each)))
    assert sum(map(abs, worst)) <= charge.distance
    (law, _), (either,) = charge.laws("add_remove"), charge.laws("replace")
    for epsilon in (0.0, 0.3, 0.9, EPSILON * (1 + 1e-12)):
        found = max(together(each, float(scale), epsilon) for each in shifts)
        assert found <= min(law.delta(epsilon), either.delta(epsilon)) + 1e-12
        if epsilon <= 0.3:
            assert found >= 0.5 * law.delta(epsilon)


@pytest.mark.parametrize("whose", ASKED)
@pytest.mark.parametrize("p", [0.25, 0.9, 1.5, 2.0])
def test_exact_moments(whose: str, p: float) -> None:
    """Above order 1 the norm is what is released."""
    plan = ss.plan(ss.Moment(p), group_privacy(whose), mechanism="exact")
    plan = altered(plan, step=plan.step * 32)  # a coarser grid, of which roundings are a larger part
    shifts = moved(whose, lambda own: math.floor(sum(f**p for f in own) ** (1 / max(p, 1)) / plan.step + 0.5))
    distance = exact_distance(plan)
    check_noise(shifts, Fraction(distance) / Fraction(EPSILON), charge_of(plan))


def test_a_rounding_for_every_group_is_needed() -> None:
    """Two groups can move by more than one group with both pairs in it."""
    privacy = group_privacy("a person")
    plan = altered(ss.plan(ss.Moment(0.5), privacy, mechanism="exact"), step=3.0)
    one = exact_distance(altered(plan, privacy=replace(privacy, groups=1)))
    shifts = moved("a person", lambda own: math.floor(sum(f**0.5 for f in own) / 3.0 + 0.5))
    assert one < max(sum(map(abs, each)) for each in shifts) <= exact_distance(plan)


@pytest.mark.parametrize("whose", ASKED)
@pytest.mark.parametrize("statistic", [ss.Moment(1.0), ss.Total(), ss.Distinct()])
def test_totals_and_exact_counts(whose: str, statistic: ss.Statistic) -> None:
    plan = ss.plan(statistic, group_privacy(whose), mechanism="exact")
    shifts = moved(whose, len if isinstance(statistic, ss.Distinct) else sum)
    check_noise(shifts, Fraction(exact_distance(plan)) / Fraction(EPSILON), charge_of(plan))


@pytest.mark.parametrize("whose", ASKED)
def test_exact_entropy(whose: str) -> None:
    """N (H - β) of all groups, on grids that are as fine as the least bound of N that holds on both sides."""
    privacy = group_privacy(whose)
    plan = ss.plan(ss.Shannon(), privacy, mechanism="exact")
    noise = entropy_noise(plan)
    mass, counted = charge_of(plan).charges
    shifts, most = set(), 0
    for one, other in neighbours(whose):
        differ = []
        for g in range(GROUPS):
            here, there = totals(one, g), totals(other, g)
            if sorted(here) == sorted(there):
                continue
            bound = max(sum(here), sum(there))
            step, centre = float(noise.step(bound)), float(noise.centre(bound))
            units = [
                math.floor((sum(f * math.log(sum(own) / f) for f in own) - centre * sum(own)) / step + 0.5)
                for own in (here, there)
            ]
            differ.append(units[1] - units[0])
        shifts.add(tuple(sorted(differ)))
        most = max(most, sum(abs(sum(totals(one, g)) - sum(totals(other, g))) for g in range(GROUPS)))
    assert 0.99 * mass.distance < max(sum(map(abs, each)) for each in shifts) <= mass.distance
    assert most <= counted.distance
    # Both parts together have ε; the bounds of N fail, in all groups that change, as seldom as is charged.
    assert Fraction(mass.epsilon) + Fraction(counted.epsilon) <= Fraction(privacy.epsilon)
    reach = noise.bound(1000) - 1000 - counted.distance
    q = math.exp(-counted.epsilon / counted.distance)
    fails = q ** (reach + 1) / (1.0 + q)
    assert privacy.copies * fails <= mass.gap
    assert (1.0 + math.exp(mass.epsilon)) * mass.gap <= privacy.delta


@pytest.mark.parametrize("whose", ASKED)
def test_entropy_by_sketch(whose: str) -> None:
    """N (H + ζ - β) of all groups in steps of their grids, whatever ζ, within its reach, every group has."""
    privacy = group_privacy(whose)
    plan = ss.plan(ss.Shannon(), privacy, size=16)
    noise = entropy_noise(plan)
    mass, counted, weights = charge_of(plan).charges
    most = 0
    for one, other in neighbours(whose):
        moves = 0
        for g in range(GROUPS):
            here, there = totals(one, g), totals(other, g)
            if sorted(here) == sorted(there):
                continue
            bound = max(sum(here), sum(there))  # the least that T may be
            step, centre = float(noise.step(bound)), float(noise.centre(bound))
            units = [
                [math.floor((entropy_mass(own) + sum(own) * (zeta - centre)) / step + 0.5) for own in (here, there)]
                for zeta in (-noise.reaches[1], 0.0, noise.reaches[0])
            ]
            moves += max(abs(b - a) for a, b in units)
        most = max(most, moves)
    assert 0.5 * mass.distance <= most <= mass.distance
    assert noise.mass_scale == Fraction(mass.distance) / Fraction(mass.epsilon)
    assert counted.distance == privacy.pairs_per_person * MOST
    # In every group that changes, ζ may be beyond its reach, and T too small.
    assert mass.gap >= privacy.copies * noise._each(privacy.copies) * 2 * (1 - 1e-6)
    # Failures of the weights, in every group that changes, are charged by themselves, without a factor of e^ε.
    assert (weights.epsilon, weights.delta) == (0.0, noise.mishap)
    assert noise.copies == privacy.copies
    assert (1.0 + math.exp(mass.epsilon)) * mass.gap + weights.delta <= privacy.delta


def entropy_mass(own: list[int]) -> float:
    """N H, by its definition."""
    return sum(own) * math.log(sum(own) or 1) - sum(f * math.log(f) for f in own)


def phantom_law(centre: int, scale: float, reach: int) -> np.ndarray:
    """P(Z = 0), P(Z = 1), ... of Z = max(0, centre + L), with what is beyond `reach` left out."""
    q = math.exp(-1.0 / scale)
    law = (1.0 - q) / (1.0 + q) * q ** np.abs(np.arange(reach) - centre)
    law[0] = q**centre / (1.0 + q)
    return law


@pytest.mark.parametrize("whose", ASKED)
@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-7])
def test_registers_with_phantoms(whose: str, delta: float) -> None:
    """The numbers n_g + Z_g of all groups, which all that registers show depends on, by every outcome of two groups."""
    privacy = replace(group_privacy(whose), delta=delta)
    plan = ss.plan(ss.Distinct(), privacy, size=256)
    phantoms = phantom_number(plan)
    shifts = moved(whose, len)
    assert max(sum(map(abs, each)) for each in shifts) == privacy.pairs_per_person
    scale = privacy.pairs_per_person / EPSILON
    laws = [np.pad(phantom_law(phantoms.centre, scale, 400), (j, 2 - j)) for j in range(3)]
    curve = charge_of(plan).laws("replace")[0]
    for shift in shifts:
        first, second = np.ones(()), np.ones(())
        for each in shift:
            first = np.multiply.outer(first, laws[max(-each, 0)])
            second = np.multiply.outer(second, laws[max(each, 0)])
        for epsilon, claimed in ((EPSILON, min(plan.delta, phantoms.delta(EPSILON))), (0.4, curve.delta(0.4))):
            for one, other in ((first, second), (second, first)):
                assert np.maximum(one - math.exp(epsilon) * other, 0.0).sum() <= claimed * (1 + 1e-9)


def test_failures_of_phantoms_count_once_for_every_group() -> None:
    """Two groups that lose a key each tell more than what one group with the δ of both is charged."""
    privacy = group_privacy("a person")
    alone = ss.plan(ss.Distinct(), replace(privacy, groups=1), size=256)
    law = phantom_law(phantom_number(alone).centre, 2.0 / EPSILON, 300)
    one, other = np.pad(law, (0, 1)), np.pad(law, (1, 0))
    excess = np.multiply.outer(one, one) - math.exp(EPSILON) * np.multiply.outer(other, other)
    assert np.maximum(excess, 0.0).sum() > alone.delta
    assert ss.plan(ss.Distinct(), privacy, size=256).phantoms.count > alone.phantoms.count


def constant(size: int) -> float:
    """One over E 1/χ_r, so that ξ has the mean 1."""
    return math.sqrt(2.0) * math.exp(math.lgamma(0.5 * size) - math.lgamma(0.5 * size - 0.5))


def largest_of(copies: int, size: int, noise: float, change: float) -> float:
    """E f(Δ max ξ/b) at p = 1/2 by quadrature: ξ is `constant`/χ_r there, the χ law with r degrees of freedom."""
    law, c = stats.chi(size), constant(size)

    def density(x: float) -> float:
        own, at_most = law.pdf(c / x) * c / x**2, law.sf(c / x)
        return float(copies * at_most ** (copies - 1) * own * -math.expm1(0.5 * (EPSILON - change * x / noise)))

    least = EPSILON * noise / change
    return sum(integrate.quad(density, least * 2**i, least * 2 ** (i + 1), epsabs=0)[0] for i in range(40))


@pytest.mark.parametrize(("copies", "pairs"), [(1, 1), (2, 2), (3, 3), (10, 10), (2, 10)])
def test_noise_of_sketches_is_for_the_largest_of_the_groups_that_change(copies: int, pairs: int) -> None:
    privacy = ss.Privacy(EPSILON, 1e-6, pairs_per_person=pairs, groups=copies)
    plan = ss.plan(ss.Moment(0.5), privacy, size=20)
    found = largest_of(copies, 20, plan.noise, pairs)
    assert 0.8e-6 <= found <= 1e-6
    if copies > 1:  # the law of one ξ is not enough
        alone = ss.plan(ss.Moment(0.5), replace(privacy, groups=1), size=20)
        assert largest_of(copies, 20, alone.noise, pairs) > 1.5e-6


@pytest.mark.parametrize(
    ("before", "after"),
    [((0, 0), (1, 1)), ((2, 1), (3, 2)), ((1, 0), (0, 1)), ((3, 0), (2, 1)), ((0, 5), (2, 5)), ((1, 1), (0, 0))],
)
def test_two_groups_of_sketches_together(before: tuple[int, int], after: tuple[int, int]) -> None:
    """The whole law of two releases at p = 1/2: D_ε from their densities, on a grid, is below δ.

    Every pair has a key of its own, so that F is the number of pairs: two come or go, or one changes its group.
    """
    delta, size = 1e-2, 8
    privacy = GroupBudget.of(ss.Privacy(EPSILON, delta, pairs_per_person=2), 2).privacy
    moved_pair = GroupBudget.of(ss.Privacy(EPSILON, delta, relation="replace"), 2).privacy
    assert privacy == moved_pair
    noise = ss.plan(ss.Moment(0.5), privacy, size=size).noise
    at = (np.arange(1_000) + 0.5) / 1_000
    xi = constant(size) / stats.chi(size).isf(at)
    t = np.linspace(-14.0 * noise, 14.0 * noise + 60.0, 1_000)
    width = t[1] - t[0]

    def law(f: int) -> np.ndarray:
        centres = np.append(xi * f, 0.0)[: len(xi) if f else 1]
        own = np.exp(-np.abs(t[:, np.newaxis] - centres[-1 if not f else slice(None)]) / noise) / (2.0 * noise)
        return own.mean(axis=1) * width

    first = np.multiply.outer(law(before[0]), law(before[1]))
    second = np.multiply.outer(law(after[0]), law(after[1]))
    for one, other in ((first, second), (second, first)):
        assert np.maximum(one - math.exp(EPSILON) * other, 0.0).sum() <= delta


def test_computing_costs_once_for_every_group() -> None:
    """docs/math-noisy-estimate.md, What computing costs: k (2 η F_max/(1 - η) + 2h) in units of b, and 2 k π."""
    for k in (1, 2, 7):
        own = Precision(error=1e-6, failure=1e-12, cap=1e3, grid=1e-3, outputs=k)
        assert own.shift(5.0) == pytest.approx(k * (2e-6 * 1e3 / (1 - 1e-6) / 5.0 + 2e-3), rel=1e-12)
        assert own.failures == pytest.approx(2 * k * 1e-12)
    # Plans cut and round as much finer, so that it does not show.
    wide = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs_per_person=500, groups=500), size=50)
    once = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=50)
    assert wide.step <= wide.noise / 1024 / 500
    assert once.cap / 8 <= wide.cap <= once.cap
    assert wide.noise < 500 * 1.6 * once.noise


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("statistic", [ss.Moment(0.5), ss.Moment(1.0), ss.Distinct(), ss.Hill(0.5)])
def test_a_person_in_ten_groups_costs_about_as_much_as_one_in_one(
    statistic: ss.Statistic, mechanism: ss.plan.Charge
) -> None:
    """c = L = 10. Dividing ε by ten makes ten times the noise; with the whole ε for every group it is that of c pairs.

    Deviations of the noise at ε = 1, δ = 1e-9, usual sizes, before and now: F_0.5 by sketch 187 and 19.2, exactly 141
    and 14.1; N 141 and 14.1; distinct keys 141 and 14.1.
    """
    asked = ss.Privacy(1.0, 1e-9, pairs_per_person=10)
    now, before, alone = (
        deviations(ss.plan(statistic, privacy, mechanism=mechanism))
        for privacy in (GroupBudget.of(asked, 10).privacy, GroupBudget.of(asked, 10, bare=True).privacy, asked)
    )
    for new, old, one in zip(now, before, alone, strict=True):
        assert 9.0 < old / new < 11.0
        assert one <= new <= 1.06 * one


def deviations(plan: ss.Plan) -> list[float]:
    """Of the noise on what is measured."""
    found = []
    for one in plan.measurements:
        if one.noise:
            found.append(math.sqrt(2.0) * one.noise)
        else:
            pairs = one.privacy.pairs_per_person
            found.append(math.sqrt(2.0) * pairs / one.privacy.epsilon)
    return found


def test_a_person_in_fewer_groups_costs_less() -> None:
    noise = [
        ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, pairs_per_person=10, groups=groups), size=16).noise
        for groups in (1, 2, 5, 10, 1000)
    ]
    assert noise[0] < noise[1] < noise[2] < noise[3] == noise[4]


def test_bare_plans_know_no_tables() -> None:
    for statistic in (ss.Moment(0.5), ss.Shannon()):
        privacy = ss.Privacy(1.0, 1e-6, 10**6, pairs_per_person=2, groups=2)
        with pytest.raises(ss.ArgumentError, match="groups cannot be used with mechanism='bare'"):
            ss.plan(statistic, privacy, mechanism="bare")


@pytest.mark.parametrize("names", [["a", "b"], None])
@pytest.mark.parametrize(
    ("statistic", "mechanism", "relation"),
    [
        (ss.Moment(0.5), "exact", "add_remove"),
        (ss.Hill(0.5), "sketch", "add_remove"),
        (ss.Distinct(), "sketch", "replace"),
        (ss.Moment(0.5), "bare", "add_remove"),
        (ss.Shannon(), "exact", "replace"),
    ],
)
def test_a_ledger_is_charged_once_for_a_table_and_composes_tables_by_their_losses(
    tmp_path: Path, statistic: ss.Statistic, mechanism: str, relation: str, names: list[str] | None
) -> None:
    data = pa.table({"k": [i % 9 for i in range(4_000)], "g": ["a", "b"] * 2_000})
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=100.0, delta=1e-4)
    privacy = ss.Privacy(0.3, 1e-9, relation=relation)  # type: ignore[arg-type]
    for i in range(4):
        found = ss.release(
            data, statistic, privacy, key="k", by="g", groups=names, mechanism=mechanism, size=None, ledger=ledger
        )  # type: ignore[arg-type]
        (record,) = list(ledger.records())[i:]
        assert {one.release.epsilon for one in found} == {record.epsilon}  # type: ignore[union-attr]
        assert record.epsilon <= 0.3
        assert record.delta <= 1e-9
        assert record.pairs_per_person == 1
        assert ledger.spent() <= 0.3 * (i + 1) * (1 + 1e-9)
    ledger.verify()
