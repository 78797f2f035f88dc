"""Sums over buckets, and their norm, with noise: divergences of small neighbours by brute force.

docs/math-buckets.md claims D_ε <= E f(Δ max(ξ_1, ..., ξ_n)/b) for every hash, with n the buckets that can change, for
*every* law of ξ that is the same on both streams. So it is tested for laws of a few atoms, where both sides are finite
sums: the outputs fall into cells, whose masses are known in closed form. Cells only hide, so what is found is never
above the true divergence, and no tolerance is needed but for rounding. Only the last tests ask the package for numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from noise_helpers import noise_for
from scipy.signal import lfilter
from scipy.special import gammaln
from scipy.stats import chi2

import stablesketch as ss
from stablesketch.mechanism.noisy.measure import spread_noise
from stablesketch.mechanism.shared.layout import layout_of
from stablesketch.privacy.noisy_estimate import NoisyEstimate

P = 0.5
KEYS = range(3)
HEAVY = (0.0, 40.0, 160.0, 640.0)  # times the atoms of ξ, far apart: an observer of T knows ξ

Vector = tuple[float, ...]
Law = tuple[tuple[float, float], ...]  # values and probabilities of ξ


# --- laws of ξ ---


def levy_tail(size: int) -> float:
    """ln c, for ξ = c/χ_g with E ξ = 1: the estimate from `size` entries at p = 1/2."""
    return 0.5 * math.log(2.0) + float(gammaln(size / 2) - gammaln((size - 1) / 2))


def levy(size: int, tails: tuple[float, ...]) -> Law:
    """ξ at p = 1/2, in steps between these tail probabilities, which fall from 1 to 0; each step at its middle."""
    steps = [(0.5 * (high + low), high - low) for high, low in itertools.pairwise(tails)]
    return tuple((math.exp(levy_tail(size)) / math.sqrt(chi2.ppf(tail, size)), mass) for tail, mass in steps)


FEW = (1.0, 0.7, 0.3, 0.05, 0.002, 0.0)
LAWS: dict[str, Law] = {f"levy {size}": levy(size, FEW) for size in (2, 3, 5)}
LAWS["rare"] = ((0.01, 0.98), (8.0, 0.02))
LAWS["even"] = ((0.5, 0.5), (1.5, 0.5))


# --- neighbours ---


def moments(pairs: tuple[tuple[int, int], ...], hashed: tuple[int, ...], buckets: int, heavy: bool) -> Vector:
    """F_b of a stream of pairs (key, value), bucket by bucket; `heavy` buckets have a large key each besides."""
    out = [HEAVY[b + 1] if heavy else 0.0 for b in range(buckets)]
    for key in KEYS:
        total = sum(value for k, value in pairs if k == key)
        out[hashed[key]] += total**P
    return tuple(round(value, 12) for value in out)


@lru_cache(maxsize=64)
def neighbours(relation: str, c: int, most: int, buckets: int) -> tuple[tuple[Vector, Vector], ...]:
    """F_b and F'_b of all neighbours with up to one common pair and up to c others, on three keys, for every hash:
    buckets in order, as which of them is which does not matter; with heavy keys beside them and without."""
    universe = list(itertools.product(KEYS, range(1, most + 1)))
    some = [m for n in range(c + 1) for m in itertools.combinations_with_replacement(universe, n)]
    exactly = [m for m in some if len(m) == c]
    if relation == "add_remove":
        changes = [((), more) for more in some if more]
    else:
        changes = list(itertools.combinations(exactly, 2))
    found: set[tuple[Vector, Vector]] = set()
    for hashed in itertools.product(range(buckets), repeat=len(KEYS)):
        if hashed[0] != 0 or any(b > max(hashed[:i]) + 1 for i, b in enumerate(hashed) if i):
            continue  # the same but for the names of buckets
        for common, (less, more), heavy in itertools.product([(), ((0, 1),), ((2, most),)], changes, (False, True)):
            pair = (moments(common + less, hashed, buckets, heavy), moments(common + more, hashed, buckets, heavy))
            if pair[0] != pair[1]:
                found.add(pair)
    return tuple(sorted(found))


def copies_of(relation: str, c: int, buckets: int) -> int:
    return min(c if relation == "add_remove" else 2 * c, buckets)


# --- both sides of the claim ---


def claim(law: Law, copies: int, change: float, noise: float, epsilon: float) -> float:
    """E f(Δ max ξ/b): the largest of n is at most x with the n-th power of the probability of one."""
    total, below, before = 0.0, 0.0, 0.0
    for x, mass in sorted(law):
        below += mass
        here = min(below, 1.0) ** copies
        total += (here - before) * max(1.0 - math.exp(0.5 * (epsilon - change * x / noise)), 0.0)
        before = here
    return total


def cell_masses(centres: np.ndarray, edges: np.ndarray, noise: float) -> np.ndarray:
    """Of Laplace laws around the centres: rows of probabilities of all cells, those beyond the edges included."""
    z = (edges[np.newaxis] - centres[:, np.newaxis]) / noise
    below = np.where(z < 0.0, 0.5 * np.exp(np.minimum(z, 0.0)), 1.0 - 0.5 * np.exp(-np.maximum(z, 0.0)))
    ends = np.ones((len(centres), 1))
    return np.diff(np.concatenate([0.0 * ends, below, ends], axis=1), axis=1)


def cells(centres: np.ndarray, noise: float, fineness: int) -> np.ndarray:
    """Edges around all centres, `fineness` of them in each unit of noise near one, up to ten units away."""
    near = noise * np.arange(-10.0, 10.0, 1.0 / fineness)
    spread = np.unique(np.round((centres[:, np.newaxis] + near) / noise * fineness))
    return spread * noise / fineness


@lru_cache(maxsize=64)
def atoms(law: Law, buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """All values of (ξ_1, ..., ξ_B), and their probabilities."""
    values = np.array(list(itertools.product(*([x for x, _ in law] for _ in range(buckets)))))
    masses = np.array([math.prod(some) for some in itertools.product(*([m for _, m in law] for _ in range(buckets)))])
    return values, masses


def excess(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """The larger of the divergences of two laws over the same cells."""
    ratio = math.exp(epsilon)
    return max(float(np.maximum(one - ratio * other, 0.0).sum()), float(np.maximum(other - ratio * one, 0.0).sum()))


def sum_divergences(pair: tuple[Vector, Vector], law: Law, noise: float, epsilons: tuple[float, ...]) -> list[float]:
    """Of T = Σ F_b ξ_b + Laplace(noise)."""
    xi, masses = atoms(law, len(pair[0]))
    centres = [xi @ np.array(f) for f in pair]
    edges = cells(np.unique(np.round(np.concatenate(centres), 1)), noise, 4)
    laws = [masses @ cell_masses(some, edges, noise) for some in centres]
    return [excess(laws[0], laws[1], epsilon) for epsilon in epsilons]


def joint_divergences(
    pair: tuple[Vector, Vector], law: Law, noise: float, share: float, epsilons: tuple[float, ...]
) -> list[float]:
    """Of T + Laplace(b_T) and N + Laplace(b_2) together, b_T = noise/(1 - share) and b_2 = noise/share."""
    xi, masses = atoms(law, len(pair[0]))
    laws = []
    centres = [[xi @ np.array(f), np.sqrt((xi**2) @ np.array(f) ** 2)] for f in pair]
    scales = (noise / (1.0 - share), noise / share)
    edges = [
        cells(np.unique(np.round(np.concatenate([centres[0][i], centres[1][i]]))), scale, 2)
        for i, scale in enumerate(scales)
    ]
    for sums, norms in centres:
        first, second = (cell_masses(some, e, b) for some, e, b in zip((sums, norms), edges, scales, strict=True))
        laws.append((first * masses[:, np.newaxis]).T @ second)
    return [excess(laws[0], laws[1], epsilon) for epsilon in epsilons]


EPSILONS = (0.0, 0.5, 1.0, 2.0)
CASES = [
    ("add_remove", 1, 1, 2),
    ("add_remove", 1, 3, 2),
    ("add_remove", 2, 2, 2),
    ("add_remove", 2, 1, 3),
    ("replace", 1, 1, 2),
    ("replace", 1, 3, 2),
    ("replace", 1, 2, 3),
    ("replace", 2, 1, 3),
]
SLOW = [("add_remove", 2, 3, 3), ("replace", 2, 2, 2), ("replace", 1, 3, 3), ("replace", 2, 2, 3)]
ALL_CASES = [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]


def thinned(pairs: tuple[tuple[Vector, Vector], ...], most: int) -> Iterator[tuple[Vector, Vector]]:
    """So many of them at most, among them those that change the most."""
    ordered = sorted(pairs, key=lambda pair: sum(abs(a - b) for a, b in zip(*pair, strict=True)), reverse=True)
    yield from ordered[: most // 2]
    yield from ordered[most // 2 :: max(1, 2 * len(ordered) // most)]


@pytest.mark.parametrize(("relation", "c", "most", "buckets"), ALL_CASES)
def test_sums_are_as_private_as_claimed(relation: str, c: int, most: int, buckets: int) -> None:
    """Some of the neighbours, those that differ most among them; the next test has all."""
    change, copies = c * most**P, copies_of(relation, c, buckets)
    for law in LAWS.values():
        for noise in (0.4 * change, 1.5 * change):
            claimed = [claim(law, copies, change, noise, epsilon) for epsilon in EPSILONS]
            for pair in thinned(neighbours(relation, c, most, buckets), 24 if buckets == 2 else 8):
                for found, bound in zip(sum_divergences(pair, law, noise, EPSILONS), claimed, strict=True):
                    assert found <= bound + 1e-11, (pair, law, noise)


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "c", "most", "buckets"), [*CASES, *SLOW[:3]])
def test_sums_of_every_small_neighbour(relation: str, c: int, most: int, buckets: int) -> None:
    """As above, and none is left out, for two of the laws and one noise."""
    change, copies = c * most**P, copies_of(relation, c, buckets)
    noise = 0.7 * change
    for name in ("levy 3", "rare"):
        law = LAWS[name]
        claimed = [claim(law, copies, change, noise, epsilon) for epsilon in EPSILONS]
        for pair in neighbours(relation, c, most, buckets):
            for found, bound in zip(sum_divergences(pair, law, noise, EPSILONS), claimed, strict=True):
                assert found <= bound + 1e-11, (pair, law)


@pytest.mark.parametrize(("relation", "c", "most", "buckets"), ALL_CASES)
def test_sum_and_norm_together_are_as_private_as_claimed(relation: str, c: int, most: int, buckets: int) -> None:
    """A few of the neighbours, those that differ most among them."""
    change, copies = c * most**P, copies_of(relation, c, buckets)
    for name, share in (("levy 3", 0.3), ("rare", 0.05), ("even", 0.5)):
        law, noise = LAWS[name], 0.8 * change
        claimed = [claim(law, copies, change, noise, epsilon) for epsilon in EPSILONS]
        for pair in thinned(neighbours(relation, c, most, buckets), 6):
            for found, bound in zip(joint_divergences(pair, law, noise, share, EPSILONS), claimed, strict=True):
                assert found <= bound + 1e-11, (pair, law)


# --- how many buckets change matters ---


def test_the_claim_for_a_replaced_pair_is_attained_and_one_copy_is_not_enough() -> None:
    """One pair moves from a bucket to another, both with heavy keys that tell ξ: the shift is Δ |ξ_1 - ξ_2|, and large
    if either ξ is. Noise for one bucket would let through nearly twice its δ."""
    law, noise = LAWS["rare"], 0.4
    pair = ((HEAVY[1] + 1.0, HEAVY[2]), (HEAVY[1], HEAVY[2] + 1.0))
    found = sum_divergences(pair, law, noise, (1.0,))[0]
    assert 0.95 * claim(law, 2, 1.0, noise, 1.0) < found <= claim(law, 2, 1.0, noise, 1.0)
    assert found > 1.9 * claim(law, 1, 1.0, noise, 1.0)


def test_two_replaced_pairs_change_four_buckets() -> None:
    """Each of four ξ may be the large one: noise for one or two buckets, or for two pairs that are added, is caught."""
    law, noise = ((0.01, 0.99), (40.0, 0.01)), 0.8
    heavy = (40.0, 160.0, 640.0, 2560.0)
    pair = (
        tuple(f + u for f, u in zip(heavy, (1.0, 1.0, 0.0, 0.0), strict=True)),
        tuple(f + u for f, u in zip(heavy, (0.0, 0.0, 1.0, 1.0), strict=True)),
    )
    found = sum_divergences(pair, law, noise, (1.0,))[0]
    assert found <= claim(law, 4, 2.0, noise, 1.0)
    assert found > 0.95 * claim(law, 4, 2.0, noise, 1.0)
    assert found > 1.9 * claim(law, 2, 2.0, noise, 1.0) > 3.7 * claim(law, 1, 2.0, noise, 1.0)


def test_two_added_pairs_change_two_buckets() -> None:
    law, noise = ((0.01, 0.99), (40.0, 0.01)), 0.8
    pair = ((40.0, 160.0), (41.0, 161.0))
    found = sum_divergences(pair, law, noise, (1.0,))[0]
    assert 1.9 * claim(law, 1, 2.0, noise, 1.0) < found <= claim(law, 2, 2.0, noise, 1.0)


def test_the_norm_is_not_free() -> None:
    """T and N with noise of scale b each have what one output with b/2 has: nearly attained, far more than T alone."""
    law: Law = ((0.9, 0.5), (1.1, 0.5))
    pair = ((0.0,), (1.0,))
    both = joint_divergences(pair, law, 0.5, 0.5, (0.5,))[0]
    assert both <= claim(law, 1, 1.0, 0.5, 0.5)
    assert both > 1.5 * claim(law, 1, 1.0, 1.0, 0.5)


def observed(size: int, noise: float, epsilon: float, replaced: bool) -> float:
    """E f(s/noise) at p = 1/2, s = ξ or, of a pair that is replaced, |ξ_1 - ξ_2|: ∫ f'(s) P(> s noise) ds."""
    log_c = levy_tail(size)
    levels = (np.arange(400) + 0.5) / 400
    others = np.exp(log_c) / np.sqrt(chi2.ppf(levels, size)) if replaced else np.zeros(1)
    s = epsilon + np.linspace(0.0, 5.0, 251) ** 2
    above = np.array([np.mean(chi2.cdf(np.exp(2.0 * log_c) / (x * noise + others) ** 2, size)) for x in s])
    values = (2.0 if replaced else 1.0) * above * 0.5 * np.exp(0.5 * (epsilon - s))
    return float(np.sum(0.5 * (values[1:] + values[:-1]) * np.diff(s)))


