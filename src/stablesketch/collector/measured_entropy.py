"""Entropy from what was released of it: a value, limits, and what to believe (privacy/noisy_entropy.py).

Released are N + Z_N and N (H + ζ - β) + Z_G, β public, with three independent errors of known law. So H is believed to
be β + (mass - Z_G)/(N - Z_N) - ζ, over the three laws; ζ = 0 from exact totals.
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
    centre, step = float(found.centre), float(found.step)
    # Beside a sketch the rounding is nothing; beside little noise alone it is not.
    mass = _laplace(found.nats, float(noise.mass_scale) * step, 0.0 if noise.size else 0.5 * step)

    def entropy(at: tuple[Array, ...]) -> Array:
        """As far as it is believed that there is nothing, it has no entropy."""
        return np.where(at[1] < 0.5, 0.0, centre + at[0] / np.maximum(at[1], 1.0))

    if found.total is None:
        n = float(found.bound)
        whole = Measured(mass.value / n, 0.0, 0.0, lambda probability: mass.quantiles(probability) / n)
    else:
        whole = belief(entropy, (mass, _laplace(float(found.total), float(noise.total_scale))), confidence)
    if noise.size:
        zeta = Measured(0.0, 0.0, 0.0, entropy_mean_law(noise.size).quantiles)
        whole = belief(lambda at: at[0] - at[1], (whole, zeta), confidence)
    return whole.at(confidence).within(0.0, most)


def _laplace(value: float, scale: float, rounded: float = 0.0) -> Measured:
    """Where the truth is believed to be if `value` is the truth and Laplace noise, rounded by at most so much; nothing
    is said of limits."""

    def quantiles(probability: Array) -> Array:
        side = np.minimum(probability, 1.0 - probability)
        reach = rounded - scale * np.log(2.0 * np.maximum(side, 1e-300))
        shift: Array = np.sign(probability - 0.5) * reach
        return value + shift

    return Measured(value, value, value, quantiles)
