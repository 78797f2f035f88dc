"""Exact entropy with noise: how much its mass can change, the grid, the bound on the total, and what it costs."""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import stablesketch as ss
from stablesketch.plan.mechanism import charge_of
from stablesketch.privacy import discrete_laplace
from stablesketch.privacy.entropy.mass import EXACT_ERROR, exact_mass, mass_change, most_total
from stablesketch.privacy.entropy.noise import EntropyNoise

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
            bound = float(mass_change(privacy, max(here, there)))
            assert abs(one - other) <= bound * (1.0 + 1e-12)
            nearest = max(nearest, abs(one - other) / bound)
    assert nearest > 0.4, "the bound is not idle"


def test_in_long_streams_the_bound_is_nearly_attained() -> None:
    """One key of a million, and a new key of value M against none: Δ = M (1 + ln(T/M))."""
    privacy = ss.Privacy(1.0, 1e-9, 0, 50, "add_remove")
    change = mass(((0, 10**6), (1, 50))) - mass(((0, 10**6),))
    bound = float(mass_change(privacy, 10**6 + 50))
    assert 0.9999 < change / bound <= 1.0


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("pairs", "most", "changed"), [(1, 4, 1), (2, 3, 1), (3, 1, 1), (2, 2, 2), (0, 3, 2)])
def test_no_neighbour_moves_what_is_rounded_by_more_than_the_distance(
    relation: str, pairs: int, most: int, changed: int
) -> None:
    """Every shared part, every way to add pairs to it: N (H - β) in steps, up and down, at the least T and others."""
    noise = EntropyNoise(ss.Privacy(1.0, 1e-9, 0, most, relation, changed), 0)  # type: ignore[arg-type]
    farthest = [0, 0]
    for shared in streams(pairs, 2, most):
        counts = [changed] if relation == "replace" else range(changed + 1)
        grown = [shared + more for count in counts for more in streams(count, 3, most)]
        ends = itertools.combinations(grown, 2) if relation == "replace" else ((shared, each) for each in grown[1:])
        for one, other in ends:
            least = max(total(one), total(other))
            for bound in (least,) if noise.total_is_public else (least, 2 * least + 1, 10**6):
                step, centre = float(noise.step(bound)), float(noise.centre(bound))
                here, there = (math.floor((mass(s) - centre * total(s)) / step + 0.5) for s in (one, other))
                farthest = [max(farthest[0], there - here), max(farthest[1], here - there)]
    assert max(farthest) <= noise.distance
    # More of the only key moves it down by all of that; up only new keys of long streams do.
    assert max(farthest) > (0.2 if relation == "replace" else 0.99) * noise.distance


def test_the_noise_is_half_of_what_the_mass_itself_would_need() -> None:
    """c M (1 + ln(T/M))/2 under add_remove, in a table too; all of it where pairs are replaced."""
    for changed, most, copies in ((1, 1, 1), (5, 3, 1), (4, 2, 3)):
        asked = ss.Privacy(1.0, 1e-9, 0, most, "add_remove", changed)
        whole = changed * most * (1.0 + math.log(10**6 / most))
        noise = EntropyNoise(asked, 0, copies)
        assert noise.noise(10**6) * noise.mass_epsilon == pytest.approx(0.5 * whole, rel=2e-3)
    for most in (1, 3):
        noise = EntropyNoise(ss.Privacy(1.0, 1e-9, 0, most, "replace", 2), 0)
        whole = 2 * most * (1.0 + math.log(10**6 / most))
        assert noise.noise(10**6) * noise.mass_epsilon == pytest.approx(whole, rel=1e-9)


def outcome_odds(noise: EntropyNoise, stream: Stream, counted: int, cells: np.ndarray) -> np.ndarray:
    """P(noisy N = counted, noisy mass = cell): by the formula of the noise, for the T that this noisy N gives."""
    q, own = math.exp(-1.0 / float(noise.total_scale)), math.exp(-1.0 / float(noise.mass_scale))
    bound = noise.bound(counted)
    units = math.floor((mass(stream) - float(noise.centre(bound)) * total(stream)) / float(noise.step(bound)) + 0.5)
    first = (1.0 - q) / (1.0 + q) * q ** abs(counted - total(stream))
    return first * (1.0 - own) / (1.0 + own) * own ** np.abs(cells - units)


