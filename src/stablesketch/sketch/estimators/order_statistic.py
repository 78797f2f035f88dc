"""F from one order statistic of |a_j|, exactly unbiased; the median and the optimal quantile are two choices of it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...arrays import Array
from ...law.tabulated import tabulated_quantile

__all__ = ["log_estimate_from_order"]


def log_estimate_from_order(log_magnitudes: Array, p: float, order: int) -> Array:
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
    # The largest term is taken out: for large sizes the weights are the exponentials of large numbers.
    top = log_terms.max()
    return float(top + math.log(step * np.exp(log_terms - top).sum()))
