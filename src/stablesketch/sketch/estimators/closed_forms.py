"""Estimators whose mean is known: the geometric mean, and order statistics, of which the median is one.

Also the moments of |X| and the means of powers of |a_j|, which corrected.py makes into estimators; the geometric mean
is their limit.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...law.log_magnitude import log_magnitude
from ...law.tabulated import tabulated_quantile
from ...numbers.arrays import Array
from ...numbers.search import valley


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


def _variance_near(exponent: float, p: float) -> float:
    # Dividing by λ² costs digits near 0, where the function is flat, so it is evaluated slightly away from 0.
    return power_variance(exponent if abs(exponent) > 1e-3 else 1e-3, p)


def median(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """(median|a|)^p / E[(median|X|)^p], exactly unbiased; for an even number of entries it is the lower median.

    Simple, robust, and 15 to 50% less accurate than possible.
    """
    return _from_order(log_magnitudes, p, (log_magnitudes.shape[1] + 1) // 2)


def optimal_quantile(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """|a|_(k)^p / E|X|_(k)^p with k/(r+1) nearest to the best level, exactly unbiased.

    The quantile that is most informative about F: the 23rd percentile at p = 1/4, the median at p = 1.
    """
    size = log_magnitudes.shape[1]
    # The largest entry is never used: its p-th power has no mean.
    return _from_order(log_magnitudes, p, min(max(round(best_level(p) * (size + 1)), 1), size - 1))


@lru_cache(maxsize=64)
def best_level(p: float) -> float:
    """The level q = H(y) with the least asymptotic variance p² q (1-q) / h(y)² of p times the q-quantile of ln|a|."""
    law = log_magnitude(p)
    y = np.linspace(-3.0 / p, law.high, 4001)
    values = law.values(y)
    return float(np.exp(values.cdf[np.argmin(values.cdf + values.sf - 2.0 * values.density)]))


def _from_order(log_magnitudes: Array, p: float, order: int) -> Array:
    """ln of |a|_(k)^p / E|X|_(k)^p, k = order counted from 1; the mean is finite for k < r."""
    kth = np.partition(log_magnitudes, order - 1, axis=1)[:, order - 1]
    return p * kth - log_mean_order_statistic(p, log_magnitudes.shape[1], order)


@lru_cache(maxsize=256)
def log_mean_order_statistic(p: float, size: int, order: int) -> float:
    """ln E|X|_(k)^p = ln ∫ Q(u)^p Beta(u; k, r-k+1) du, Q the quantile function of |X|, k = order, r = size.

    (The k-th order statistic of r uniforms has that Beta law.) The integral is a trapezoid sum over the logit of u, in
    which the integrand falls like e^{kl} to the left and, Q^p growing like 1/(1-u), like e^{-(r-k)l} to the right.
    """
    above = size - order + 1
    centre = math.log(order / above)
    spread = math.sqrt((size + 1) / (order * above))
    step = min(spread / 4.0, 0.2)
    logit = np.arange(centre - 9.0 * spread - 40.0 / order, centre + 9.0 * spread + 40.0 / (above - 1), step)
    log_beta = math.lgamma(order) + math.lgamma(above) - math.lgamma(size + 1)
    log_weight = order * logit - (size + 1) * np.logaddexp(0.0, logit) - log_beta
    log_terms = log_weight + p * tabulated_quantile(p)(logit)
    # The largest term is factored out: for large sizes the weights are the exponentials of large numbers.
    top = log_terms.max()
    return float(top + math.log(step * np.exp(log_terms - top).sum()))
