"""Sub-sampling: the bound is never below the truth, wherever the truth can be computed in another way; and it is close.

The truth: for p = 1 the entry of a sample is a mixture of Cauchy laws, in closed form; for p < 1 the density comes from
independent.py. Nothing here uses the library's curves to check them.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from independent import log_density_and_score
from scipy.stats import binom

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.paper.theorem_4 import closed_form_delta
from stablesketch.privacy import Privacy, PrivacyCurve, sensitivity
from stablesketch.privacy.sampling import (
    SampledCurve,
    Sampling,
    amplified,
    cut_chances,
    kept_chance,
    sample_log_rho,
    unamplified,
)


def hockey_stick(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def test_the_claim_on_random_laws() -> None:
    """The three inequalities of the claim, on laws with six outcomes; the first two would be equalities unrelaxed."""
    rng = np.random.default_rng(1)
    for _ in range(2_000):
        none, some, other = rng.dirichlet(np.full(6, 0.4), 3)
        eta, epsilon = rng.uniform(0.01, 0.99), rng.exponential(1.0)
        outer = math.log1p(eta * math.expm1(epsilon))
        beta = math.exp(outer - epsilon)
        first, second = (1 - eta) * none + eta * some, (1 - eta) * none + eta * other
        unrelaxed = eta * hockey_stick(some, (1 - beta) * none + beta * other, epsilon)
        assert hockey_stick(first, second, outer) == pytest.approx(unrelaxed, abs=1e-12)
        relaxed = (1 - beta) * hockey_stick(some, none, epsilon) + beta * hockey_stick(some, other, epsilon)
        assert unrelaxed <= eta * relaxed + 1e-12
        assert hockey_stick(first, second, outer) <= eta * hockey_stick(some, other, outer) + 1e-12
        assert hockey_stick(first, none, outer) == pytest.approx(eta * hockey_stick(some, none, epsilon), abs=1e-12)
        assert hockey_stick(none, first, outer) <= eta * beta * hockey_stick(none, some, epsilon) + 1e-12


def test_more_replaced_pairs_are_worse() -> None:
    """g_i(s) grows with i: the sensitivity of a sample is that of all c pairs, whichever of them are kept."""
    for p, M, s, floor in itertools.product((0.05, 0.5, 1.0), (1, 2, 50), (0, 1, 7, 1000), (0.0, 0.5, 30.0)):
        values = [(floor + s**p + i * M**p) / (floor + (s + i) ** p) for i in range(1, 20)]
        assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(values))


def test_the_sensitivity_of_a_sample() -> None:
    """Closed forms without a floor: 1 + c M^p/t^p and (t^p + c M^p)/(t + c)^p."""
    for p, t, M, c in ((0.25, 200, 1, 1), (0.5, 30, 7, 3), (1.0, 5, 2, 1)):
        privacy = Privacy(1.0, 1e-6, 10**6, M, pairs_per_person=c, relation="replace")
        assert sample_log_rho(p, privacy, "add_remove", t, 0.0) == pytest.approx(
            math.log1p(c * (M / t) ** p), rel=1e-12
        )
        replaced = math.log((t**p + c * M**p) / (t + c) ** p)
        assert sample_log_rho(p, privacy, "replace", t, 0.0) == pytest.approx(replaced, rel=1e-9, abs=1e-15)


def test_amplification_and_back() -> None:
    for eta, epsilon in itertools.product((0.001, 0.02, 0.9), (1e-6, 0.1, 1.0, 30.0, 900.0)):
        outer = amplified(epsilon, eta)
        assert outer <= epsilon
        assert outer >= eta * epsilon  # so the paper's qε is too small
        assert unamplified(outer, eta) == pytest.approx(epsilon, rel=1e-9)
    assert kept_chance(0.02, 3) == pytest.approx(1 - 0.98**3)


def test_the_chances_of_cuts_are_from_above() -> None:
    for trials, rate in ((999_999, 0.02), (5_000, 0.3), (99, 0.5)):
        cuts = cut_chances(trials, rate)
        assert cuts
        for cut, chance in cuts:
            assert binom.cdf(cut - 1, trials, rate) <= chance <= 1.001 * binom.cdf(cut - 1, trials, rate) + 1e-300
    assert cut_chances(10, 0.02) == []


@pytest.mark.parametrize("per", ["pair", "entry"])
@pytest.mark.parametrize(("pairs", "most", "rate"), [(100, 100, 0.02), (200, 3, 0.1)])
def test_one_cauchy_entry_against_the_closed_form(pairs: int, most: int, rate: float, per: str) -> None:
    curve = SampledCurve(1.0, 1, Privacy(1.0, 1e-6, pairs, most, relation="replace"), Sampling(rate, per))
    for epsilon in (0.01, 0.05, 0.2, 0.5):
        (true,) = closed_form_delta(pairs, most, rate, np.array([epsilon]))
        assert curve.delta(epsilon) >= true
    (true,) = closed_form_delta(pairs, most, rate, np.array([0.05]))
    assert curve.delta(0.05) <= 4.0 * true + 2.0 * rate * (1.0 - rate) ** (pairs - 1) + 1e-4


def scales(p: float, pairs: int, most: int, rate: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """(F_p of the sample, chance) for the larger and the smaller of the worst neighbours under replace."""
    k = np.arange(pairs)
    chance = binom.pmf(k, pairs - 1, rate)
    both = []
    for kept in (k**p + most**p, (k + 1.0) ** p):
        both.append((np.concatenate([k**p, kept]), np.concatenate([(1 - rate) * chance, rate * chance])))
    return both


@pytest.mark.parametrize("per", ["pair", "entry"])
@pytest.mark.parametrize(("p", "most"), [(0.5, 4), (0.25, 1), (0.75, 2)])
def test_one_entry_of_another_order_against_an_integral(p: float, most: int, per: str) -> None:
    """The mixture of stable laws by Fourier inversion, cut into cells: what it shows is a lower bound of δ."""
    pairs, rate = 60, 0.3
    y = np.arange(-30.0 - 2.6 / p, 30.0 / p, 0.05)
    log_h = log_density_and_score(p, y)[0]
    masses = []
    for scale, chance in scales(p, pairs, most, rate):
        seen = scale > 0.0
        shifted = np.interp(y[None, :] - np.log(scale[seen])[:, None] / p, y, log_h, left=-80.0, right=-80.0)
        masses.append(np.append(0.05 * chance[seen] @ np.exp(shifted), chance[~seen].sum()))
    curve = SampledCurve(p, 1, Privacy(1.0, 1e-6, pairs, most, relation="replace"), Sampling(rate, per))
    for epsilon in (0.02, 0.1, 0.3):
        true = max(hockey_stick(*masses, epsilon), hockey_stick(*masses[::-1], epsilon))
        assert curve.delta(epsilon) >= 0.999 * true
        assert true > 0.0 or epsilon > 0.02


@pytest.mark.parametrize("per", ["pair", "entry"])
def test_many_cauchy_entries_against_a_simulation(per: str) -> None:
    """δ = E_P[(1 - e^ε dQ/dP)_+] by simulation, the likelihoods being sums over all samples. Fails falsely: below 1e-4.

    Eight entries, 40 pairs, M = 5, q = 0.2: larger than the bound minus four deviations it must not be.
    """
    size, pairs, most, rate, trials = 8, 40, 5, 0.2, 20_000
    rng = np.random.default_rng(7)
    larger, smaller = scales(1.0, pairs, most, rate)
    shape = (trials, size) if per == "entry" else (trials, 1)
    drawn = rng.choice(larger[0], p=larger[1] / larger[1].sum(), size=shape)
    entries = np.broadcast_to(drawn, (trials, size)) * rng.standard_cauchy((trials, size))

    def log_likelihood(scale: np.ndarray, chance: np.ndarray) -> np.ndarray:
        merged, index = np.unique(scale, return_inverse=True)
        weight = np.bincount(index, chance)
        seen = merged > 0.0
        terms = []
        for width, mass in zip(merged[seen], weight[seen], strict=True):
            one = np.log(width / math.pi) - np.log(width**2 + entries**2)
            terms.append(math.log(max(mass, 1e-300)) + (one if per == "entry" else one.sum(axis=1)))
        total = np.logaddexp.reduce(terms, axis=0)
        empty = (entries == 0.0) if per == "entry" else (entries == 0.0).all(axis=1)
        out = np.where(empty, math.log(weight[~seen].sum()), total)
        return out.sum(axis=1) if per == "entry" else out

    ratio = log_likelihood(*smaller) - log_likelihood(*larger)
    curve = SampledCurve(1.0, size, Privacy(1.0, 1e-6, pairs, most, relation="replace"), Sampling(rate, per))
    for epsilon in (0.1, 0.4, 1.0):
        shown = np.maximum(-np.expm1(epsilon + ratio), 0.0)
        assert curve.delta(epsilon) >= shown.mean() - 4.0 * shown.std() / math.sqrt(trials)


def test_dense_streams_gain_as_the_mathematics_says() -> None:
    """n = 10^6, p = 0.25, 50 entries, q = 0.02: ε of 0.988 without, about 0.108 with one cut; more cuts are better."""
    privacy = Privacy(1.0, 1e-6, pairs=10**6, relation="replace")
    plain = PrivacyCurve(0.25, 50, sensitivity(0.25, privacy)).epsilon(1e-6)
    pair = SampledCurve(0.25, 50, privacy, Sampling(0.02)).epsilon(1e-6)
    entry = SampledCurve(0.25, 50, privacy, Sampling(0.02, "entry")).epsilon(1e-6)
    assert plain == pytest.approx(0.988, abs=1e-3)
    assert 0.100 <= pair <= 0.108
    assert entry < pair


def test_the_bound_at_one_entry_is_the_same_both_ways() -> None:
    """With one entry the two ways of sampling are one; the two computations share the claim, not the numerics."""
    privacy = Privacy(1.0, 1e-6, pairs=5_000, max_value=3, relation="replace")
    for epsilon in (0.02, 0.1):
        pair, entry = (SampledCurve(0.5, 1, privacy, Sampling(0.1, per)).delta(epsilon) for per in ("pair", "entry"))
        assert entry == pytest.approx(pair, rel=0.2)


def test_short_streams_need_a_floor() -> None:
    short = Privacy(1.0, 1e-6, pairs=10, relation="replace")
    assert SampledCurve(0.5, 50, short, Sampling(0.02)).epsilon(1e-6) == math.inf
    assert SampledCurve(0.5, 50, short, Sampling(0.02), floor=100.0).epsilon(1e-6) < 1.0
    none = Privacy(1.0, 1e-6, pairs=0, relation="add_remove")
    for per in ("pair", "entry"):
        assert SampledCurve(0.5, 50, none, Sampling(0.02, per)).epsilon(1e-6) == math.inf
        assert SampledCurve(0.5, 50, none, Sampling(0.02, per), floor=100.0).epsilon(1e-6) < 1.0


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("per", ["pair", "entry"])
def test_more_to_hide_costs_more(relation: str, per: str) -> None:
    def delta(pairs: int = 10_000, most: int = 1, person: int = 1, floor: float = 0.0, rate: float = 0.1) -> float:
        privacy = Privacy(1.0, 1e-6, pairs, most, relation, person)
        return SampledCurve(0.5, 20, privacy, Sampling(rate, per), floor).delta(0.05)

    base = delta()
    assert 0.0 < base < 1.0
    assert delta(most=4) > base
    assert delta(person=3) > base
    assert delta(pairs=100_000) < base
    assert delta(floor=200.0) < base


def test_nothing_that_is_replaced_changes_a_count() -> None:
    """p = 1, M = 1: the number of pairs of the sample is all there is to see, and replacing a pair leaves it alone."""
    privacy = Privacy(1.0, 1e-6, pairs=1_000_000, relation="replace")
    assert SampledCurve(1.0, 50, privacy, Sampling(0.02)).epsilon(1e-6) < 1e-8


def test_bad_calls_say_what_to_do() -> None:
    for rate in (0.0, 1.0, -0.1, 1e-6, math.nan):
        with pytest.raises(ArgumentError, match=r"sampling.rate must"):
            Sampling(rate)
    with pytest.raises(ArgumentTypeError, match="must be a number"):
        Sampling("a lot")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match='must be "pair" or "entry"'):
        Sampling(0.1, "row")  # type: ignore[arg-type]
    curve = SampledCurve(0.5, 50, Privacy(1.0, 1e-6, pairs=1_000, relation="replace"), Sampling(0.1))
    with pytest.raises(ArgumentError, match="epsilon must be positive"):
        curve.delta(0.0)
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        curve.epsilon(0.0)
