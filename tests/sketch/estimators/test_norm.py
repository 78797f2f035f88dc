"""The norm of orders above one: its law against closed forms of scipy, against draws, and through the sketch itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from draws import above_one_draws
from scipy.stats import binom, chi, chi2

import stablesketch as ss
from stablesketch.law.above_one import above_one_law
from stablesketch.sketch.estimators.norm import NormLaw, norm_law, norms, size_for

SECRET = ss.Secret.from_bytes(bytes(range(32)))


@pytest.mark.parametrize("size", [1, 2, 7, 200, 5_000])
def test_at_two_it_is_chi(size: int) -> None:
    law = NormLaw(2.0, size)
    mean = float(chi.mean(size))
    assert math.exp(law.log_constant) * math.sqrt(size) == pytest.approx(mean, rel=1e-11)
    assert law.relative_variance == pytest.approx(size / mean**2 - 1.0, rel=1e-7)
    v, below, above = law.tails
    square = (np.exp(v) * mean) ** 2
    for found, exact in ((above, chi2.logsf(square, size)), (below, chi2.logcdf(square, size))):
        held = exact > -70.0
        np.testing.assert_allclose(np.log(found[held]), exact[held], atol=1e-9)
    for probability in (1e-6, 0.025, 0.5, 0.975, 1.0 - 1e-9):
        exact = math.log(math.sqrt(chi2.ppf(probability, size)) / mean)
        assert law.log_quantile(probability) == pytest.approx(exact, abs=2e-3 / math.sqrt(size) + 1e-4 * abs(exact))


def test_the_constant_of_many_entries() -> None:
    """Where Stirling's series takes over nothing moves; far beyond, the variance of F_2 is 2/r."""
    for size in (127, 128, 129):
        exact = math.lgamma(0.5 * (size + 1)) - math.lgamma(0.5 * size) + 0.5 * math.log(2.0 / size)
        assert NormLaw(2.0, size).log_constant == pytest.approx(exact, abs=1e-13)
    assert 4.0 * NormLaw(2.0, 2_000_000).relative_variance == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(("p", "size"), [(1.05, 50), (1.5, 3), (1.5, 200), (1.9, 800)])
def test_below_two_it_is_an_order_statistic(p: float, size: int) -> None:
    """P(the k-th of r is above x) is a binomial tail."""
    law = norm_law(p, size)
    v, below, above = law.tails
    values = above_one_law(p).values(v + law.log_constant)
    exact_above = binom.logsf(size - law.order, size, np.exp(values.sf))
    exact_below = binom.logsf(law.order - 1, size, np.exp(values.cdf))
    for found, exact in ((above, exact_above), (below, exact_below)):
        held = exact > -60.0
        np.testing.assert_allclose(np.log(found[held]), exact[held], atol=1e-9)


@pytest.mark.parametrize(("p", "size"), [(1.2, 30), (1.7, 100), (2.0, 4), (2.0, 100)])
def test_unbiased_with_the_stated_variance_and_limits(p: float, size: int) -> None:
    """20,000 simulated sketches of norm 1: mean, variance and two-sided coverage, each within 4.5 of its deviations
    (another seed would fail with probability 3e-5)."""
    law, count = norm_law(p, size), 20_000
    found = norms(above_one_draws(p, (count, size), np.random.default_rng(3)), p)
    deviation = math.sqrt(law.relative_variance)
    assert abs(found.mean() - 1.0) < 4.5 * deviation / math.sqrt(count)
    excess = np.mean((found - 1.0) ** 4) - deviation**4
    assert abs(np.mean((found - 1.0) ** 2) - deviation**2) < 4.5 * math.sqrt(excess / count)
    inside = np.mean((np.log(found) > law.log_quantile(0.05)) & (np.log(found) <= law.log_quantile(0.95)))
    assert abs(inside - 0.9) < 4.5 * math.sqrt(0.09 / count)


