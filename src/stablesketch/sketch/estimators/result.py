"""`Estimate`: a number with its limits, worth printing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ...errors import ArgumentTypeError
from .registry import DEFAULT_METHOD, log_intervals


@dataclass(frozen=True, repr=False)
class Estimate:
    """An estimate of F_p, or of what `of` names. The truth is between `low` and `high` with probability `confidence`.

    >>> Estimate(12_345.0, 11_000.0, 14_000.0, 0.95, "pitman")
    Estimate(F ≈ 1.234e4, 95% in [1.1e4, 1.4e4], pitman)
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str
    of: str = "F"

    def __repr__(self) -> str:
        limits = f"{_percent(self.confidence)} in [{_short(self.low)}, {_short(self.high)}]"
        return f"Estimate({self.of} ≈ {_short(self.value)}, {limits}, {self.method})"

    def __str__(self) -> str:
        return f"{_short(self.value)} ({_percent(self.confidence)} between {_short(self.low)} and {_short(self.high)})"


def estimate(
    log_magnitudes: ArrayLike, signs: ArrayLike, p: float, method: str = DEFAULT_METHOD, confidence: float = 0.95
) -> Estimate:
    """F_p from the r entries of one sketch, given as ln|a_j| and signs: entries may far exceed the range of floats.

    `method` is a name in registry.METHODS; docs/accuracy.md has the accuracy of each.
    """
    value, low, high = log_intervals(log_magnitudes, signs, p, method, confidence)
    if value.ndim != 0:
        raise ArgumentTypeError(
            "log_magnitudes", value.shape, "must be of a single sketch", "Pass one, or call log_intervals for several"
        )
    return Estimate(math.exp(value), math.exp(low), math.exp(high), float(confidence), method)


def _percent(confidence: float) -> str:
    return f"{100.0 * confidence:.6g}%"


def _short(value: float) -> str:
    """Four digits, without the padding zeros and signs of exponents."""
    text = f"{value:.4g}"
    if "e" not in text and abs(value) < 10_000.0:
        return text
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    if not exponent:  # inf and nan
        return text
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
