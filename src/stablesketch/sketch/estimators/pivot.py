"""The law of ln(F_hat/F), a pivot: it depends on p, the size and the method, never on F. It gives confidence limits.

Given the configuration of the entries (their differences in logarithms), ln F_hat - ln F has the law of ln F_hat - pμ*
with μ* drawn from the posterior, for every equivariant F_hat (pitman.py). So the tails of the pivot are the means of
the tails of posteriors,

    P(ln(F_hat/F) <= x) = E[ P(pμ* >= ln F_hat - x | configuration) ],

over configurations simulated with a fixed seed. Counting simulated pivots would say nothing about a tail of 1e-6; here
every configuration contributes to it, and the spread of the contributions is the error of the mean. A quantile is where
the mean plus its standard error reaches the probability, so limits err on the wide side. If the standard error is more
than a quarter of the tail, the confidence is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ...errors import ArgumentError
from ...law import StableLaw
from ...law.tabulated import tabulated_log_density
from ...numbers.arrays import Array
from . import pitman
from .corrected import Estimator
from .pitman import LogDensity, log_likelihood

_SEED = 20_240_502
# Entries that are simulated, and the least and greatest number of sketches. Given the configuration, the Pitman
# estimate is as uncertain as without it; others are less so, and their tails need more configurations.
_PITMAN = (150_000, 64, 20_000)
_OTHERS = (200_000, 1_500, 8_000)
# Above this size the pivot of the others is taken from this size, and scaled.
_LARGEST_SIZE = 400
# Sketches whose posteriors are held at a time.
_ROWS = 256
# Points of the lattice per standard deviation of the pivot. Between them tails are straight in logarithms.
_FINENESS = 6.0
# Log posteriors are followed until they have fallen this far.
_FALL = 32.0
_MOST_POINTS = 4_000
_MOST_DOUBT = 0.25
# Nodes of the mean over a blur.
_NODES = 16


@lru_cache(1)
def _gauss() -> tuple[Array, Array]:
    """The Gauss-Legendre nodes and weights; computing them for each release would take a quarter of its time."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@dataclass(frozen=True, eq=False)
class PivotLaw:
    """P(pivot < x) and P(pivot > x) on a lattice of x: `below` and `above`, each with its standard error."""

    x: Array
    below: Array
    above: Array
    below_error: Array
    above_error: Array

    def limits(self, confidence: float, blur: float = 0.0) -> tuple[float, float]:
        """(a, b): pivot + U is below a, and above b, with a probability of at most (1 - confidence)/2 each.

        U is independent and uniform between -blur/2 and blur/2: the effect of rounding to a grid of step `blur` with a
        random offset. The tail of the sum is the mean of the tail over U; standard errors are averaged as if they were
        fully correlated.
        """
        beyond = 0.5 * (1.0 - confidence)
        return (
            -self._reach(-self.x[::-1], self.below[::-1], self.below_error[::-1], beyond, blur),
            self._reach(self.x, self.above, self.above_error, beyond, blur),
        )

    def quantiles(self, probability: Array, blur: float = 0.0) -> Array:
        """The quantiles of pivot + U at these probabilities, for values computed from several estimates."""
        offsets, weights = _gauss()
        below = np.interp(self.x[:, None] - 0.5 * blur * offsets, self.x, self.below) @ (0.5 * weights)
        below = np.maximum.accumulate(below)
        return np.interp(probability, below, self.x)

    @staticmethod
    def _reach(x: Array, tail: Array, error: Array, beyond: float, blur: float) -> float:
        """Nearly the least x with at most this probability beyond it; tails decrease with x."""
        offsets, weights = _gauss()
        with np.errstate(divide="ignore"):
            log_mean, log_safe = np.log(tail), np.log(tail + error)
        at = x[:, None] - 0.5 * blur * offsets
        mean, safe = (0.5 * np.exp(np.interp(at, x, logs)) @ weights for logs in (log_mean, log_safe))
        place = int(np.argmax(safe <= beyond))
        if not 0.0 < safe[place] <= beyond or safe[place] > (1.0 + _MOST_DOUBT) * mean[place]:
            known = np.flatnonzero((safe <= (1.0 + _MOST_DOUBT) * mean) & (safe > 0.0))
            least = float(safe[known].min()) if len(known) else 0.5
            raise ArgumentError(
                "confidence", 1.0 - 2.0 * beyond, "must be smaller",
                f"Pass at most {math.floor((1.0 - 2.0 * least) * 1e9) / 1e9:.9g}",
                because="the tails of the estimate are not known well enough that far out",
            )  # fmt: skip
        if place == 0:
            return float(x[0])
        left, right = np.log(safe[place - 1]), np.log(safe[place])
        share = (left - math.log(beyond)) / (left - right)
        return float(x[place - 1] + share * (x[place] - x[place - 1]))


