"""`StableLaw`: the symmetric stable law of index p <= 1 whose scale a sketch estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.arrays import Array
from ..numbers.checked import is_real
from ..text.wording import arg, stat
from .log_magnitude import log_magnitude
from .tabulated import fisher_information, tabulated_log_density
from .zolotarev import log_scale

Many = NDArray[np.generic] | Sequence[float]

LEAST_P = 0.05


def checked_p(p: object, most: float = 1.0, beyond: str = "these sketches do not measure moments above 1") -> float:
    """An index of a stable law up to `most`: an order that a sketch can measure. `beyond` says why not more."""
    way_out = f"Pass {arg('p', 0.5)}, for example"
    if not is_real(p):
        raise ArgumentTypeError("p", p, f"must be a number between 0.05 and {most:g}", way_out)
    if LEAST_P <= p <= most:
        return float(p)
    if 0.0 <= p < LEAST_P:
        way_out += f"; to count distinct keys, which is the limit p = 0, use {stat('Distinct')}"
    elif p > most:
        way_out += f"; {beyond}"
    raise ArgumentError("p", p, f"must be between 0.05 and {most:g}", way_out)


@dataclass(frozen=True)
class StableLaw:
    """The law of X with E exp(itX) = exp(-|t|^p), for p from 0.05 to 1 (the Cauchy law).

    Every function takes a number and returns a float, or takes an array and returns an array of the same shape.
    Densities, both tails and quantiles are correct to a relative 1e-10, and mostly to 1e-13, from the smallest float to
    the largest, even for p arbitrarily close to 1. The formulas are in log_magnitude.py. NaN gives NaN.

    >>> law = StableLaw(0.5)
    >>> round(law.quantile(0.75), 6)
    1.283833
    """

    p: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_p(self.p))

    @overload
    def pdf(self, x: float) -> float: ...
    @overload
    def pdf(self, x: Many) -> Array: ...
    def pdf(self, x: float | Many) -> float | Array:
        """The density f(x) = h(ln|x|) / (2|x|), where h is the density of ln|X|; f(0) = Γ(1 + 1/p)/π."""
        values = _floats("x", x)
        law = log_magnitude(self.p)
        y = _log_abs(values)
        # Below law.low the density is f(0) to rounding, and h/(2|x|) may be 0/0.
        inner = y < law.low
        log_pdf = law.values(np.where(inner, 0.0, y)).density - y - math.log(2.0)
        return _like(x, np.exp(np.where(inner, law.log_density_at_zero, log_pdf)))

    @overload
    def cdf(self, x: float) -> float: ...
    @overload
    def cdf(self, x: Many) -> Array: ...
    def cdf(self, x: float | Many) -> float | Array:
        """P(X <= x), with full relative accuracy in the lower tail."""
        return _like(x, self._lower_tail(_floats("x", x)))

    @overload
    def sf(self, x: float) -> float: ...
    @overload
    def sf(self, x: Many) -> Array: ...
    def sf(self, x: float | Many) -> float | Array:
        """P(X > x), with full relative accuracy in the upper tail."""
        return _like(x, self._lower_tail(-_floats("x", x)))

    def _lower_tail(self, x: Array) -> Array:
        values = log_magnitude(self.p).values(_log_abs(x))
        return np.where(x > 0.0, 0.5 + 0.5 * np.exp(values.cdf), 0.5 * np.exp(values.sf))

    @overload
    def quantile(self, q: float) -> float: ...
    @overload
    def quantile(self, q: Many) -> Array: ...
    def quantile(self, q: float | Many) -> float | Array:
        """The x with P(X <= x) = q; -∞ at 0, ∞ at 1, and ±∞ where the quantile exceeds the range of floats.

        Computed from whichever of q, 1-q and |2q-1| is exact in floating point, so the relative accuracy holds for the
        quantile of the float q on either side of 1/2.
        """
        probability = _probabilities("q", q)
        outer = 2.0 * np.minimum(probability, 1.0 - probability)
        far = np.abs(probability - 0.5) > 0.25
        y, law = np.empty_like(probability), log_magnitude(self.p)
        with np.errstate(divide="ignore"):
            y[far] = law.quantile(log_sf=np.log(outer[far]))
            y[~far] = law.quantile(log_cdf=np.log(2.0 * np.abs(probability[~far] - 0.5)))
        return _like(q, np.where(probability < 0.5, -1.0, 1.0) * _exp(y))

    @overload
    def abs_quantile(self, *, lower: float, upper: None = None) -> float: ...
    @overload
    def abs_quantile(self, *, lower: Many, upper: None = None) -> Array: ...
    @overload
    def abs_quantile(self, *, lower: None = None, upper: float) -> float: ...
    @overload
    def abs_quantile(self, *, lower: None = None, upper: Many) -> Array: ...
    def abs_quantile(self, *, lower: float | Many | None = None, upper: float | Many | None = None) -> float | Array:
        """The x with P(|X| <= x) = lower, or with P(|X| > x) = upper. Give the one that is known exactly."""
        given, log_quantile = self._abs_quantile(lower, upper)
        return _like(given, _exp(log_quantile))

    @overload
    def log_abs_quantile(self, *, lower: float, upper: None = None) -> float: ...
    @overload
    def log_abs_quantile(self, *, lower: Many, upper: None = None) -> Array: ...
    @overload
    def log_abs_quantile(self, *, lower: None = None, upper: float) -> float: ...
    @overload
    def log_abs_quantile(self, *, lower: None = None, upper: Many) -> Array: ...
    def log_abs_quantile(
        self, *, lower: float | Many | None = None, upper: float | Many | None = None
    ) -> float | Array:
        """ln of `abs_quantile`: finite even if the quantile exceeds the range of floats (p = 0.05, upper = 1e-20)."""
        return _like(*self._abs_quantile(lower, upper))

    def _abs_quantile(self, lower: float | Many | None, upper: float | Many | None) -> tuple[object, Array]:
        """The probability that is given, and ln of its quantile."""
        if (lower is None) == (upper is None):
            raise ArgumentTypeError(
                "lower, upper", (lower, upper), "must have exactly one of the two", "Pass lower= or upper="
            )
        law = log_magnitude(self.p)
        with np.errstate(divide="ignore"):
            if upper is None:
                return lower, law.quantile(log_cdf=np.log(_probabilities("lower", lower)))
            return upper, law.quantile(log_sf=np.log(_probabilities("upper", upper)))

    @overload
    def log_density(self, y: float) -> float: ...
    @overload
    def log_density(self, y: Many) -> Array: ...
    def log_density(self, y: float | Many) -> float | Array:
        """ln h(y), where h is the density of ln|X|; y = ln|x| may be far beyond the logarithms of floats."""
        return _like(y, log_magnitude(self.p).values(_floats("y", y)).density)

    @overload
    def score(self, y: float) -> float: ...
    @overload
    def score(self, y: Many) -> Array: ...
    def score(self, y: float | Many) -> float | Array:
        """h'(y)/h(y), falling from 1 to -p (h is log-concave); from the table, absolute error below 1e-7."""
        return _like(y, tabulated_log_density(self.p).derivatives(_floats("y", y))[1])

    @property
    def fisher_information(self) -> float:
        """The information of one entry about ln F_p, (1/p²) E[(h'/h)²]: an estimate from r entries has relative
        variance at least 1/(r · fisher_information). It is 1/2 at p = 1 and goes to 1 as p goes to 0."""
        return fisher_information(self.p)

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Independent draws of X, by Chambers, Mallows and Stuck; ±∞ if a draw exceeds the range of floats.

        At p = 0.05 that happens once in 10^15 draws; `sample_logs` has no such limit.
        """
        log_magnitudes, signs = self.sample_logs(size, rng)
        return signs * _exp(log_magnitudes)

    def sample_logs(self, size: int | tuple[int, ...], rng: np.random.Generator) -> tuple[Array, Array]:
        """Independent draws of (ln|X|, sign X): ln|X| = S(θ) - ((1-p)/p) ln W, see zolotarev.py."""
        # 1 - U lies in (0, 1]. The distance from π/2 must be kept exactly, because the large draws are there.
        complement = (0.5 * math.pi) * (1.0 - rng.random(size))
        waiting = np.maximum(rng.standard_exponential(size), np.finfo(np.float64).tiny)
        signs = np.where(rng.random(size) < 0.5, -1.0, 1.0)
        t = -np.log(np.tan(complement))
        return log_scale(t, self.p) - (1.0 - self.p) / self.p * np.log(waiting), signs


def _floats(name: str, values: object) -> Array:
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ArgumentTypeError(name, values, f"must be real numbers, not {array.dtype}", "Pass floats")
    return array.astype(np.float64)


def _probabilities(name: str, values: object) -> Array:
    array = _floats(name, values)
    outside = (array < 0.0) | (array > 1.0)
    if outside.any():
        raise ArgumentError(name, float(array[outside].flat[0]), "must be between 0 and 1", "Pass probabilities")
    return array


def _log_abs(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(np.abs(x))


def _exp(y: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(y)


def _like(given: object, result: Array) -> float | Array:
    """A float for a number, an array for anything else."""
    return result if isinstance(given, np.ndarray) or result.ndim > 0 else float(result)