def test_one_copy_is_too_few_for_the_law_of_estimates_as_well() -> None:
    """With 8 entries and noise for one bucket, a replaced pair has a bound above δ; with 16 the other ξ, near 1 and
    subtracted, makes up for it. Noise for two buckets is enough for both."""
    for size, low, high in ((8, 1.05, 1.4), (16, 0.05, 1.0)):
        one, two = (noise_for(P, size, 1.0, 1e-9, copies) for copies in (1, 2))
        assert 0.97e-9 < observed(size, one, 1.0, replaced=False) <= 1.001e-9
        assert low * 1e-9 < observed(size, one, 1.0, replaced=True) < high * 1e-9
        assert observed(size, two, 1.0, replaced=True) <= 1e-9


# --- the package's own numbers ---


def nearly_levy(size: int, count: int) -> Law:
    middle = np.linspace(0.97, 0.05, count - 12)
    return levy(size, (1.0, *middle.tolist(), *(0.05 * np.exp(-0.75 * np.arange(1.0, 12.0))).tolist(), 0.0))


@pytest.mark.parametrize("size", [3, 5])
def test_planned_noise_is_enough_and_not_absurd(size: int) -> None:
    """Noise that is planned for δ = 1% leaves all small neighbours below it; four tenths of it do not."""
    epsilon, delta = 1.0, 1e-2
    for copies, count in ((1, 60), (2, 24)):
        law = nearly_levy(size, count)
        noise = noise_for(P, size, epsilon, delta, copies)
        if copies == 1:
            pairs = [((f, 0.0)[:1], (f + 1.0, 0.0)[:1]) for f in (0.0, 0.5, 1.0, 2.0)]
        else:
            pairs = [((f + 1.0, f), (f, f + 1.0)) for f in (0.0, 1.0)] + [((0.0, 0.0), (1.0, 0.0))]
        worst = max(sum_divergences(pair, law, noise, (epsilon,))[0] for pair in pairs)
        assert worst <= delta
        assert NoisyEstimate(P, size, copies).delta(epsilon, noise) <= delta
        assert max(sum_divergences(pair, law, 0.4 * noise, (epsilon,))[0] for pair in pairs) > delta