@lru_cache(maxsize=64)
def pivot_law(method: Estimator, p: float, size: int) -> PivotLaw:
    """The law of ln(F_hat/F) for the estimator whose logarithm `method` computes, with two entries or more."""
    if method is not pitman.log_estimate and size > _LARGEST_SIZE:
        return _scaled(pivot_law(method, p, _LARGEST_SIZE), math.sqrt(_LARGEST_SIZE / size))
    entries, least, most = _PITMAN if method is pitman.log_estimate else _OTHERS
    count = int(np.clip(entries // size, least, most))
    rng, law = np.random.default_rng([_SEED, size]), StableLaw(p)
    y = np.empty((count, size))
    estimate = np.empty(count)
    for start in range(0, count, _ROWS):
        rows = slice(start, min(start + _ROWS, count))
        y[rows], signs = law.sample_logs((rows.stop - start, size), rng)
        estimate[rows] = method(y[rows], signs, p)
    return law_of_pivot(y, estimate, p, tabulated_log_density(p))


def law_of_pivot(y: Array, estimate: Array, scale: float, log_density: LogDensity) -> PivotLaw:
    """The law of estimate - θ, θ = scale · μ, where μ is the location of the y; their log density is given at μ = 0.

    y, of shape (m, r), are simulated sketches at any θ, and `estimate` the equivariant estimates of θ from them.
    """
    count = len(y)
    x = _lattice(y, estimate, scale, log_density)
    sums = np.zeros((2, 2, len(x)))
    for start in range(0, count, _ROWS):
        rows = slice(start, start + _ROWS)
        posterior = log_likelihood(y[rows], (estimate[rows, None] - x) / scale, log_density)
        mass = np.exp(posterior - posterior.max(axis=1, keepdims=True))
        mass /= mass.sum(axis=1, keepdims=True)
        for side, ordered in enumerate((mass, mass[:, ::-1])):
            # The lattice point itself counts half: the trapezoid rule.
            tails = np.cumsum(ordered, axis=1) - 0.5 * ordered
            sums[side] += np.stack([tails.sum(axis=0), (tails**2).sum(axis=0)])
    means = sums[:, 0] / count
    errors = np.sqrt(np.maximum(sums[:, 1] / count - means**2, 0.0) / count)
    out = PivotLaw(x, means[0], means[1, ::-1], errors[0], errors[1, ::-1])
    for array in (out.x, out.below, out.above, out.below_error, out.above_error):
        array.setflags(write=False)
    return out


def _scaled(law: PivotLaw, factor: float) -> PivotLaw:
    """The deviations of the pivot from its mean scale as 1/sqrt(size); E ln(F_hat/F) = -variance/2 to first order."""
    mass = np.diff(law.below)
    middle = 0.5 * (law.x[1:] + law.x[:-1])
    mean = float(mass @ middle)
    variance = float(mass @ (middle - mean) ** 2)
    return replace(law, x=(law.x - mean) * factor - 0.5 * variance * factor**2)


def _lattice(y: Array, estimate: Array, scale: float, log_density: LogDensity) -> Array:
    """Points that cover every posterior until it has fallen far enough.

    As μ → -∞ the posterior falls as e^{rpμ}, so x = ln F_hat - pμ has an upper tail e^{-rx}; as μ → ∞ it falls as
    e^{-rμ}, so the lower tail is e^{rx/p}. Nearer the middle it is normal. The ends are found on a few sketches and
    moved outwards for the rest. The entropy's left tail is a power, and needs slightly more.
    """
    spread = float(np.std(estimate))
    few = slice(0, 32)
    ends = []
    for side in (-1.0, 1.0):
        steps = np.geomspace(0.5 * spread, 4.0 * (10.0 * spread + _FALL), 60)
        fall = log_likelihood(y[few], (estimate[few, None] - side * steps) / scale, log_density)
        fall = fall.max(axis=1, keepdims=True) - fall
        far = (fall > _FALL).all(axis=0)
        far[-1] = True
        ends.append(side * 1.4 * float(steps[np.argmax(far)]))
    points = min(math.ceil((ends[1] - ends[0]) * _FINENESS / spread), _MOST_POINTS)
    return np.linspace(ends[0], ends[1], points)
