"""`Atoms`: an upper bound of the law of ξ = F_hat/F: masses whose upper tail is at least that of ξ everywhere.

The release is an estimate with Laplace noise, and what an observer can learn grows with ξ at every α
(estimate_loss.py). So ξ may be replaced by any law with

    Σ over points >= x of their mass  >=  P(ξ >= x)      for every x.

For the power estimator ξ falls with S = Σ Y_j (sketch/estimators/power_sum.py), and P(S <= s) is bounded from above in
the body and down to 1e-18, as noisy_estimate.py does for its tail alone: Y is rounded *down* to a lattice after its
distribution function was raised by more than its error. The convolution is done by one Fourier transform in each of
several windows [0, end), on masses that are tilted by e^{-σk}.

- *Nothing that wraps around is lost*: it adds to the masses of the window, and by at most e^{-σ length} of what it was.
- *Rounding.* The tilted masses add up to 1, so each number of their transform x has an absolute error of at most e =
  1e-14: every one of the 20 stages errs by less than 4.3 units of 2^-53. That of x^r is at most r e (|x| + e)^{r-1},
  and what the transform back adds is at most e times the mean of |x|^r. So every cell is raised by (1.1 r + 2) e times
  the mean of (|x| + 2e)^{r-1}, which is about one over the number of cells that S is spread over.
- A window is used from its end down to where rounding *down* would count, or where P(S <= s) is 1e-6 of what it is at
  the end; the next one ends there. What is beyond the last one is put at ξ = ∞, and sums beyond the end of the first at
  that end.

For more entries than this takes time for, Chernoff's bound is taken throughout.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..law.one_sided import one_sided_law
from ..numbers.arrays import Array
from ..sketch.estimators.power_lattice import log_below, to_the
from ..sketch.estimators.power_sum import PowerSum, power_sum
from .noisy_estimate import RAISED, RAISED_XI, chernoff_bounds, log_transform, tail_of_largest

_ROUNDING = 1e-14
_MARGIN = 1.0 + 1e-11  # for the rounding of sums and products of up to 2^20 positive numbers
_MOST_CELLS = 18  # the exponent of a power of two
_LARGEST_SIZE = 1 << 13  # 32 cells for each Y
_LEAST_TAIL = 1e-18  # a ξ exceeded less often counts as infinite
_FALL = 1e-6  # of P(S <= s) within a window
_WITHIN = 1e-3  # ξ may be raised by this at the end of a window; at twice that the next window begins
_LEAST_TILT = 12.0
_MOST_WINDOWS = 40
_CLOSE = 2e-4  # points closer than this are merged


@dataclass(frozen=True)
class Atoms:
    """Decreasing points, the first possibly ∞, and upper bounds of P(ξ >= x) for every x above the next point."""

    points: Array
    tail: Array

    def largest_of(self, copies: int) -> Atoms:
        """The atoms of the largest of this many independent ξ."""
        if copies == 1:
            return self
        return Atoms(self.points, np.minimum(tail_of_largest(self.tail, copies) * (1.0 + 1e-14), 1.0))


@lru_cache(maxsize=64)
def power_atoms(p: float, size: int) -> Atoms:
    """ξ of the power estimator of `size` one-sided entries, two or more."""
    law = power_sum(p, size)
    fine_enough = size <= _LARGEST_SIZE and math.ldexp(_raise(law), -_MOST_CELLS) <= 2.0 * _WITHIN
    logs, tail = _by_windows(law) if fine_enough else _by_chernoff(law)
    with np.errstate(over="ignore"):
        xi = np.exp(-law.theta * (logs - math.log(size)) - law.log_constant) * RAISED_XI
    return _thinned(xi, np.minimum(np.maximum.accumulate(tail), 1.0))


def _thinned(xi: Array, tail: Array) -> Atoms:
    """One point for all that differ by less than `_CLOSE`: the greatest of them, with their total mass."""
    with np.errstate(divide="ignore"):
        place = np.floor(np.log(xi[-1] / xi) / _CLOSE)  # increasing; -∞ for infinite points
    first = np.flatnonzero(np.diff(place, prepend=np.nan) != 0.0)
    last = np.append(first[1:], len(xi)) - 1
    tail = tail[last].copy()
    tail[-1] = 1.0
    return Atoms(xi[first], tail)


def _by_chernoff(law: PowerSum) -> tuple[Array, Array]:
    """Increasing ln S, -∞ first, and Chernoff's bound at the next point."""
    ends, bounds = _saddles(law)
    low = float(np.interp(-math.log(_LEAST_TAIL), -bounds, ends))
    logs = np.linspace(low, math.log(law.size * law.mean), 2_000)
    tail = chernoff_bounds(law, logs, 12.0) * _MARGIN
    return np.concatenate([[-np.inf], logs]), np.append(tail, 1.0)