def worst_divergence(size: int, noise: float, moments: tuple[float, ...]) -> float:
    """The largest, at ε = 1, of F ξ + noise against (F + 1) ξ + noise at p = 1/2, both ways, for these F. On a lattice
    of 80 points in a unit of noise; ξ is a density, so that nothing tells it but the release itself."""
    logs = np.linspace(-1.2, 2.5 if size > 30 else 5.0, 8_000)
    squares = np.exp(2.0 * (levy_tail(size) - logs))
    masses = squares * chi2.pdf(squares, size)
    masses /= masses.sum()
    step, ends = noise / 80.0, 80 * 30
    fall = math.exp(-step / noise)

    def law(f: float, count: int) -> np.ndarray:
        place = np.minimum(f * np.exp(logs) / step, count - 2 * ends - 2) + ends
        index = place.astype(np.int64)
        share = place - index
        at = np.bincount(index, masses * (1.0 - share), count) + np.bincount(index + 1, masses * share, count)
        right, left = lfilter([1.0], [1.0, -fall], at), lfilter([1.0], [1.0, -fall], at[::-1])[::-1]
        out: np.ndarray = (right + left - at) * (1.0 - fall) / (1.0 + fall)
        return out

    worst = 0.0
    for f in moments:
        count = int(6.0 * (f + 1.0) / step) + 2 * ends + 2
        worst = max(worst, excess(law(f, count), law(f + 1.0, count), 1.0))
    return worst