@pytest.mark.parametrize("p", [1.3, 2.0])
def test_equivariant_and_zero_for_nothing(p: float) -> None:
    entries = above_one_draws(p, (5, 40), np.random.default_rng(4))
    for scale in (-1.0, 2.0**-30, 2.0**40):
        np.testing.assert_array_equal(norms(scale * entries, p), abs(scale) * norms(entries, p))
    assert norms(np.zeros((2, 40)), p).tolist() == [0.0, 0.0]
    stacked = norms(entries.reshape(5, 1, 40), p)
    assert stacked.shape == (5, 1)
    np.testing.assert_array_equal(stacked[:, 0], norms(entries, p))


def test_variances_and_sizes() -> None:
    """The relative variance of F_p times r: 2 at p = 2, the least there is; up to 3.1 below. size_for inverts it."""
    for p, least, most in ((1.05, 2.4, 2.6), (1.25, 2.65, 2.8), (1.5, 2.85, 3.0), (1.9, 3.0, 3.15), (2.0, 1.99, 2.01)):
        assert least < 1_000 * p * p * norm_law(p, 1_000).relative_variance < most
        size = size_for(p, 0.05)
        assert p * math.sqrt(norm_law(p, size).relative_variance) <= 0.05
        assert p * math.sqrt(norm_law(p, size - 1).relative_variance) > 0.05
    assert size_for(2.0, 0.05) == 801
    assert size_for(2.0, 2.0) == 2
    assert size_for(2, 1e-3) == pytest.approx(2e6, rel=1e-5)


@pytest.mark.parametrize("p", [1.4, 2.0])
def test_through_the_sketch(p: float) -> None:
    """Shards, deletes and bytes are as for other orders; the estimate lies within 4.5 deviations (1e-5)."""
    whole = ss.Sketch(p, 800, SECRET)
    whole.update(np.arange(3_000) % 700, 1 + np.arange(3_000) % 5)
    parts = [ss.Sketch(p, 800, SECRET) for _ in range(2)]
    for part, rows in zip(parts, (np.arange(1_000), np.arange(1_000, 3_500)), strict=True):
        part.update(rows % 700, 1 + rows % 5)
    parts[1].delete(np.arange(3_000, 3_500) % 700, 1 + np.arange(3_000, 3_500) % 5)
    assert (parts[0] + parts[1]).to_bytes() == whole.to_bytes()
    totals = np.bincount(np.arange(3_000) % 700, 1 + np.arange(3_000) % 5)
    exact = float(np.sum(totals**p))
    found = ss.Sketch.from_bytes(whole.to_bytes()).estimate()
    assert abs(found.value / exact - 1.0) < 4.5 * p * math.sqrt(norm_law(p, 800).relative_variance)
    assert found.low < found.value < found.high
    assert found.method == "norm"
    assert ss.Sketch(p, 800, SECRET).estimate().value == 0.0


def test_bad_input() -> None:
    for p in (0, 0.01, 2.0001, 3, math.inf):
        with pytest.raises(ss.ArgumentError, match=r"between 0\.05 and 2"):
            ss.Sketch(p, 10)
    with pytest.raises(ss.ArgumentError, match="F_2 is the highest"):
        ss.Sketch(2.5, 10)
    with pytest.raises(ss.ArgumentError, match='must be "norm" for orders above 1'):
        ss.Sketch(2, 10).estimate("pitman")
    with pytest.raises(ss.ArgumentError, match="symmetric"):
        ss.Sketch(1.5, 10, law="one-sided")
    for bad in (1.0, 2.5):
        with pytest.raises(ss.ArgumentError, match="above 1"):
            NormLaw(bad, 10)
    with pytest.raises(ss.ArgumentError, match="must be at least 1"):
        NormLaw(2.0, 0)
    for error in (0.0, -1.0, math.nan):
        with pytest.raises(ss.ArgumentError, match="positive"):
            size_for(2.0, error)
    with pytest.raises(ss.ArgumentError, match="more entries than"):
        size_for(2.0, 1e-9)
