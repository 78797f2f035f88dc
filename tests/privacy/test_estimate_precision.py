"""What computing costs an estimate with noise: every number in estimate_precision.py, checked independently.

η to entries recomputed in mpmath from the same random bits, exactly; the shortfall to entries moved by hand; quantiles
to closed forms and simulations; the whole to the noise it leads to.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from draws import one_sided_draws
from mpmath import mpf
from noise_helpers import noise_for
from one_sided_oracle import by_angles, by_series
from reference_update import ReferenceTable, Variates, magnitudes, sum_entries
from scipy.special import gammaln
from scipy.stats import binom, chi2

from stablesketch._native import Entries
from stablesketch.errors import ArgumentError
from stablesketch.law.one_sided import one_sided_law
from stablesketch.privacy.estimate_precision import (
    ERROR,
    log_least_share,
    most_cut,
    precision_of,
    share_missing,
    switching,
    usual_cap,
)
from stablesketch.privacy.noisy_estimate import Precision
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.entry_values import logs_of
from stablesketch.sketch.estimators.one_sided import log_estimates
from stablesketch.sketch.estimators.power_sum import power_sum

# What is measured is to be less than an eighth of what is claimed.
LIMIT = ERROR / 8.0
ORDERS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999]
UPPER, LOWER = 0, 1

Bits = tuple[np.ndarray, np.ndarray, np.ndarray]


# --- η: the same random bits, in mpmath ---


def levy(z: mpf, side: int) -> tuple[mpf, mpf]:
    """The tail of Z = ½ ln X at p = 1/2 on this side, and the density: P(X <= x) = erfc(1/(2 √x))."""
    root = mpmath.exp(-z) / 2
    tail = mpmath.erfc(root) if side == LOWER else mpmath.erf(root)
    return tail, 2 / mpmath.sqrt(mpmath.pi) * root * mpmath.exp(-root * root)


def exact_x(p: float, side: int, tail: mpf, start: mpf) -> mpf:
    """The quantile, by Newton's step from the table's x, which is right to 1e-14: in z = p ln X."""
    z = mpf(p) * mpmath.log(start)
    if p == 0.5:
        found, density = levy(z, side)
    elif side == LOWER and tail < mpf(2) ** -12:
        found, density = by_angles(p, z)
    else:
        above, density = by_series(p, z, 70)
        found = above if side == UPPER else 1 - above
    step = (found - tail) / density
    return mpmath.exp((z + (step if side == UPPER else -step)) / mpf(p))


def exact_log_estimate(p: float, entries: list[mpf]) -> mpf:
    law = power_sum(p, len(entries))
    power = mpf(law.power) * mpf(p)
    mean = mpmath.fsum(mpmath.exp(power * mpmath.log(a)) for a in entries) / len(entries)
    return mpmath.log(mean) / mpf(law.power) - mpf(law.log_constant)


def computed_log_estimate(p: float, sums: list[int]) -> float:
    """As a sketch does it, from the integers on."""
    entries = Entries(EntryLaw("one-sided", p), len(sums))
    entries.load(b"".join(a.to_bytes(4 * entries.digits, "little", signed=True) for a in sums))
    return float(log_estimates(logs_of(entries), p))


def measured_error(p: float, bits: Bits, weights: list[int]) -> float:
    """|ln F_hat computed - ln F_hat exact|; the bits are of shape (keys, entries), and t is 2 (m + what follows m)."""
    law = EntryLaw("one-sided", p)
    drawn, table = Variates.of(*bits, law), ReferenceTable.of(law)
    floats = magnitudes(table, drawn.side, drawn.t)
    computed = computed_log_estimate(p, sum_entries(table, drawn, weights))
    with mpmath.workdps(50):
        entries = [mpf(0)] * floats.shape[1]
        for (i, j), x in np.ndenumerate(floats):
            first, more, last = (int(some[i, j]) for some in bits)
            tail = mpf((first & (2**62 - 1)) << 128 | more << 64 | last) / mpf(2) ** 191
            start = mpf(float(x)) * mpf(2) ** table.shift
            entries[j] += weights[i] * exact_x(p, first >> 62 & 1, tail, start)
        return abs(float(mpf(computed) - exact_log_estimate(p, entries)))


def random_bits(seed: int, shape: tuple[int, int]) -> Bits:
    rng = np.random.default_rng(seed)
    first, more, last = rng.integers(0, 2**64, (3, *shape), dtype=np.uint64)
    return first, more, last


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.1, 0.75, 0.9))])
def test_estimates_of_few_keys_are_right(p: float) -> None:
    for weights in ([1], [3, 10**12]):
        assert measured_error(p, random_bits(1, (len(weights), 8)), weights) < LIMIT


@pytest.mark.parametrize("p", [0.05, 0.5, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.1, 0.25, 0.75, 0.9))])
def test_estimates_from_the_deep_octaves_are_right(p: float) -> None:
    """One key, m = 0 in every entry, and 0, 1, ..., 31 zeros after it on the lower side, up to 7 on the upper one."""
    for side, zeros in ((LOWER, np.array([0, 1, 9, 31])), (UPPER, np.array([0, 1, 4, 7]))):
        _, more, last = random_bits(2, (1, 4))
        more = (more | np.uint64(1 << 63)) >> zeros.astype(np.uint64)[np.newaxis]
        assert measured_error(p, (np.full((1, 4), side << 62, np.uint64), more, last), [1]) < LIMIT


def test_estimates_of_many_keys_are_right() -> None:
    """At p = 1/2, where X has a closed form: 300 keys of very different weights."""
    weights = np.random.default_rng(3).integers(1, 2 ** np.random.default_rng(4).integers(1, 50, 300)).tolist()
    assert measured_error(0.5, random_bits(5, (300, 6)), weights) < LIMIT


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("size", [2, 2_048])
def test_from_integers_to_the_estimate(p: float, size: int) -> None:
    """Logarithms, mean and power by themselves: F from 1 to 2^60, entries drawn from the law."""
    rng = np.random.default_rng(size)
    resolution = Entries(EntryLaw("one-sided", p), 1).resolution
    z = one_sided_draws(p, size, rng)
    for log_f in (0.0, 1.0, 23.0, 41.5):
        with mpmath.workdps(40):
            exact = [mpmath.exp(mpf(float(v + log_f)) / mpf(p)) * mpf(2) ** resolution for v in z]
            sums = [int(a) for a in exact]
            wanted = exact_log_estimate(p, [mpf(a) / mpf(2) ** resolution for a in sums])
            assert abs(float(mpf(computed_log_estimate(p, sums)) - wanted)) < LIMIT


@pytest.mark.parametrize("p", [*ORDERS, 0.02 + 1.0 / 3.0, 0.99])
def test_the_random_bits_hardly_move_x(p: float) -> None:
    """|d ln X^p/d ln t| is the tail over the density, at most 1.45 down to the last octave of either side."""
    law = one_sided_law(p)
    below = law.values(law.quantile(log_cdf=np.linspace(-96.0 * math.log(2.0), math.log(0.5), 500)))
    above = law.values(law.quantile(log_sf=np.linspace(-72.0 * math.log(2.0), math.log(0.5), 500)))
    assert np.max(np.exp(below.cdf - below.density)) < 1.45
    assert np.max(np.exp(above.sf - above.density)) < 1.45


def test_the_sum_of_the_rounding_errors() -> None:
    """The last lines of the proof, for every p: in units of 2^-53, below 1,024."""
    for p in (*ORDERS, 0.07, 0.2, 0.6):
        law, bits = power_sum(p, 2), Entries(EntryLaw("one-sided", p), 1).resolution
        assert p * bits <= 53.0
        assert law.theta <= 1.0
        log_f, log_r = 62.0 * math.log(2.0) + 0.7, math.log(2.0**20)
        rest = 9.0 * log_f + 8.0 * law.theta * (log_r + 0.4) + 5.0 * p * bits * math.log(2.0)
        x = 2.0 * 1.45 + 1e-14 * 2.0**53 + 2.0**4
        assert (x + rest + law.theta * (39.0 + 8.0 * log_r) + 8.0) * 2.0**-53 < ERROR


# --- large X that the table lacks ---


def estimate_of(p: float, powers: np.ndarray) -> float:
    """F_hat from entry^p, as the formula has it."""
    law = power_sum(p, len(powers))
    return float(np.mean(powers**law.power) ** (1.0 / law.power) / math.exp(law.log_constant))


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75])
@pytest.mark.parametrize("size", [2, 8, 50])
def test_the_shortfall_is_a_bound_and_attained(p: float, size: int) -> None:
    """Entries of any size, some of them at least T and moved down, but not below T; F_max at the estimate that results.

    It is attained where those are moved from infinity to T.
    """
    rng, end = np.random.default_rng(size), 2.0**12
    for cut in (1, size // 2):
        for turn in range(200):
            others = rng.lognormal(rng.uniform(-1.0, 6.0), 2.0, size - cut)
            high = np.full(cut, np.inf) if turn == 0 else end * np.exp(rng.exponential(3.0, cut))
            low = np.full(cut, end) if turn == 0 else end * (high / end) ** rng.random(cut)
            before = estimate_of(p, np.concatenate([others, high]))
            after = estimate_of(p, np.concatenate([others, low]))
            share = share_missing(p, size, math.log(after), cut, math.log(end))
            assert after * (1.0 - 1e-12) <= before <= after * (1.0 + share) * (1.0 + 1e-12)
            if turn == 0 and share < 10.0:
                assert before >= after * (1.0 + share * (1.0 - 1e-3))


def test_a_table_that_ends_early() -> None:
    """Streams of 30 keys with X cut where their tail is 2^-7, so that some entry is hit in most of them: the cut
    estimates differ by no more than E, one way, for every F_max."""
    p, size, keys, rng = 0.25, 16, 30, np.random.default_rng(8)
    law = one_sided_law(p)
    end = float(law.quantile(log_sf=np.array(-7.0 * math.log(2.0))))
    hit = 0
    for _ in range(100):
        totals = rng.integers(1, 4, keys)[:, np.newaxis]
        z = one_sided_draws(p, (keys, size), rng)
        true, cut = (np.log((totals * np.exp(some / p)).sum(axis=0)) for some in (z, np.minimum(z, end)))
        count = int(np.any(z > end, axis=0).sum())
        hit += count > 0
        whole, less = (math.exp(float(log_estimates(logs, p))) for logs in (true, cut))
        for cap in (0.3 * less, less, 1.5 * less, 30.0):
            most = cap * share_missing(p, size, math.log(cap), count, end)
            assert -1e-9 <= min(whole, cap) - min(less, cap) <= most + 1e-9
    assert hit > 50


@pytest.mark.parametrize(("size", "keys"), [(2, 2.0**60), (8, 2.0**36), (200, 2.0**40), (10_000, 2.0**50)])
def test_how_many_entries_are_hit(size: int, keys: float) -> None:
    """Against the binomial law itself; an entry is hit with probability at most n 2^-72, n the keys."""
    cut, more = most_cut(size, keys)
    assert more <= 2.0**-56
    assert binom.sf(cut, size, -math.expm1(keys * math.log1p(-(2.0**-72)))) <= more
    if cut > 0:
        assert binom.sf(cut - 1, size, keys * 2.0**-72) > 2.0**-58


def test_the_end_of_the_table() -> None:
    """T <= X^p at the tail 2^-71, by the law; and F_max at its largest with every entry hit loses less than 0.4%."""
    for p in (*ORDERS, 0.97, 0.99):
        z = float(one_sided_law(p).quantile(log_sf=np.array(-71.0 * math.log(2.0))))
        assert z == pytest.approx(71.0 * math.log(2.0) - math.lgamma(1.0 - p), abs=1e-9)
        for size in (2, 8, 10_000):
            assert share_missing(p, size, 60.0 * math.log(2.0), size, z) < 0.004


# --- streams beyond F_max, the pseudorandom function ---


@pytest.mark.parametrize("size", [2, 8, 64, 1_000, 20_000])
def test_low_estimates_at_one_half(size: int) -> None:
    """There ξ = c/χ_r with E ξ = 1."""
    log_c = math.log(math.sqrt(2.0)) + gammaln(size / 2) - gammaln((size - 1) / 2)
    for probability in (1e-3, 2.0**-64):
        least = log_least_share(0.5, size, probability)
        assert chi2.logsf(math.exp(2.0 * (log_c - least)), size) <= math.log(probability)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.75, 0.99])
def test_low_estimates_by_simulation(p: float) -> None:
    """20,000 sketches, of which 20 at most are expected below the quantile of 1e-3: 45 have probability 1e-6."""
    for size in (3, 100):
        z = one_sided_draws(p, (20_000, size), np.random.default_rng(size))
        found = power_sum(p, size).log_estimates(z)
        assert np.sum(found < log_least_share(p, size, 1e-3)) < 45


def test_permutations() -> None:
    """With 16 values in the place of 2^128, the chance that of B independent ones two are equal is at most B²/32."""
    for blocks in range(1, 7):
        distinct = math.prod(1.0 - i / 16.0 for i in range(blocks))
        assert 1.0 - distinct <= blocks**2 / 32.0
    assert switching(3, 2.0**30) == pytest.approx(2.0 ** (62 - 129), rel=0.01)
    assert switching(2, 2.0**90) == 1.0


# --- the whole ---

CAPS = {  # log2 of the usual cap at 8, 64, 200, 1,000 and 10,000 entries, Δ = 1, δ = 1e-9
    0.05: [33, 34, 34, 34, 33],
    0.1: [33, 34, 34, 34, 33],
    0.25: [34, 34, 34, 34, 33],
    0.5: [34, 34, 34, 34, 33],
    0.75: [34, 34, 34, 34, 33],
    0.9: [34, 34, 34, 34, 33],
    0.95: [34, 34, 34, 34, 33],
    0.999: [34, 34, 34, 34, 33],
}


@pytest.mark.parametrize("p", CAPS)
def test_the_usual_caps(p: float) -> None:
    assert [math.log2(usual_cap(p, size)) for size in (8, 64, 200, 1_000, 10_000)] == CAPS[p]


@pytest.mark.parametrize(
    ("p", "size"),
    [
        (0.05, 64),
        *(pytest.param(*at, marks=pytest.mark.slow) for at in ((0.1, 8), (0.25, 200), (0.5, 10_000), (0.999, 8))),
    ],
)
def test_the_usual_cap_costs_less_than_one_percent(p: float, size: int) -> None:
    """And a little more than that what it finds to 0.2%."""
    for sensitivity in (1.0, 700.0):
        precision = precision_of(p, size, usual_cap(p, size, sensitivity), 0.0, sensitivity)
        for epsilon in (0.1, 4.0):
            exact = noise_for(p, size, epsilon, 1e-9)
            assert noise_for(p, size, epsilon, 1e-9, precision=precision) < 1.012 * exact


def test_failures_are_what_they_are_made_of() -> None:
    """8 entries at p = 1/2: n r 2^-96, n the keys, and the blocks; nothing else is left at F_max = 2^40."""
    found = precision_of(0.5, 8, 2.0**40, 1.0 / 1024.0)
    keys = 1.02 * 2.0**40 / math.exp(log_least_share(0.5, 8, 2.0**-64))
    expected = keys * 8.0 * 2.0**-96 + (4.0 * keys) ** 2 * 2.0**-129
    assert expected < found.failure < 1.01 * expected + 2.0**-56 + 2.0**-63
    assert (found.error, found.cap, found.grid, found.outputs) == (2.0**-43, 2.0**40, 1.0 / 1024.0, 1)
    # In units of Δ: four times Δ and a quarter of the cap is the same stream, and the same number of units.
    wider = precision_of(0.5, 8, 2.0**38, 1.0 / 1024.0, 4.0)
    assert (wider.failure, wider.short) == (found.failure, pytest.approx(found.short / 4.0, rel=1e-9))


def test_smaller_deltas_have_smaller_caps() -> None:
    caps = [usual_cap(0.25, 1_000, delta=delta) for delta in (1e-6, 1e-9, 1e-12, 1e-15)]
    assert caps == sorted(caps, reverse=True)
    assert caps[0] > caps[-1]
    assert usual_cap(0.25, 64, outputs=16) <= usual_cap(0.25, 64) / 8.0


def test_what_every_output_costs() -> None:
    """The shortfall counts once, errors twice, and all of it for every output."""
    one = Precision(error=1e-10, failure=1e-12, cap=1e6, grid=0.001, short=0.01)
    assert one.shift(2.0) == pytest.approx((2e-4 + 0.01) / 2.0 + 0.002, rel=1e-9)
    assert one.failures == 2e-12
    three = Precision(error=1e-10, failure=1e-12, cap=1e6, grid=0.001, short=0.01, outputs=3)
    assert three.shift(2.0) == pytest.approx(3.0 * one.shift(2.0), rel=1e-12)
    assert three.failures == 6e-12
    same = Precision(failure=3e-12, cap=3e6, error=1e-10, grid=0.003, short=0.03)
    assert noise_for(0.5, 32, 1.0, 1e-9, precision=three) == noise_for(0.5, 32, 1.0, 1e-9, precision=same)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: precision_of(0.5, 1, 2.0**30, 0.0), "size must .*got 1"),
        (lambda: precision_of(0.5, 2**21, 2.0**30, 0.0), "size must .*got 2097152"),
        (lambda: precision_of(0.5, 8, 2.0**30, 0.0, 0.5), "sensitivity must .*got 0.5"),
        (lambda: precision_of(0.5, 8, math.nan, 0.0), "cap must .*got nan"),
        (lambda: precision_of(0.5, 8, 2.0**51, 0.0, 1_024.0), "cap must .*got 2251799813685248.0"),
        (lambda: usual_cap(0.5, 8, math.inf), "sensitivity must .*got inf"),
        (lambda: usual_cap(0.5, 8, delta=1e-30), "delta must .*got 1e-30"),
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


# --- buckets ---


def test_one_bucket_costs_what_it_did() -> None:
    assert precision_of(0.5, 64, 2.0**30, 1e-3, 3.0, 2) == precision_of(0.5, 64, 2.0**30, 1e-3, 3.0, 2, buckets=1)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
@pytest.mark.parametrize(("size", "buckets"), [(8, 2), (16, 2_000), (64, 1 << 16)])
def test_buckets_cost_more_blocks_and_a_second_grid(p: float, size: int, buckets: int) -> None:
    """Every part of docs/math-buckets.md, "What computing costs", written out once more."""
    cap, change, grid = 2.0**28, 3.0, 1e-4
    one = precision_of(p, size, cap, grid, change, 2)
    found = precision_of(p, size, cap, grid, change, 2, buckets)
    low = math.exp(-log_least_share(p, size, 2.0**-64 / buckets))
    keys = 1.02 * math.sqrt(buckets) * cap * change * low + 1.0
    blocks = keys * (-(-size // 2) + 1) * (1.0 + 2.0**-8)
    assert found.failure >= blocks**2 * 2.0**-129 + keys * size * 2.0**-96 + 2.0**-63
    assert found.failure <= 1.01 * (blocks**2 * 2.0**-129 + keys * size * 2.0**-96 + 2.0**-63 + 2.0**-56)
    assert found.failure > one.failure
    assert (found.error, found.cap, found.outputs) == (one.error, one.cap, one.outputs)
    assert found.grid == 2.0 * grid
    assert found.short >= one.short
    # A norm that is cut where the sum is needs no more keys than one bucket, but for the lower x.
    less = precision_of(p, size, cap, grid, change, 2, buckets, norm_share=1.0 / math.sqrt(buckets))
    fewer = 1.02 * cap * change * low + 1.0
    assert less.failure <= found.failure
    assert less.failure >= (fewer * (-(-size // 2) + 1)) ** 2 * 2.0**-129


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999])
def test_a_stream_that_is_cut_is_cut_for_sure(p: float) -> None:
    """What X beyond the table take from an estimate below 1.01 F_max is less than 0.5%, however many entries have one,
    up to the largest cap: so 1.02 times the cap is cut."""
    end = 71.0 * math.log(2.0) - math.lgamma(1.0 - p)
    for size in (2, 8, 64, 1 << 20):
        assert share_missing(p, size, math.log(1.01 * 2.0**60), size, end) < 0.005


def test_how_many_buckets_change_does_not_matter_to_computing() -> None:
    """Errors of estimates, in all buckets, of any signs: the cut sum moves by η F_max/(1 - η) at most, and the norm."""
    rng, error, cap = np.random.default_rng(9), 1e-3, 100.0
    most = error * cap / (1.0 - error)
    closest = 0.0
    for _ in range(2_000):
        values = rng.exponential(1.0, 50) ** rng.uniform(0.5, 6.0)
        values *= cap * rng.uniform(0.9, 1.1) / (values.sum() if rng.random() < 0.5 else math.hypot(*values))
        wrong = values * (1.0 + error * (rng.choice([-1.0, 1.0]) if rng.random() < 0.5 else rng.uniform(-1.0, 1.0, 50)))
        for size in (math.fsum, lambda some: math.sqrt(math.fsum(some * some))):
            moved = abs(min(size(values), cap) - min(size(wrong), cap))
            closest = max(closest, moved / most)
            assert moved <= most * (1.0 + 1e-12)
    assert closest > 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: precision_of(0.5, 8, 1e6, 0.0, buckets=0), "buckets must .*got 0"),
        (lambda: precision_of(0.5, 8, 1e6, 0.0, buckets=4, norm_share=0.0), "norm_share must .*got 0.0"),
        (lambda: usual_cap(0.5, 8, buckets=4, norm_share=2.0), "norm_share must .*got 2.0"),
    ],
)
def test_buckets_that_cannot_be_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize("p", [0.05, 0.06, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999])
def test_how_much_an_error_of_t_moves_a_power(p: float) -> None:
    """P/h of ln X^p is at most 1.45 on either side of the median: nearly 1/ln 2 at p = 0.05, the limit as p falls."""
    law, log_tails = one_sided_law(p), -math.log(2.0) * np.linspace(1.0, 96.0, 1_000)
    lower, upper = (law.values(law.quantile(**{side: log_tails})) for side in ("log_cdf", "log_sf"))
    most = max(np.max(np.exp(lower.cdf - lower.density)), np.max(np.exp(upper.sf - upper.density)))
    assert most < 1.45
    assert most > 0.99 / math.log(2.0) or p > 0.1