@pytest.mark.parametrize(("size", "low", "high"), [(16, 2.15, 2.35), (64, 1.38, 1.46)])
def test_how_near_the_bound_is_to_the_truth(size: int, low: float, high: float) -> None:
    """docs/math-buckets.md, "How near the bound is to the truth": the least noise for δ = 1e-9 lies between these if
    one pair is added. The bound is for an observer who sees ξ. An empty bucket is not the worst one."""
    moments = (8.0, 10.0, 11.0, 12.2, 13.5, 15.0, 20.0) if size == 16 else (26.0, 30.0, 33.0, 36.0, 40.0)
    assert worst_divergence(size, low, moments) > 1e-9
    assert worst_divergence(size, high, moments) < 1e-9
    assert worst_divergence(size, low, (0.0, 1.0)) < 1e-12
    assert high < noise_for(P, size, 1.0, 1e-9) < 1.9 * low


PLANNED = [
    ss.Privacy(1.0, 1e-9),
    ss.Privacy(1.0, 1e-9, relation="replace"),
    ss.Privacy(0.5, 1e-6, 0, 9, "replace", 2),
    ss.Privacy(2.0, 1e-7, 0, 4, "add_remove", 3, groups=2),
    ss.Privacy(1.0, 1e-8, 0, 4, "replace", 3, "key"),
]


