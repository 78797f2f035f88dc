"""The claim of privacy/precision.py about entropy, measured: Ĥ is off by far less than ENTROPY_ERROR on average.

As in test_precision.py: entries again from ideal R in 30 digits with the same random bits; entries of longer streams
with every R moved by as much as the table may be off; and the numbers of the bound.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from reference_update import CONTINUATION, ReferenceTable, Variates, entry_bits, magnitudes, sum_entries

from stablesketch.law.skewed import FISHER_INFORMATION, SkewedLaw
from stablesketch.privacy.precision import ENTROPY_ERROR, entropy_is_covered, rounding_delta
from stablesketch.sketch.entry_law import ENTROPY
from stablesketch.sketch.estimators.entropy import entropy_estimate

LAW = SkewedLaw()
LIMIT = ENTROPY_ERROR / 10.0
TABLE_ERROR = 1e-15
KEY = bytes(range(1, 17))
TABLE = ReferenceTable.of(ENTROPY)


# --- ideal entries ---


def tails(y: mpf) -> tuple[mpf, mpf, mpf]:
    """P(R <= y), P(R > y) and the density in 30 digits: in the angle, or along the cut far on the left."""
    with mpmath.workdps(35):
        if y >= -6:
            nodes, above, density = 900, mpf(0), mpf(0)
            for k in range(nodes):
                phi = mpmath.pi * k / nodes
                place = mpf(1) if k == 0 else phi * mpmath.cot(phi) + mpmath.log(mpmath.sin(phi) / phi)
                w = mpmath.exp(y - place)
                if w > 90:
                    break
                term = mpmath.exp(-w) / (2 if k == 0 else 1) / nodes
                above, density = above + term, density + w * term
            return 1 - above, above, density

        def integrand(v: mpf) -> mpf:
            s = v / -y
            return mpmath.exp(-v - s * mpmath.log(s)) * mpmath.sin(mpmath.pi * s) / mpmath.pi

        places = [mpf(0), *(mpf(2) ** k for k in range(-24, 7))]
        below = mpmath.quad(lambda v: integrand(v) / v, places)
        return below, 1 - below, mpmath.quad(integrand, places) / -y


def ideal(bits: int, more: int, x: float) -> mpf:
    """R for all 126 bits of t: a Newton step from the table's own value, -x."""
    with mpmath.workdps(35):
        half_t = mpf((bits & (2**62 - 1)) << 64 | more) / mpf(2) ** 127
        below, above, density = tails(mpf(-x))
        return -mpf(x) - ((below - half_t) if not bits >> 62 & 1 else (half_t - above)) / density


def from_ideal_entries(streams: int, size: int) -> float:
    """The mean of |Ĥ - Ĥ₀| for three keys, and what Ĥ/g + u rounds away."""
    fingerprints, values = [11, 22, 33], [1, 5, 1_000]
    total, differences = sum(values), []
    for domain in range(streams):
        bits, more = (entry_bits(KEY, d, fingerprints, size) for d in (domain, domain ^ CONTINUATION))
        drawn = Variates.of(bits, more)
        sums = sum_entries(TABLE, drawn, values)
        ours = np.array([-a / (total << TABLE.resolution) for a in sums])
        floats = magnitudes(TABLE, drawn.side, drawn.t)
        theirs = np.array(
            [
                float(
                    sum(v * ideal(int(bits[i, j]), int(more[i, j]), float(floats[i, j])) for i, v in enumerate(values))
                    / total
                )
                for j in range(size)
            ]
        )
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=3e-15 * (1.0 + np.abs(theirs).max()))
        estimate = float(entropy_estimate(theirs))
        differences.append(abs(float(entropy_estimate(ours)) - estimate) + 2.0**-53 * (abs(estimate) + 1.0))
    return float(np.mean(differences))


def test_against_ideal_entries() -> None:
    """Fixed bits: the outcome never changes."""
    assert from_ideal_entries(streams=1, size=5) < LIMIT


@pytest.mark.slow
def test_against_ideal_entries_of_many_streams() -> None:
    assert from_ideal_entries(streams=2, size=8) < LIMIT


# --- perturbed entries ---


@pytest.mark.parametrize(("keys", "size", "sketches"), [(1, 50, 40), (2_000, 50, 40), (10, 1_000, 10), (30, 5, 400)])
def test_against_perturbed_entries(keys: int, size: int, sketches: int) -> None:
    """Every R moved by TABLE_ERROR (1 + |R|), up or down. Fixed seeds."""
    rng = np.random.default_rng([keys, size])
    shares = rng.dirichlet(np.ones(keys))
    differences = []
    for _ in range(sketches):
        r = LAW.sample((keys, size), rng).astype(np.longdouble)
        moved = r + TABLE_ERROR * (1.0 + np.abs(r)) * rng.choice([-1.0, 1.0], r.shape)
        one, other = (float(entropy_estimate((shares @ x).astype(np.float64))) for x in (r, moved))
        differences.append(abs(one - other) + 2.0**-53 * (abs(one) + 1.0))
    assert float(np.mean(differences)) < LIMIT


# --- the bound ---


def test_the_numbers_of_the_bound_at_large_sizes() -> None:
    """Integrals of |(ln h)''| h/I, by the trapezoid rule in u, y = u - e^{-u}: 1.06, 1.4 and 2.5 are rounded up."""
    u = np.arange(-10.0, 5.0, 0.01)
    y = u - np.exp(-u)
    mass = 0.01 * (1.0 + np.exp(-u)) * np.exp(LAW.values(y).density)
    step = 1e-4 * np.maximum(1.0, np.abs(y))
    weight = np.abs(LAW.slope(y + step) - LAW.slope(y - step)) / (2.0 * step) / FISHER_INFORMATION
    assert 1.0 < mass @ weight < 1.06
    assert 1.2 < mass @ (weight * np.abs(y)) < 1.4
    assert 2.0 < 2.0 * math.sqrt((mass @ weight**2) * (mass @ np.maximum(y, 0.0) ** 2)) < 2.5


@pytest.mark.slow
def test_the_numbers_of_the_bound_at_the_fewest_entries() -> None:
    """w_j is the covariance, in the posterior, of H and the slope at y_j + H. 400 sketches of 5 entries, a fixed
    seed; the standard errors are 0.002 and 0.03.
    """
    at = np.arange(-25.0, 8.0, 0.12)
    sums, weighted = [], []
    for x in LAW.sample((400, 5), np.random.default_rng(8)):
        log_posterior = LAW.values(x[:, None] + at).density.sum(axis=0)
        posterior = np.exp(log_posterior - log_posterior.max())
        posterior /= posterior.sum()
        w = np.abs(LAW.slope(x[:, None] + at) @ (posterior * (at - posterior @ at)))
        sums.append(w.sum())
        weighted.append(w @ np.abs(x))
    assert np.mean(sums) < 1.06
    assert np.mean(weighted) < 1.4


def test_what_is_covered_and_what_it_costs() -> None:
    assert entropy_is_covered(2**39, 2**40)
    assert not entropy_is_covered(2**39, 2**40 + 1)
    assert rounding_delta(1.0, 2.0**-6, ENTROPY_ERROR) == pytest.approx((1.0 + math.e) * 2.0**-36, rel=1e-9)
