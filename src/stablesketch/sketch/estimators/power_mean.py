"""(mean of |a_j|^{λp})^{1/λ}, in logarithms: what the harmonic mean and the fractional power share."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .moments import log_moment

__all__ = ["log_power_mean"]


def log_power_mean(log_magnitudes: Array, p: float, exponent: float) -> Array:
    """(1/λ) ln( mean|a|^{λp} / E|X|^{λp} ), λ = exponent."""
    terms = exponent * p * log_magnitudes
    # The largest term is taken out of the mean, so nothing overflows however large the entries are.
    top = terms.max(axis=1, keepdims=True)
    log_mean = top[:, 0] + np.log(np.mean(np.exp(terms - top), axis=1))
    estimate: Array = (log_mean - log_moment(exponent, p)) / exponent
    return estimate
