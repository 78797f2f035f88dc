"""What finite precision costs a norm: the constants of the proof, the bound against worse errors, and real entries."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from draws import above_one_draws
from mpmath import mpf
from reference_update import ReferenceTable, magnitudes, reference_entries, variates
from scipy.integrate import quad
from scipy.stats import norm as normal

from stablesketch import ArgumentError, Secret
from stablesketch.law.above_one import above_one_law
from stablesketch.privacy import noisy_norm as module
from stablesketch.privacy.noisy_norm import most_keys, norm_precision, usual_norm_cap
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.estimators.norm import norm_law, norms


def test_the_constants_of_the_tails() -> None:
    """x^p P(|X| > x) <= 1 and x^{p+1} f(x) <= 1, for all x and p: they are below 0.67 and 0.93."""
    y = np.linspace(-4.0, 20.0, 1_201)
    for p in (1.00001, 1.1, 1.2, 1.35, 1.5, 1.65, 1.8, 1.9, 1.95, 1.98, 1.99, 1.999, 1.99999, 2.0):
        values = above_one_law(p).values(y)
        assert np.max(np.exp(p * y + values.sf)) < 0.67
        assert np.max(np.exp(p * y + values.density)) / 2.0 < 0.93


def test_the_constants_of_the_last_octave() -> None:
    """∫|φ''| < 0.97; x² - x'² has a mean below 8: P(|X| > x) = t/2^64, x' = x(t + 1), t uniform in (0, 1)."""
    bend = quad(lambda x: abs(x * x - 1.0) * normal.pdf(x), -20.0, 20.0, points=[-1.0, 1.0], limit=200)[0]
    assert bend < 0.97
    t = (np.arange(2_000) + 0.5) / 2_000

    def square(t: np.ndarray) -> np.ndarray:
        return 2.0 * normal.isf(t * 2.0**-65) ** 2

    assert float(np.mean(square(t) - square(t + 1.0))) < 8.0


def streams() -> dict[str, np.ndarray]:
    return {
        "one key": np.ones(1),
        "equal keys": np.ones(400),
        "one heavy": np.concatenate([[1_000.0], np.ones(300)]),
        "falling": np.ceil(2_000.0 / np.arange(1, 300)),
    }


@pytest.mark.parametrize("name", streams())
@pytest.mark.parametrize("p", [1.1, 1.5, 1.9, 2.0])
def test_errors_as_large_as_may_be(monkeypatch: pytest.MonkeyPatch, p: float, name: str) -> None:
    """Every X is moved by 1e-9 (1 + |X|), the most the proof allows if e is that, at random signs: no norm of 120
    sketches moves by more than its bound for a failure of 1e-3."""
    monkeypatch.setattr(module, "_TABLE", 1e-9)
    totals, size, sketches = streams()[name], 25, 120
    bound = norm_precision(p, size, 1e6, failure=1e-3)
    rng = np.random.default_rng(11)
    x = above_one_draws(p, (sketches * size, len(totals)), rng)
    error = 1e-9 * (1.0 + np.abs(x)) * np.sign(x) * np.where(rng.random(len(totals)) < 0.5, -1.0, 1.0)
    true = norms((x @ totals).reshape(sketches, size), p)
    moved = norms(((x + error) @ totals).reshape(sketches, size), p)
    worst = float(np.max(np.abs(moved / true - 1.0)))
    assert worst < bound.error
    if p == 2.0:
        assert worst > bound.error / 200.0


def test_real_entries_of_two() -> None:
    """Entries of 300 keys, their X recomputed to 30 digits from the same t: the norm moves by a tenth of the bound."""
    p, size, keys = 2.0, 6, 300
    law = EntryLaw("symmetric", p)
    secret = Secret.from_bytes(bytes(range(32)))
    key = secret.derive(f"entries/p={law.number.hex()}", 16)
    drawn = variates(key, 0, range(keys), size, law)
    table = ReferenceTable.of(law)
    close = magnitudes(table, drawn.side, drawn.t)
    totals = [1 + k % 7 for k in range(keys)]
    true = [mpf(0)] * size
    with mpmath.workdps(30):
        for k in range(keys):
            for j in range(size):
                x = mpf(float(close[k, j]))
                tail = mpmath.erfc(x / 2) if drawn.side[k, j] == 0 else mpmath.erf(x / 2)
                slope = mpmath.exp(-x * x / 4) / mpmath.sqrt(mpmath.pi) * (-1 if drawn.side[k, j] == 0 else 1)
                x -= (tail - mpf(float(drawn.t[k, j])) / mpf(2) ** 64) / slope
                true[j] += totals[k] * (-x if drawn.negative[k, j] else x)
        held = [
            mpf(value) / mpf(2) ** table.resolution
            for value in reference_entries(law, size, secret, range(keys), totals)
        ]
        exact, found = (mpmath.sqrt(sum(a * a for a in entries)) for entries in (true, held))
        assert abs(float(found / exact - 1)) < 0.1 * norm_precision(p, size, 1e6).error


def test_what_it_costs() -> None:
    """η at a failure of 1e-13 and of what a plan may fail with; and what keys cost: the last octave and AES."""
    two = norm_precision(2.0, 200, 2.0**40, keys=2.0**38)
    assert two.error < 2e-13
    by_keys = 200 * (2.0**-62 + 3.0 * 2.0**-52) + (2.0**38 * 100 * (1 + 2.0**-8)) ** 2 * 2.0**-129
    assert two.failure == pytest.approx(1e-13 + by_keys, rel=1e-9)
    assert two.cap == 2.0**40
    assert norm_precision(2.0, 200, 2.0**40, sensitivity=16.0).cap == 2.0**36
    for p, strict, usual in ((1.01, 5e-9, 2e-10), (1.25, 3e-10, 5e-11), (1.5, 7e-11, 2e-11), (1.9, 8e-12, 5e-12)):
        assert norm_precision(p, 200, 1e7).error < strict
        assert norm_precision(p, 200, 1e7, failure=1e-9 / 16.0).error < usual
    few, many = (norm_precision(1.5, 200, 1e8, keys=keys).failure for keys in (1.0, 2.0**40))
    assert many - few == pytest.approx(200 * 2.0**-56 + (2.0**40 * 100 * (1 + 2.0**-8)) ** 2 * 2.0**-129, rel=1e-9)
    assert few < 1.1e-13
    assert norm_precision(1.99995, 50, 1e5).error > norm_precision(1.9999, 50, 1e5).error


@pytest.mark.parametrize("p", [1.000001, 1.1, 1.5, 1.9, 1.99, 1.99995, 2.0 - 2.0**-52])
@pytest.mark.parametrize("size", [5, 50, 10_000])
def test_every_size_has_a_bound(p: float, size: int) -> None:
    found = norm_precision(p, size, 1e6, failure=1e-10)
    assert 0.0 < found.error < (1e-4 if size == 5 else 1e-9)
    assert found.failure < 1.05e-10  # AES has a part of it at 10,000 entries


def test_the_tail_far_out() -> None:
    """From 50 on x^p P(|X| > x) and x^{p+1} f(x) are at most 2% above their limits c and pc/2. By the series of the
    tail in mpmath near order 2, where the law's own digits do not suffice."""
    x = np.geomspace(50.0, 1e9, 60)
    for p in (1.00001, 1.1, 1.35, 1.5, 1.75, 1.9, 1.95, 1.99, 1.999):
        values = above_one_law(p).values(np.log(x))
        limit = 2.0 / math.pi * math.gamma(p) * math.sin(0.5 * math.pi * (2.0 - p))
        for found, wanted in ((p * np.log(x) + values.sf, limit), (p * np.log(x) + values.density, p * limit)):
            assert np.max(np.exp(found)) <= 1.02 * wanted
            assert np.exp(found[-1]) == pytest.approx(wanted, rel=1e-6)
    for tiny in (2.0**-52, 2.0**-30, 1e-4):
        with mpmath.workdps(40):
            p = 2 - mpf(tiny)
            terms = [
                mpmath.gamma(k * p + 1) / mpmath.factorial(k) * mpmath.sin(k * mpmath.pi * mpf(tiny) / 2)
                for k in range(1, 40)
            ]
            density = sum(term * mpf(50) ** (-(k - 1) * p) for k, term in enumerate(terms, 1)) / terms[0]
            tail = sum(term / k * mpf(50) ** (-(k - 1) * p) for k, term in enumerate(terms, 1)) / terms[0]
            normal_part = mpmath.exp(-(mpf(50) ** 2) / 4) * 50**3 / mpf(tiny)
        assert 1 < tail < density < 1.02
        assert normal_part < 1e-240