def _saddles(law: PowerSum) -> tuple[Array, Array]:
    """Decreasing ln S, and the logarithm of Chernoff's bound there. It decides only where windows end."""
    tau, powers = log_transform(law)
    slope = law.size * law.transform_slope
    kept = (slope > 1e-6) & (powers > -1e6)
    tau, powers, slope = tau[kept], powers[kept], slope[kept]
    return np.log(slope) - tau, slope + powers


def _ends(law: PowerSum, cells: int) -> list[float]:
    """ln S where windows end, from the body down, and finally where the last window begins."""
    logs, bounds = _saddles(law)
    furthest = math.log(min(max(2.0 * _WITHIN * cells / _raise(law), 1.25), cells / 16.0))
    ends, level = [math.log(law.size * law.mean * (1.0 + 5.0 * law.spread))], 0.0
    while level > math.log(_LEAST_TAIL) and len(ends) <= _MOST_WINDOWS:
        deepest = max(level + math.log(_FALL), math.log(_LEAST_TAIL) - 2.0)
        ends.append(max(float(np.interp(-deepest, -bounds, logs)), ends[-1] - furthest))
        level = min(float(np.interp(-ends[-1], -logs, bounds)), level)
    return ends


def _raise(law: PowerSum) -> float:
    """Rounding down raises ξ by this divided by the number of cells, at the end of a window: half a cell for each Y."""
    return 0.5 * law.theta * law.size


def _by_windows(law: PowerSum) -> tuple[Array, Array]:
    """Increasing ln S, -∞ first, and bounds of P(S <= s) up to the next point."""
    cells = 1 << min(max(math.ceil(math.log2(_raise(law) / _WITHIN)), 14), _MOST_CELLS)
    ends = _ends(law, cells)
    parts, highest = [], cells
    for end, lower in itertools.pairwise(ends):
        first = min(int(math.exp(lower - end) * cells), highest - 1)
        tail = _window(law, end, cells)
        with np.errstate(divide="ignore"):
            logs = np.log(np.arange(first, highest)) + (end - math.log(cells))
        parts.append((logs, tail[first:highest]))
        # The next window goes up to the point where this one begins.
        highest = min(math.ceil(math.exp(float(logs[0]) - lower) * cells), cells)
    if parts[-1][1][0] > _LEAST_TAIL:
        parts.append(_by_greatest(law, float(parts[-1][0][0])))
    logs, tails = (np.concatenate(columns[::-1]) for columns in zip(*parts, strict=True))
    return np.concatenate([[-np.inf], logs]), np.append(tails[:1], tails) * _MARGIN


def _by_greatest(law: PowerSum, end: float) -> tuple[Array, Array]:
    """Like `_by_windows`, below the last window: P(S <= s) <= P(Y <= s)^r, because no Y is greater than S.

    It is needed only for p near 1 and few entries, where ln Y is spread so widely that S is hardly more than its
    greatest term: the ratio is Γ(1+θ)^r/Γ(1+rθ) in the limit, and ξ is raised by about 0.8 (r - 1) θ².
    """
    low = law.power * float(one_sided_law(law.p).quantile(log_sf=np.array(math.log(_LEAST_TAIL) / law.size)))
    if low >= end:
        return np.empty(0), np.empty(0)
    logs = np.linspace(low, end, 2 + math.ceil(law.theta * (end - low) / _CLOSE))
    below = np.minimum(log_below(law.p, law.power)(logs[1:]) + RAISED, 0.0)
    return logs[:-1], np.exp(law.size * below)


def _window(law: PowerSum, log_end: float, cells: int) -> Array:
    """Bounds of P(S < (k + 1) cell), cell = e^log_end/cells, k = 0, 1, ..., cells - 1."""
    size, log_cell = law.size, log_end - math.log(cells)
    count = math.ceil(min(cells, 80.0 * math.exp(min(math.log(law.mean) - log_cell, 50.0))))
    below = log_below(law.p, law.power)(np.log(np.arange(1, count + 1)) + log_cell)
    raised = np.maximum.accumulate(np.exp(np.minimum(below + RAISED, 0.0)))
    masses = np.diff(raised, prepend=0.0, append=1.0)[:cells]  # the mass beyond is put lower, or does not count
    tau, powers = log_transform(law)
    with np.errstate(over="ignore"):
        best = float(np.exp(tau[np.argmin(np.exp(tau + log_end) + powers)] + log_end))
    tilt = max(best, _LEAST_TILT) / cells  # any tilt is valid
    tilted = masses * np.exp(-tilt * np.arange(len(masses)))
    total = float(tilted.sum())
    length = cells * 4 if size < 64 else cells * 2 if size < 256 else cells * 5 // 4
    transformed = np.fft.rfft(tilted / total, length)
    # The mean over the whole circle is at most twice that over half of it.
    mean = 2.0 / length * float(np.sum(to_the(np.abs(transformed) + 2.0 * _ROUNDING, size - 1)))
    error = (1.1 * size + 2.0) * _ROUNDING * mean
    sums = np.maximum(np.fft.irfft(to_the(transformed, size), length)[:cells], 0.0) + error
    return np.cumsum(sums * np.exp(tilt * np.arange(cells) + size * math.log(total)))
