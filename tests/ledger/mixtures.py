"""δ(ε) of many different releases together, by inverting the Laplace transform: nothing from the library.

As in tests/shared/independent.py, with a product of moments: for losses L_i, n_i times each, M_i(z) = E_P[e^{zL_i}],

    δ(ε) = (1/π) ∫_0^∞ Re[ Π M_i(z)^{n_i} e^{-zε} / (z (1+z)) ] ds,    z = θ + is, any θ > 0.
"""

from __future__ import annotations

import math

import numpy as np
from independent import Pair
from numpy.typing import NDArray

Array = NDArray[np.float64]
Losses = tuple[Array, Array, int]  # weights, losses, how often


def entries(p: float, log_rho: float, count: int, *, wide_first: bool) -> Losses:
    """`count` entries of a sketch in one direction."""
    weight, loss = Pair(p, math.exp(log_rho)).directed(wide_first)
    kept = weight > 1e-40
    return weight[kept], loss[kept], count


def laplace(epsilon: float, distance: int, count: int) -> Losses:
    """`count` releases of discrete Laplace noise: every outcome from -40 to 40 scales, one by one."""
    rate = epsilon / distance
    z = np.arange(-math.ceil(45.0 / rate), math.ceil(45.0 / rate) + distance + 1, dtype=np.float64)
    weight = math.tanh(0.5 * rate) * np.exp(-rate * np.abs(z))
    return weight, rate * (np.abs(z - distance) - np.abs(z)), count


def delta(parts: list[Losses], epsilon: float) -> float:
    """δ(ε) of all of them together."""
    low, high = 1e-6, 1e6
    for _ in range(80):
        theta = math.sqrt(low * high)
        low, high = (theta, high) if _tilted(parts, theta)[1] < epsilon else (low, theta)
    spread = math.sqrt(_tilted(parts, 1e-9)[2])
    theta = max(low, 1.0 / spread)
    log_moment, _, variance = _tilted(parts, theta)
    # The nearest pole is a deviation away or more, so that the trapezoid rule errs by e^{-2π/0.15}.
    s = np.arange(0.0, 12.0, 0.15) / math.sqrt(variance)
    z = theta + 1j * s
    total = np.full(len(s), log_moment - theta * epsilon, dtype=np.complex128) - 1j * s * epsilon
    for weight, loss, count in parts:
        tilted = weight * np.exp(theta * loss - (theta * loss).max())
        tilted /= tilted.sum()
        total += count * np.log(np.exp(1j * s[:, None] * loss) @ tilted)
    terms = np.real(np.exp(total) / (z * (1.0 + z)))
    return float((s[1] - s[0]) * (terms.sum() - 0.5 * terms[0]) / math.pi)


def _tilted(parts: list[Losses], theta: float) -> tuple[float, float, float]:
    """ln of the moment, mean and variance of the sum under the law tilted by θ."""
    log = mean = variance = 0.0
    for weight, loss, count in parts:
        exponent = theta * loss
        tilted = weight * np.exp(exponent - exponent.max())
        log += count * (math.log(tilted.sum() / weight.sum()) + exponent.max())
        tilted /= tilted.sum()
        own = float(tilted @ loss)
        mean += count * own
        variance += count * float(tilted @ (loss - own) ** 2)
    return log, mean, variance