@pytest.mark.parametrize("p", [1.05, 1.5, 1.9])
def test_an_entry_with_a_large_term_is_seldom_near_a_place(p: float) -> None:
    """Two keys, with z far below what is used: how often a term is above z and the entry in an interval, by 4,000,000
    draws, is below the bound, and not by more than its slack."""
    rng = np.random.default_rng(5)
    f = np.full(2, 0.5 ** (1.0 / p))
    z, w, length = 50.0, 6.0, 6.0
    limit = 1.02 * 2.0 / math.pi * math.gamma(p) * math.sin(0.5 * math.pi * (2.0 - p))
    bound = 2.0 * length * limit * (1.02 * 0.5 * p * limit) * (8.0 / 7.0) ** p * z ** -(2.0 * p + 1.0)
    # Given that the first term is large: its tail is a power there, so x = z u^(-1/p) by u uniform.
    count = 4_000_000
    first = z * rng.random(count) ** (-1.0 / p)
    second = f[1] * above_one_draws(p, count, rng)
    large = limit / 1.02 * (f[0] / z) ** p  # P(f_1 |x_1| > z)
    hit = np.mean(np.abs(first + second) < w)
    assert 2.0 * large * hit < bound
    if p < 1.1:
        assert hit > 0.0


def test_the_mean_gap() -> None:
    """r E(V - U) by sorting: 20,000 times eleven magnitudes; its deviation is 1%, and 5% is allowed."""
    p, size = 1.5, 12
    law = norm_law(p, size)
    sorted_ = np.sort(np.abs(above_one_draws(p, (20_000, size - 1), np.random.default_rng(6))), axis=1)
    gap = size * np.mean(sorted_[:, law.order - 1] - (sorted_[:, law.order - 2] if law.order > 1 else 0.0))
    assert law.gap(1e6) == pytest.approx(float(gap), rel=0.05)


