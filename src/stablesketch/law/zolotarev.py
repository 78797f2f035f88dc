"""The scale of a stable variable as a function of its angle, and the inverse of that function.

A symmetric p-stable X with characteristic function exp(-|t|^p) is, by Chambers, Mallows and Stuck,

    ln|X| = S(θ) - (1/c) ln W,    θ uniform on (0, π/2),  W exponential,  c = p/(1-p),
    S(θ)  = ln sin(pθ) - (1/p) ln cos θ + ((1-p)/p) ln cos((1-p)θ).

(Insert θ and W and compare with Zolotarev's integral for the distribution function; S is his function, in logarithms.)
S rises from -∞ to ∞, so it has an inverse. Both are written in t = ln tan θ rather than in θ: then θ near 0 and π/2 - θ
near 0 keep all their digits, and S is almost a broken line, of slope 1 on the left and 1/p on the right, which Newton's
method inverts in a few steps.
"""

from __future__ import annotations

import numpy as np

from ..numbers.arrays import Array


def angle(t: Array) -> Array:
    """θ for t = ln tan θ."""
    return np.arctan(np.exp(t))


def angle_rate(t: Array) -> Array:
    """dθ/dt = sin θ cos θ = 1/(2 cosh t)."""
    return 0.5 / np.cosh(t)


def log_scale(t: Array, p: float) -> Array:
    """S(θ(t)): the formula at the top of this file."""
    theta = angle(t)
    log_cos = -0.5 * np.logaddexp(0.0, 2.0 * t)
    return np.log(np.sin(p * theta)) - log_cos / p + (1.0 - p) / p * np.log(np.cos((1.0 - p) * theta))


def log_scale_rate(t: Array, p: float) -> Array:
    """dS/dt = (p cot(pθ) + tan(θ)/p - ((1-p)²/p) tan((1-p)θ)) · dθ/dt; between 1 and 1/p up to a small hump."""
    theta = angle(t)
    slope = p / np.tan(p * theta) + np.exp(t) / p - (1.0 - p) ** 2 / p * np.tan((1.0 - p) * theta)
    return slope * angle_rate(t)


def solve_log_scale(s: Array, p: float) -> Array:
    """The t with S(θ(t)) = s, for p not far from 1 (where it is called): Newton from the broken line."""
    t = np.where(s < 0.0, s, p * s)
    for _ in range(20):
        step = (log_scale(t, p) - s) / log_scale_rate(t, p)
        t = t - step
        # A step below 1e-9 was the last: the next would be of the order of its square.
        if np.max(np.abs(step), initial=0.0) < 1e-9:
            break
    return t
