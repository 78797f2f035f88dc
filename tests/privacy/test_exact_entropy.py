"""Exact entropy with noise: how much its mass can change, the grid, the bound on the total, and what it costs."""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import stablesketch as ss
from stablesketch.plan.charge import charge_of
from stablesketch.privacy import discrete_laplace
from stablesketch.privacy.exact_entropy import MASS_DISTANCE, failure, mass_step, mass_units, most_total

Stream = tuple[tuple[int, int], ...]


def streams(pairs: int, keys: int, most: int) -> Iterator[Stream]:
    """All multisets of pairs of these keys and values."""
    yield from itertools.combinations_with_replacement(itertools.product(range(keys), range(1, most + 1)), pairs)


def mass(stream: Stream) -> float:
    """Σ f ln(N/f), by its definition."""
    totals: Counter[int] = Counter()
    for key, value in stream:
        totals[key] += value
    whole = sum(totals.values())
    return math.fsum(f * math.log(whole / f) for f in totals.values())


def total(stream: Stream) -> int:
    return sum(value for _, value in stream)


@pytest.mark.parametrize(("pairs", "most", "changed"), [(1, 4, 1), (2, 3, 1), (3, 2, 1), (2, 2, 2), (1, 3, 2)])
def test_no_neighbour_changes_the_mass_by_more_than_the_grid_is_made_for(pairs: int, most: int, changed: int) -> None:
    """Every shared part of so many pairs, every way to add pairs to it: both relations, and how near it comes."""
    nearest = 0.0
    for shared in streams(pairs, 3, most):
        grown = [shared + more for count in range(changed + 1) for more in streams(count, 3, most)]
        masses = [(mass(stream), total(stream)) for stream in grown]
        base = mass(shared)
        assert all(each >= base - 1e-12 for each, _ in masses), "it rises with every pair"
        for (one, here), (other, there) in itertools.combinations(masses, 2):
            privacy = ss.Privacy(1.0, 1e-9, 0, most, "add_remove", changed)
            bound = 1000 * float(mass_step(privacy, max(here, there)))
            assert abs(one - other) <= bound * (1.0 + 1e-12)
            nearest = max(nearest, abs(one - other) / bound)
    assert nearest > 0.4, "the bound is not idle"


def test_in_long_streams_the_bound_is_nearly_attained() -> None:
    """One key of a million, and a new key of value M against none: Δ = M (1 + ln(T/M))."""
    privacy = ss.Privacy(1.0, 1e-9, 0, 50, "add_remove")
    change = mass(((0, 10**6), (1, 50))) - mass(((0, 10**6),))
    bound = 1000 * float(mass_step(privacy, 10**6 + 50))
    assert 0.9999 < change / bound <= 1.0


@pytest.mark.parametrize("step", [Fraction(1, 7), Fraction(1, 10**9), Fraction(12345)])
def test_units_are_the_nearest(step: Fraction) -> None:
    rng = np.random.default_rng(3)
    for totals in ([1], [5], [1, 1], [3, 1, 4, 1, 5, 9, 2, 6], rng.integers(1, 2**53, 40).tolist(), [2**127, 1, 77]):
        with mpmath.workdps(120):
            whole = sum(totals)
            exact = mpmath.mpf(whole) * mpmath.log(whole) - sum(mpmath.mpf(f) * mpmath.log(f) for f in totals)
            units = exact / mpmath.mpf(step.numerator) * step.denominator
            assert abs(mass_units(totals, step) - units) <= mpmath.mpf(1) / 2 + mpmath.mpf(1) / 1024


def test_nothing_has_no_mass() -> None:
    assert mass_units([], Fraction(1)) == 0
    assert mass_units([7], Fraction(1, 100)) == 0


def test_the_sensitivity_in_units_is_what_is_charged() -> None:
    """|U - U'| <= Δ/step + 1 + 2/1024 = 1001 + 2/1024, and both are whole."""
    assert math.floor(1000 + 1 + 2 / 1024) == MASS_DISTANCE


@pytest.mark.parametrize("distance", [1, 20])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_the_bound_on_the_total_fails_as_seldom_as_it_says(distance: int, delta: float) -> None:
    """By the exact odds of the noise: of either neighbour, N and N + D, the larger one is above T with odds <= δ₀."""
    scale = Fraction(distance) / Fraction(0.5)
    q = math.exp(-1 / float(scale))
    for n in (7, 10**6):
        for own, larger in ((n, n + distance), (n + distance, n + distance)):
            # T rises with the noise, so the outcomes that fail are those of -k and below: P(Z <= -k) = q^k/(1 + q).
            k = bisect.bisect_left(
                range(10**7), True, key=lambda k: most_total(own - k, distance, scale, delta) < larger
            )
            assert q**k / (1 + q) <= delta * (1 + 1e-9)


