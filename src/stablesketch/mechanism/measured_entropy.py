"""Entropy from what was released of it: a value, limits, and what to believe (privacy/noisy_entropy.py).

Released are N + Z_N and N (H + ζ - β') + Z_G, β' public, with three independent errors of known law. So H is believed
to be β' + (mass - Z_G)/(N - Z_N) - ζ, over the three laws; ζ = 0 from exact totals.

**From buckets** the third error is Σ (N_b/N) ζ_b, of deviation sqrt(v) ‖N‖/N, v being the variance of one ζ. ‖N‖ was
released with noise. Its law depends on how the N_b are spread: normal if there are many alike, that of one ζ if one
holds everything. It is taken to be what it is if one bucket holds a share a of N and the others share the rest evenly,
a² + (1 - a)²/(B - 1) = (‖N‖/N)²: a ζ and a normal error. That is right at both ends. With several heavy buckets it is
a little more skewed than the truth, which costs the limits less than 1% of their confidence.
The noise of ‖N‖ is left out: it moves the deviation of the sketch by a sixth of the noise of G, or less.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from ..arrays import Array
from ..privacy.noisy_entropy import EntropyNoise, NoisyMass
from ..published import NoisyTotal
from ..sketch.estimators.entropy_mean import entropy_mean_law
from .belief import Belief, belief
from .laplace_noise import laplace_belief


def measured_entropy(found: NoisyMass, noise: EntropyNoise, confidence: float) -> Belief:
    """H = β + mass/N within [0, ln T]: a total of T has no more entropy. Without a mass that is all there is to say.

    The limits hold H with the probability they say where N is well above its own noise, and about as often in shorter
    streams.
    """
    most = math.log(max(found.bound, 1))
    total = None if found.total is None else NoisyTotal(float(found.total), float(noise.total_scale))
    if found.mass is None:
        return Belief(0.5 * most, 0.0, most, lambda probability: most * np.asarray(probability), total)
    centre, step = float(found.centre), float(found.step)
    # Beside a sketch the rounding is nothing; beside little noise alone it is not.
    mass = laplace_belief(found.nats, float(noise.mass_scale) * step, 0.0 if noise.size else 0.5 * step)

    def entropy(at: tuple[Array, ...]) -> Array:
        """As far as it is believed that there is nothing, it has no entropy."""
        return np.where(at[1] < 0.5, 0.0, centre + at[0] / np.maximum(at[1], 1.0))

    if total is None:
        n = float(found.bound)
        whole = Belief(mass.value / n, 0.0, 0.0, lambda probability: mass.quantiles(probability) / n)
    else:
        whole = belief(entropy, (mass, laplace_belief(total.value, total.scale)), confidence)
    one, others = _weights(found, noise)
    if one:
        zeta = Belief(0.0, 0.0, 0.0, entropy_mean_law(noise.entries).quantiles)
        whole = belief(lambda at: at[0] - one * at[1], (whole, zeta), confidence)
    if others:
        spread = NormalDist(0.0, others * noise.worst_deviation)
        rest = Belief(0.0, 0.0, 0.0, lambda at: np.array([spread.inv_cdf(each) for each in at.ravel().tolist()]))
        whole = belief(lambda at: at[0] - at[1], (whole, rest), confidence)
    return replace(whole.at(confidence), total=total).within(0.0, most)


def _weights(found: NoisyMass, noise: EntropyNoise) -> tuple[float, float]:
    """a, and the root of what is left of (‖N‖/N)²: with which weights one ζ, and a normal error of its variance, count.

    ‖N‖² is at least N²/B, and N where all pairs have keys of their own: both together if the hash does what it should.
    """
    if found.norm is None:
        return float(noise.size > 0), 0.0
    buckets = noise.buckets
    n = max(float(found.bound if found.total is None else found.total), 1.0)
    square = min(max(min(max(found.norm / n, 0.0), 1.0) ** 2, 1.0 / buckets + (1.0 - 1.0 / buckets) / n), 1.0)
    # a² B/(B - 1) - 2a/(B - 1) + 1/(B - 1) - square = 0, the larger root.
    one = (1.0 + math.sqrt((buckets - 1) * max(buckets * square - 1.0, 0.0))) / buckets
    return one, math.sqrt(max(square - one * one, 0.0))