def test_how_many_keys() -> None:
    """By hand: 2 (100.4 keys)²/2^129 <= δ/128, and the last octave is far below that."""
    keys = most_keys(1.5, 200, 1e-9)
    assert keys == 2.0 ** math.floor(0.5 * math.log2(1e-9 / 256.0 * 2.0**129 / (100.0 * (1 + 2.0**-8)) ** 2))
    assert keys == 2.0**38
    assert most_keys(2.0, 200, 1e-9, outputs=4) == 2.0**37
    assert most_keys(2.0, 5, 1e-3) == 2.0**40
    assert most_keys(1.5, 200, 1e-15) == 2.0**28


def test_caps() -> None:
    """2^37 at order 2; otherwise no lower than 2^33, and higher where less than 1% of the noise pays for it."""
    assert usual_norm_cap(2.0, 200, 1e-13) == 2.0**37
    assert usual_norm_cap(1.1, 200, 1e-11) == 2.0**33
    loose = usual_norm_cap(1.99, 10_000, 1e-3)
    shift = norm_precision(1.99, 10_000, loose, grid=0.0, failure=1e-3).shift(1.0)
    assert loose == 2.0**33 or shift <= 0.0075


def test_bad_input() -> None:
    for cap in (0.0, math.inf, math.nan):
        with pytest.raises(ArgumentError, match="cap"):
            norm_precision(2.0, 50, cap)
    for failure in (0.0, 1.0):
        with pytest.raises(ArgumentError, match="failure"):
            norm_precision(2.0, 50, 1e6, failure=failure)
    with pytest.raises(ArgumentError, match="above 1"):
        norm_precision(1.0, 50, 1e6)
