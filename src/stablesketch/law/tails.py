"""The two ends of the law of ln|X|, where a short series is exact to rounding.

Below: X has a flat density at 0. Above: the density is a power series in z = e^{-py} = |x|^{-p}.
"""

from __future__ import annotations

import math

import numpy as np

from ..numbers.arrays import Array

# At z <= 1/10 each term of the upper series is at most a tenth of the one before: 20 terms are exact to rounding.
_UPPER_Z = 0.1
_UPPER_TERMS = 20


def log_density_at_zero(p: float) -> float:
    """ln f(0), f(0) = (1/π) ∫ exp(-t^p) dt over t > 0 = Γ(1 + 1/p)/π."""
    return math.lgamma(1.0 + 1.0 / p) - math.log(math.pi)


def lower_end(p: float) -> float:
    """The y below which f(e^y) = f(0) to rounding.

    f(x)/f(0) = 1 - x² Γ(3/p) / (2 Γ(1/p)) + ..., by expanding the cosine in (1/π) ∫ cos(tx) exp(-t^p) dt; the remainder
    of that expansion is at most the first term left out. The y returned makes the x² term 1e-17.
    """
    return 0.5 * (math.log(2e-17) + math.lgamma(1.0 / p) - math.lgamma(3.0 / p))


def upper_end(p: float) -> float:
    """The y above which z = e^{-py} <= 1/10."""
    return -math.log(_UPPER_Z) / p


def upper_coefficients(p: float) -> Array:
    """b_1, b_2, ... of P(|X| > e^y) = Σ b_k z^k, b_k = (2/π) (-1)^{k+1} Γ(pk)/k! sin(πpk/2), z = e^{-py}.

    Proof: turn the path of (1/π) Re ∫ exp(itx - t^p) dt onto the imaginary axis, expand exp(-t^p) and integrate term by
    term (allowed for p < 1; for p = 1 it is the series of arctan 1/x). The density of ln|X| is Σ pk b_k z^k.
    """
    return np.array(
        [
            (2.0 / math.pi) * (-1.0) ** (k + 1) * math.exp(math.lgamma(p * k) - math.lgamma(k + 1.0)) * _sine(p, k)
            for k in range(1, _UPPER_TERMS + 1)
        ]
    )


def _sine(p: float, k: int) -> float:
    """sin(πpk/2); for even k it is written with 1 - p, so that it goes to zero correctly as p goes to 1."""
    if k % 2 == 1:
        return math.sin(math.pi * p * k / 2.0)
    return -math.cos(math.pi * k / 2.0) * math.sin(math.pi * (1.0 - p) * k / 2.0)