@pytest.mark.parametrize(
    ("most", "changed", "one", "other"),
    [
        (1, 1, (), ((0, 1),)),
        (1, 1, ((0, 1),), ((0, 1), (1, 1))),
        (1, 1, ((0, 5),), ((0, 6),)),
        (3, 1, ((0, 1), (1, 2)), ((0, 1), (1, 2), (2, 3))),
        (2, 2, ((0, 2),), ((0, 2), (1, 2), (2, 1))),
        (2, 2, ((0, 2), (1, 1)), ((0, 6), (1, 1))),
    ],
)
def test_both_releases_together_by_brute_force(most: int, changed: int, one: Stream, other: Stream) -> None:
    """D_ε over every outcome of N and of the mass is at most δ, both ways."""
    noise = EntropyNoise(ss.Privacy(1.0, 1e-3, 0, most, "add_remove", changed), 0)
    reach = math.ceil(12.0 * float(noise.total_scale))
    spread = math.ceil(12.0 * float(noise.mass_scale)) + 12_000
    cells = np.arange(-spread, spread + 1)
    for first, second in ((one, other), (other, one)):
        found = 0.0
        for counted in range(-reach, reach + 8):
            a, b = (outcome_odds(noise, each, counted, cells) for each in (first, second))
            found += float(np.maximum(a - math.exp(noise.privacy.epsilon) * b, 0.0).sum())
        assert found <= 1e-3


def test_the_mass_is_right_to_what_is_charged() -> None:
    rng = np.random.default_rng(3)
    for totals in ([1], [5], [1, 1], [3, 1, 4, 1, 5, 9, 2, 6], rng.integers(1, 2**53, 40).tolist(), [2**127, 1, 77]):
        with mpmath.workdps(120):
            whole = sum(totals)
            exact = mpmath.mpf(whole) * mpmath.log(whole) - sum(mpmath.mpf(f) * mpmath.log(f) for f in totals)
            found = exact_mass(totals)
            off = abs(mpmath.mpf(found.numerator) / found.denominator - exact)
            assert off <= whole * mpmath.mpf(EXACT_ERROR.numerator) / EXACT_ERROR.denominator


def test_nothing_has_no_mass() -> None:
    assert exact_mass([]) == 0
    assert exact_mass([7]) == 0


def test_the_same_bits_give_the_same_release() -> None:
    noise = EntropyNoise(ss.Privacy(1.0, 1e-9, 0, 4, "add_remove", 2), 0)
    totals = [3, 1, 4, 1, 5, 9, 2, 6]
    found = noise.measure_exact(totals, _seeded(5))
    draws = _seeded(5)
    assert found.total == sum(totals) + discrete_laplace.sample(noise.total_scale, draws)
    step, centre = noise.step(found.bound), noise.centre(found.bound)
    units = math.floor((mass(tuple(enumerate(totals))) - float(centre) * sum(totals)) / float(step) + 0.5)
    assert found.mass == units + discrete_laplace.sample(noise.mass_scale, draws)
    assert noise.measure_exact([2**80], _seeded(5)).mass is not None, "there is no largest total"
    with pytest.raises(ss.ArgumentError, match=r"size must .*got 64"):
        EntropyNoise(ss.Privacy(1.0, 1e-9), 64).measure_exact([1], _seeded(1))


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
    mass = charge.charges[0]
    assert mass.delta * (1.0 + math.exp(mass.epsilon)) <= plan.delta
    assert mass.delta == mass.gap > 0.5 * plan.delta / (1.0 + math.exp(mass.epsilon))
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


def _seeded(seed: int) -> Callable[[int], int]:
    rng = np.random.default_rng(seed)
    return lambda n: _below(rng, n)


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
