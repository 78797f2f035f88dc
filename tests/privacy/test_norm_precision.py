"""What finite precision costs a norm: the constants of the proof, the bound against worse errors, and real entries."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.integrate import quad
from scipy.stats import norm as normal

from stablesketch import ArgumentError, Secret
from stablesketch.law.above_one import above_one_law
from stablesketch.privacy import norm_precision as module
from stablesketch.privacy.norm_precision import norm_precision
from stablesketch.sketch.estimators.norm import norms
from stablesketch.sketch.reference import ReferenceTable, magnitudes, reference_entries, variates


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
    x = above_one_law(p).sample((sketches * size, len(totals)), rng)
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
    secret = Secret.from_bytes(bytes(range(32)))
    key = secret.derive(f"entries/p={p.hex()}", 16)
    drawn = variates(key, 0, range(keys), size)
    table = ReferenceTable.of(p)
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
            mpf(value) / mpf(2) ** table.resolution for value in reference_entries(p, size, secret, range(keys), totals)
        ]
        exact, found = (mpmath.sqrt(sum(a * a for a in entries)) for entries in (true, held))
        assert abs(float(found / exact - 1)) < 0.1 * norm_precision(p, size, 1e6).error


def test_what_it_costs() -> None:
    """F_2 of a total up to 2^40 is covered; other orders up to some 10^7; `failure` says where hits are charged."""
    two = norm_precision(2.0, 200, 2.0**40)
    assert two.error < 2e-13
    assert two.failure < 1e-11
    assert two.cap == 2.0**40
    assert norm_precision(2.0, 200, 2.0**40, sensitivity=16.0).cap == 2.0**36
    for p in (1.25, 1.5):
        found = norm_precision(p, 200, 1e7)
        assert 2.0 * found.error * found.cap < 0.15
        assert found.failure < 1e-12
    charged = norm_precision(1.9, 200, 1e8)
    assert charged.failure == pytest.approx(1e8 * 200 * 2.0**-64, rel=0.01)
    assert norm_precision(1.9, 200, 1e8, keys_cap=1e4).failure == pytest.approx(1e-13 + 1e4 * 200 * 2.0**-64, rel=0.01)
    assert norm_precision(1.99995, 50, 1e5).error > norm_precision(1.9999, 50, 1e5).error


def test_bad_input() -> None:
    for cap in (0.0, math.inf, math.nan):
        with pytest.raises(ArgumentError, match="total_cap"):
            norm_precision(2.0, 50, cap)
    for failure in (0.0, 1.0):
        with pytest.raises(ArgumentError, match="failure"):
            norm_precision(2.0, 50, 1e6, failure=failure)
    with pytest.raises(ArgumentError, match="above 1"):
        norm_precision(1.0, 50, 1e6)