def test_the_price_of_both_noises_is_within_what_was_asked() -> None:
    """By the laws that the ledger composes, and by adding up; alone and beside other measurements."""
    privacy = ss.Privacy(1.0, 1e-9, 0, 5, "add_remove", 3)
    plan = ss.plan(ss.Shannon(), privacy, mechanism="exact")
    charge = charge_of(plan)
    for relation in ("add_remove", "replace"):
        # The laws are rounded up, by some 1e-16 of a loss.
        assert all(law.delta(plan.epsilon * (1 + 1e-9)) <= plan.delta * (1 + 1e-6) for law in charge.laws(relation))
    assert charge.basic() == (plan.epsilon, plan.delta)
    mass_part = charge.parts[0]
    assert mass_part.delta * (1.0 + math.exp(mass_part.epsilon)) <= plan.delta
    assert failure(mass_part.epsilon, plan.delta) == mass_part.gap
    profile = ss.plan(ss.Profile([0, 0.5, 1]), privacy, mechanism="exact")
    assert profile.epsilon <= privacy.epsilon
    assert profile.delta <= privacy.delta


def test_where_the_number_of_pairs_is_public_it_is_pure() -> None:
    plan = ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-9, 1000, relation="replace"), mechanism="exact")
    assert (plan.epsilon, plan.delta, plan.pure_epsilon) == (1.0, 0.0, 1.0)
    assert charge_of(plan).kind == "exact"


SITUATIONS = {
    "replace": ss.Privacy(1.0, 1e-9, 2000, relation="replace"),
    "add_remove": ss.Privacy(1.0, 1e-9, 0, relation="add_remove"),
    "values": ss.Privacy(2.0, 1e-9, 2000, 20, relation="replace"),
    "people": ss.Privacy(1.0, 1e-6, 0, 3, "add_remove", 4),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_entropy_is_in_its_interval_as_often_as_it_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """200 releases, noise from a seed; fewer than 176 inside would have a probability below 1e-4."""
    privacy = SITUATIONS[name]
    rng = np.random.default_rng(17)
    draws = discrete_laplace.sample
    monkeypatch.setattr(discrete_laplace, "sample", lambda scale, _=None: draws(scale, lambda n: _below(rng, n)))
    keys = rng.zipf(1.5, 2000) % 700
    values = rng.integers(1, privacy.max_value + 1, 2000)
    f = np.bincount(keys, values)
    f = f[f > 0]
    truth = math.log(f.sum()) - float((f * np.log(f)).sum() / f.sum())
    plan = ss.plan(ss.Shannon(), privacy, mechanism="exact")
    inside, errors = 0, []
    for i in range(200):
        collector = plan.open(ss.Secret.from_bytes(i.to_bytes(32, "big")))
        collector.update(keys, values)
        release = collector.release()
        inside += release.low <= truth <= release.high
        errors.append(release.value - truth)
    assert inside >= 176
    if privacy.pairs:  # then the plan says how large the error is, at the least total and the largest entropy
        assert np.std(errors) <= 1.2 * plan.error


def _below(rng: np.random.Generator, n: int) -> int:
    """Uniform below n of any size."""
    while True:
        drawn = int.from_bytes(rng.bytes((n.bit_length() + 7) // 8), "big") >> (-n.bit_length() % 8)
        if drawn < n:
            return drawn


@pytest.mark.parametrize("statistic", [ss.Shannon(), ss.Hill(1), ss.Renyi(1), ss.Tsallis(1), ss.Profile([0, 0.5, 1])])
def test_streams_of_any_length_are_released(statistic: ss.Statistic) -> None:
    """Nothing, one pair, and a few: a number within its limits each time."""
    plan = ss.plan(statistic, SITUATIONS["people"], mechanism="exact")
    for pairs in (0, 1, 10):
        collector = plan.open()
        collector.update(list(range(pairs)))
        release = collector.release()
        assert release.low <= release.value <= release.high
        assert math.isfinite(release.value)


@pytest.mark.parametrize("statistic", [ss.Shannon(), ss.Hill(1), ss.Profile([0, 0.5, 1])])
def test_a_ledger_reads_again_what_it_recorded(statistic: ss.Statistic, tmp_path: Path) -> None:
    """Exact entropy is two releases; beside others it is two more of them, not a list within a list."""
    plan = ss.plan(statistic, SITUATIONS["people"], mechanism="exact")
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=5.0, delta=1e-3)
    for _ in range(2):
        collector = plan.open()
        collector.update(list(range(100)))
        collector.release(ledger=ledger)
    ledger.verify()
    assert [record.epsilon for record in ledger.records()] == [plan.epsilon, plan.epsilon]
    assert plan.epsilon < ss.Ledger(tmp_path / "budget.db").spent() <= 2.0 * plan.epsilon
