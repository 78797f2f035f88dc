"""Shannon's entropy from the entries of a sketch of the skewed law: the Pitman estimate, its law and its deviation.

y_j = (Σ_k f_k R_kj)/N are distributed as R - H (law/skewed.py): a location family in the entropy H. The posterior of H
under a flat prior is proportional to Π h(y_j + H), and its mean Ĥ is the equivariant estimate of least variance
(Pitman 1939). Given the differences of the entries, Ĥ - H has the law of Ĥ - H* with H* drawn from the posterior, so
that

- E[Ĥ - H] = 0: Ĥ is unbiased, for every H and every size;
- Var Ĥ is the mean variance of the posterior;
- Ĥ - H is a pivot, and pivot.py gives its tails.

As H falls, the posterior falls like |H|^{-2r}, so its mean exists from r = 2 on; as H rises it falls doubly
exponentially. h is not log-concave, so the posterior can have several peaks. It is therefore not maximised but summed
on a grid around the simple estimate T = -ln mean e^{y_j} (E e^R = 1), which moves along with the entries. The trapezoid
rule on a smooth function that falls at both ends converges exponentially.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ...errors import HIDDEN, ArgumentError, ArgumentTypeError
from ...law.skewed import FISHER_INFORMATION, SkewedLaw
from ...law.tabulated import tabulated_skewed_log_density
from ...numbers.arrays import Array
from ...numbers.checked import checked_whole
from .pitman import log_likelihood
from .pivot import PivotLaw, law_of_pivot

LEAST_SIZE = 5
"""As in plans. With one entry the posterior has no mean, with two to four its left tail is too long for a grid."""

# The log posterior is followed until it has fallen this far.
_FALL = 32.0
# Half the grid in deviations of the estimate, at large sizes, and its step: e^{-2π²/0.45²} is below any rounding.
_REACH = 9.5
_STEP = 0.45
# At small sizes posteriors are up to three times narrower, and longer on the left.
_SMALL_STEP = 0.25
_SMALL = 50
_ROWS = 256
_MOST_POINTS = 1 << 16
_SEED = 20_240_503
_SIMULATED = (100_000, 64, 3_000)
# r Var Ĥ over the Cramér-Rao bound, less 1, as a polynomial in 1/r: fitted to mean posterior variances at 5 to 400
# entries, with standard errors of 0.0003 to 0.002.
_BEYOND_THE_BOUND = (1.803, 2.40, 12.9)


def entropy_estimate(entries: ArrayLike) -> Array:
    """Ĥ in nats from y_j = (Σ f_k R_kj)/N: shape (r,) gives a single number, (m, r) one for each of m sketches."""
    y = np.asarray(entries, dtype=np.float64)
    if y.ndim not in (1, 2):
        raise ArgumentTypeError("entries", y.shape, "must have a row for each sketch", "Pass shape (r,) or (m, r)")
    if y.shape[-1] < LEAST_SIZE:
        raise ArgumentError("entries", y.shape[-1], "must be at least 5 for each sketch", "Use a larger sketch")
    if not np.isfinite(y).all():
        raise ArgumentError("entries", HIDDEN, "must be finite", "Divide them by the total N > 0")
    rows = np.atleast_2d(y)
    out = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        out[part] = _posterior_mean(rows[part])
    return out.reshape(y.shape[:-1])


def entropy_deviation(size: int) -> float:
    """The standard deviation of Ĥ from `size` entries, in nats: sqrt(2.9026/r), slightly more at small sizes."""
    size = _checked(size)
    excess = sum(term / size**k for k, term in enumerate(_BEYOND_THE_BOUND, start=1))
    return math.sqrt((1.0 + excess) / (FISHER_INFORMATION * size))


@lru_cache(maxsize=64)
def entropy_pivot(size: int) -> PivotLaw:
    """The law of Ĥ - H for this many entries. With (a, b) = `.limits(confidence, blur)`, H lies in [Ĥ - b, Ĥ - a]."""
    size = _checked(size)
    entries, least, most = _SIMULATED
    count = int(np.clip(entries // size, least, most))
    y = SkewedLaw().sample((count, size), np.random.default_rng([_SEED, size]))
    # H is minus the location of the entries.
    return law_of_pivot(y, entropy_estimate(y), -1.0, tabulated_skewed_log_density())


def _posterior_mean(y: Array) -> Array:
    size = y.shape[1]
    highest = y.max(axis=1)
    start = -highest - np.log(np.mean(np.exp(y - highest[:, None]), axis=1))
    centred = y + start[:, None]
    unit = 1.0 / math.sqrt(FISHER_INFORMATION * size)
    step = unit * (_SMALL_STEP if size < _SMALL else _STEP)
    below = math.ceil(_REACH * (1.0 + 20.0 / size) * unit / step)
    above = math.ceil(_REACH * (1.0 + 5.0 / size) * unit / step)
    out = np.empty(len(y))
    left = np.arange(len(y))
    while True:
        at = step * np.arange(-below, above + 1)
        grid = np.broadcast_to(-at, (len(left), len(at)))
        log_posterior = log_likelihood(centred[left], grid, tabulated_skewed_log_density())
        log_posterior -= log_posterior.max(axis=1, keepdims=True)
        posterior = np.exp(log_posterior)
        out[left] = start[left] + (posterior @ at) / posterior.sum(axis=1)
        low, high = log_posterior[:, 0] > -_FALL, log_posterior[:, -1] > -_FALL
        if not (low | high).any() or below + above > _MOST_POINTS:
            return out
        # Posteriors that have not fallen far enough are computed again, on a grid twice as long on those sides.
        left = left[low | high]
        below, above = below * (2 if low.any() else 1), above * (2 if high.any() else 1)


def _checked(size: int) -> int:
    return checked_whole("size", size, "Pass 500, for example", least=LEAST_SIZE)
