"""Entropy from what was released of it: a value, limits, and what to believe (privacy/noisy_entropy.py).

Released are N + Z_N and N (H + ζ - β) + Z_G, β public, with three independent errors of known law. So H is believed to
be β + (mass - Z_G)/(N - Z_N) - ζ, over the three laws.
"""

from __future__ import annotations

import math

import numpy as np

from ..privacy.noisy_entropy import EntropyNoise, NoisyMass
from ..sketch.estimators.entropy_mean import entropy_mean_law
from ..statistic import Array
from .measured import Measured, belief

__all__ = ["measured_entropy"]


def measured_entropy(found: NoisyMass, noise: EntropyNoise, confidence: float) -> Measured:
    """H = β + mass/N within [0, ln T]: a total of T has no more entropy. Without a mass that is all there is to say.

    The limits hold H with the probability they say where N is well above its own noise, and about as often in shorter
    streams.
    """
    most = math.log(max(found.bound, 1))
    if found.mass is None:
        return Measured(0.5 * most, 0.0, most, lambda probability: most * np.asarray(probability))
    centre, mass = float(found.centre), _laplace(found.nats, float(noise.mass_scale * found.step))

    def entropy(at: tuple[Array, ...]) -> Array:
        """As far as it is believed that there is nothing, it has no entropy."""
        return np.where(at[1] < 0.5, 0.0, centre + at[0] / np.maximum(at[1], 1.0))

    if found.total is None:
        n = float(found.bound)
        sketched = Measured(mass.value / n, 0.0, 0.0, lambda probability: mass.quantiles(probability) / n)
    else:
        sketched = belief(entropy, (mass, _laplace(float(found.total), float(noise.total_scale))), confidence)
    zeta = Measured(0.0, 0.0, 0.0, entropy_mean_law(noise.size).quantiles)
    return belief(lambda at: at[0] - at[1], (sketched, zeta), confidence).within(0.0, most)


def _laplace(value: float, scale: float) -> Measured:
    """Where the truth is believed to be if `value` is the truth and Laplace noise; nothing is said of limits."""

    def quantiles(probability: Array) -> Array:
        side = np.minimum(probability, 1.0 - probability)
        shift: Array = np.sign(probability - 0.5) * -scale * np.log(2.0 * np.maximum(side, 1e-300))
        return value + shift

    return Measured(value, value, value, quantiles)
