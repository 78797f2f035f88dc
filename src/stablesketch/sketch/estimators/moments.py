"""Moments of |X| and estimators made from them: means of powers of |a_j|, and the geometric mean as their limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...numbers.arrays import Array


def log_moment(exponent: float, p: float) -> float:
    """ln E|X|^{λp}, λ = exponent between -1/p and 1: E|X|^{λp} = (2/π) Γ(1-λ) Γ(λp) sin(πλp/2).

    The Mellin transform of the law of |X| (Zolotarev 1986, section 2.6). At λ = 0 it is 1; beyond the range it is
    infinite.
    """
    power = exponent * p
    if power == 0.0:
        return 0.0
    # Γ(λp) sin(πλp/2) as Γ(1+λp) · sin(πλp/2)/(λp), which has no pole at 0 and is positive on both sides.
    ratio = math.sin(0.5 * math.pi * power) / (0.5 * math.pi * power)
    return math.lgamma(1.0 - exponent) + math.lgamma(1.0 + power) + math.log(ratio)


def geometric_mean(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """Π|a_j|^{p/r} / (E|X|^{p/r})^r, r >= 2; its relative variance times r goes to π²(p² + 2)/12.

    It is unbiased because the entries are independent. With r = 1 the moment would be E|X|^p = ∞.
    """
    size = log_magnitudes.shape[1]
    estimate: Array = p * log_magnitudes.mean(axis=1) - size * log_moment(1.0 / size, p)
    return estimate


def log_power_mean(log_magnitudes: Array, p: float, exponent: float) -> Array:
    """(1/λ) ln( mean|a|^{λp} / E|X|^{λp} ), λ = exponent."""
    terms = exponent * p * log_magnitudes
    # The largest term is factored out of the mean, so nothing overflows however large the entries are.
    top = terms.max(axis=1, keepdims=True)
    log_mean = top[:, 0] + np.log(np.mean(np.exp(terms - top), axis=1))
    estimate: Array = (log_mean - log_moment(exponent, p)) / exponent
    return estimate


def power_variance(exponent: float, p: float) -> float:
    """The asymptotic relative variance, times r, of (mean|a|^{λp})^{1/λ}: (E|X|^{2λp} / (E|X|^{λp})² - 1) / λ²."""
    return math.expm1(log_moment(2.0 * exponent, p) - 2.0 * log_moment(exponent, p)) / exponent**2


@lru_cache(maxsize=64)
def best_power(p: float) -> float:
    """The λ in (-1/(2p), 1/2) with the least `power_variance`, by golden section (the function has one valley).

    At p = 1 the law of ln|X| is symmetric and the best λ is 0, where the estimator becomes the geometric mean.
    """
    return valley(lambda exponent: _variance_near(exponent, p), -0.5 / p, 0.5, 60)


def valley(function: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where a function with one valley is least, by golden section."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(steps):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if function(left) < function(right) else (left, high)
    return 0.5 * (low + high)


def _variance_near(exponent: float, p: float) -> float:
    # Dividing by λ² costs digits near 0, where the function is flat, so it is evaluated slightly away from 0.
    return power_variance(exponent if abs(exponent) > 1e-3 else 1e-3, p)
