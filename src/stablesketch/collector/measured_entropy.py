"""Entropy from what was released of it: a value, limits, and what to believe (privacy/noisy_entropy.py).

Released are N + Z_N and N (H + ζ) + Z_G, with three independent errors of known law. So H is believed to be
(mass - Z_G)/(N - Z_N) - ζ, over the three laws.
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
    """H = mass/N within [0, ln T]: a total of T has no more entropy. Where no mass was released that is all there is.

    The limits hold H with the probability they say where N is well above its own noise, and more often in short
    streams, where much of the belief is cut off.
    """
    most = math.log(max(found.bound, 1))
    if found.mass is None:
        return Measured(0.5 * most, 0.0, most, lambda probability: most * np.asarray(probability))
    mass = _laplace(found.nats, float(noise.mass_scale * found.step), -math.inf)
    if found.total is None:
        n = float(found.bound)
        ratio = Measured(
            mass.value / n, mass.low / n, mass.high / n, lambda probability: mass.quantiles(probability) / n
        )
    else:
        # A stream of no pairs has no entropy, as one of a single pair.
        ratio = belief(_ratio, (mass, _laplace(float(found.total), float(noise.total_scale), 1.0)), confidence)
    zeta = Measured(0.0, 0.0, 0.0, entropy_mean_law(noise.size).quantiles)
    return belief(lambda at: at[0] - at[1], (ratio, zeta), confidence).within(0.0, most)


def _ratio(at: tuple[Array, ...]) -> Array:
    return np.asarray(at[0] / at[1])


def _laplace(value: float, scale: float, least: float) -> Measured:
    """Where the truth is believed to be if `value` is the truth and Laplace noise; it is `least` or more."""

    def quantiles(probability: Array) -> Array:
        side = np.minimum(probability, 1.0 - probability)
        shift = np.sign(probability - 0.5) * -scale * np.log(2.0 * np.maximum(side, 1e-300))
        return np.maximum(value + shift, least)

    return Measured(max(value, least), value, value, quantiles)