@pytest.mark.parametrize("privacy", PLANNED, ids=str)
@pytest.mark.parametrize("buckets", [2, 40])
def test_plans_are_as_private_as_they_say(privacy: ss.Privacy, buckets: int) -> None:
    """At p = 1/2, from the two scales and steps of a plan, by E f in closed form: δ is reached, and not by far."""
    size = 16
    plan = ss.plan(ss.Moment(P), privacy, size=size * buckets, entries_per_key=size)
    c, moved = privacy.pairs_per_person, 2 if privacy.relation == "replace" else 1
    copies = min(moved * c, buckets * privacy.groups)
    scale, step, cap = spread_noise(plan)
    assert (plan.buckets, layout_of(plan).changed(privacy)) == (buckets, copies)
    assert cap <= plan.cap / math.sqrt(buckets)
    rate = 1.0 / plan.noise + 1.0 / scale
    errors = 2.0**-42 * plan.cap * rate + 2.0 * (plan.step / plan.noise + step / scale)
    added = min(privacy.groups, c) * errors
    change = c * math.sqrt(privacy.max_value)
    s = privacy.epsilon + np.linspace(0.0, 5.0, 2_001) ** 2

    def bound(factor: float) -> float:
        """∫ f'(s) P(Δ max ξ rate + added > s) ds."""
        one = chi2.cdf(np.exp(2.0 * levy_tail(size)) * (change * rate * factor / (s - added)) ** 2, size)
        values = -np.expm1(copies * np.log1p(-one)) * 0.5 * np.exp(0.5 * (privacy.epsilon - s))
        return float(np.sum(0.5 * (values[1:] + values[:-1]) * np.diff(s)))

    assert bound(1.0) <= plan.delta < bound(1.03)


@pytest.mark.slow
def test_the_tables_of_the_page() -> None:
    """docs/math-buckets.md, "The numbers": b/Δ for one copy and for two, rounded up."""
    page = Path(__file__).parents[2] / "docs" / "math-buckets.md"
    lines = page.read_text().partition("## The numbers")[2].splitlines()
    copies, sizes, seen = 0, [], 0
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| p | 8 entries"):
            copies, sizes = copies + 1, [8, *(int(cell) for cell in cells[2:])]
        elif copies and sizes and cells[0].startswith("0."):
            for size, shown in zip(sizes, cells[1:], strict=True):
                assert float(shown) - 0.01001 <= noise_for(float(cells[0]), size, 1.0, 1e-9, copies) <= float(shown)
                seen += 1
        elif line.startswith("##"):
            break
    assert seen == 2 * 6 * 7
