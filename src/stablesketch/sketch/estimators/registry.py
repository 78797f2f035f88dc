"""`Estimate`, a number with its limits; the estimators of symmetric entries by name, for one sketch or many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ArgumentError, ArgumentTypeError, Shown
from ...law import StableLaw
from ...numbers.arrays import Array
from ...numbers.checked import checked_share
from . import corrected, pitman
from .closed_forms import geometric_mean, median, optimal_quantile
from .corrected import Estimator
from .pivot import pivot_law

DEFAULT_METHOD = "pitman"

METHODS: MappingProxyType[str, Estimator] = MappingProxyType(
    {
        "pitman": pitman.log_estimate,
        "maximum_likelihood": corrected.maximum_likelihood,
        "fractional_power": corrected.fractional_power,
        "geometric_mean": geometric_mean,
        "harmonic_mean": corrected.harmonic_mean,
        "optimal_quantile": optimal_quantile,
        "median": median,
        "inter_quantile": corrected.inter_quantile,
    }
)


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

    `method` is a name in METHODS; docs/accuracy.md has the accuracy of each.
    """
    value, low, high = log_intervals(log_magnitudes, signs, p, method, confidence)
    if value.ndim != 0:
        raise ArgumentTypeError(
            "log_magnitudes", value.shape, "must be of a single sketch", "Pass one, or call log_intervals for several"
        )
    return Estimate(math.exp(value), math.exp(low), math.exp(high), float(confidence), method)


def log_estimates(log_magnitudes: ArrayLike, signs: ArrayLike, p: float, method: str = DEFAULT_METHOD) -> Array:
    """ln F_hat for sketches stacked along the leading axes; the entries of one lie along the last.

    F_hat, not its logarithm, is unbiased for two entries or more; `inter_quantile` needs four. A single entry has no
    unbiased estimator, because E|X|^p is infinite: every method then gives |a|^p / (median|X|)^p, which is too large as
    often as too small, except those that refuse this p or a size below four.
    """
    rows, row_signs, shape = _as_rows(log_magnitudes, signs, p)
    return _estimator(method, p, rows.shape[1])(rows, row_signs, p).reshape(shape)


def log_intervals(
    log_magnitudes: ArrayLike, signs: ArrayLike, p: float, method: str = DEFAULT_METHOD, confidence: float = 0.95
) -> tuple[Array, Array, Array]:
    """ln of F_hat and of its lower and upper confidence limits; F lies beyond each with half the remaining probability.

    `pitman` has its own exact limits, the others those of a simulated pivot (pivot.py).
    """
    rows, row_signs, shape = _as_rows(log_magnitudes, signs, p)
    estimator = _estimator(method, p, rows.shape[1])
    confidence = checked_confidence(confidence)
    if estimator is pitman.log_estimate:
        beyond = 0.5 * (1.0 - confidence)
        value, limits = pitman.posterior_summary(rows, p, np.array([beyond, 1.0 - beyond]))
        return value.reshape(shape), limits[:, 0].reshape(shape), limits[:, 1].reshape(shape)
    value = estimator(rows, row_signs, p)
    below, above = pivot_law(estimator, p, rows.shape[1]).limits(confidence)
    return value.reshape(shape), (value - above).reshape(shape), (value - below).reshape(shape)


def checked_confidence(confidence: object) -> float:
    """The confidence as a float, or an `ArgumentError` that says what is wrong with it."""
    return checked_share("confidence", confidence, "Pass 0.95, for example")


def _estimator(method: str, p: float, size: int) -> Estimator:
    if not isinstance(method, str) or method not in METHODS:
        raise ArgumentError("method", method, f"must be one of {', '.join(METHODS)}", "Choose one of them")
    refuses = (method == "harmonic_mean" and p >= 0.5) or method == "inter_quantile"
    return pitman.log_estimate if size == 1 and not refuses else METHODS[method]


def _as_rows(log_magnitudes: ArrayLike, signs: ArrayLike, p: float) -> tuple[Array, Array, tuple[int, ...]]:
    StableLaw(p)  # refuses an invalid p
    values = np.asarray(log_magnitudes, dtype=np.float64)
    given_signs = np.asarray(signs, dtype=np.float64)
    # The messages below show only shapes and counts: entries must not be shown.
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ArgumentTypeError(
            "log_magnitudes.shape", values.shape, "must have at least one entry", "Pass an array of entries"
        )
    missing = int(np.count_nonzero(~np.isfinite(values)))
    if missing:
        raise ArgumentError(
            "log_magnitudes", Shown(f"{missing} that are not"), "must be finite",
            "Do not estimate from an empty sketch, which has F = 0",
        )  # fmt: skip
    if given_signs.shape != values.shape:
        raise ArgumentTypeError(
            "signs.shape", given_signs.shape, f"must be the shape of the entries, {values.shape}",
            "Pass one sign for each entry",
        )  # fmt: skip
    shape = values.shape[:-1]
    return values.reshape(-1, values.shape[-1]), given_signs.reshape(-1, values.shape[-1]), shape


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
