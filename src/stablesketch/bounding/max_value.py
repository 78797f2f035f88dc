"""Choosing the largest value privately: a noisy quantile of the values, on the grid 1, 3, 7, ..., 2^b - 1.

Values are sorted into boxes by their number of binary digits, b = 1, ..., 54. Each pair is in one box, so adding or
removing up to c pairs changes the counts by at most c in all, and replacing up to c pairs by at most 2c. Discrete
Laplace noise of scale D/ε on every count, D being that bound, makes the noisy counts ε-private with δ = 0: for counts
m, m' of neighbours and any z, the ratio of the probabilities of z is the product over boxes of
exp((|z_b - m'_b| - |z_b - m_b|)/scale) <= exp(Σ|m_b - m'_b|/scale) <= e^ε. Post-processing of the noisy counts costs
nothing more, and the boxes are public.

Most of the 54 boxes are empty, and their noise together would drown a small tail. Boxes with small noisy counts are
therefore treated as empty, up to a limit that any empty box exceeds with probability at most 1 in 100, over all boxes.
M is the largest value of the first box at which the remaining counts reach `quantile` of their sum; if no box remains,
of the box with the largest noisy count. Larger values are then clipped to M. A poor choice costs accuracy, never
privacy.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from ..numbers.checked import checked_real
from ..privacy import Privacy, discrete_laplace
from ..reading.values import numbers
from ..sketch.columns import MAX_WEIGHT
from .budget import share_of_budget

DigitCounts = NDArray[np.int64]

_BOXES = 54  # 2^53 has 54 digits
_FALSE_ALARM = 0.01


@dataclass(frozen=True)
class AutoMaxValue:
    """Finds max_value in the data, privately, for `share` of ε. It aims at a value that `quantile` of all values do not
    exceed.

    It counts the values by their number of binary digits, adds noise to the counts, and ignores counts that are lost in
    the noise. In small data, or where large values are few and of many sizes, more than 1 - `quantile` of the values
    are therefore clipped.
    """

    share: float = 0.1
    quantile: float = 0.99

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", share_of_budget("share", self.share))
        quantile = checked_real("quantile", self.quantile, "Pass 0.99, for example")
        if not 0.0 < quantile <= 1.0:
            raise ArgumentError("quantile", self.quantile, "must be between 0 and 1", "Pass 0.99, for example")
        object.__setattr__(self, "quantile", quantile)


def least_seen(privacy: Privacy, epsilon: float) -> int:
    """The smallest noisy count at which a box is not treated as empty."""
    # P(X >= k) <= e^{-k/scale} for each box.
    return math.floor(float(_scale(privacy, epsilon)) * math.log(_BOXES / _FALSE_ALARM)) + 1


def _scale(privacy: Privacy, epsilon: float) -> Fraction:
    changes = privacy.pairs_per_person * (2 if privacy.relation == "replace" else 1)
    return Fraction(changes) / Fraction(epsilon)


def digit_counts(batches: Iterable[Any]) -> DigitCounts:
    """The numbers of values with 0, 1, ..., 54 binary digits. The values are in column v."""
    counts = np.zeros(_BOXES + 1, np.int64)
    for batch in batches:
        values = numbers(batch.column("v"), MAX_WEIGHT, clip=False)
        digits = np.frexp(values.astype(np.float64))[1]  # exact: up to 2^53 every integer is a float
        counts += np.bincount(digits, minlength=_BOXES + 1)
    return counts


def chosen_max_value(
    counts: DigitCounts,
    privacy: Privacy,
    epsilon: float,
    quantile: float,
    below: Callable[[int], int] = secrets.randbelow,
    otherwise: int | None = None,
) -> int:
    """M, ε-private for the relation and the pairs per person of `privacy`, from the result of `digit_counts`.

    If all counts are lost in the noise, `otherwise` is used instead of the box with the largest count.
    """
    scale = _scale(privacy, epsilon)
    noisy = [int(count) + discrete_laplace.sample(scale, below) for count in counts[1:]]
    least = least_seen(privacy, epsilon)
    there = [count if count >= least else 0 for count in noisy]
    if any(there):
        wanted = quantile * sum(there)
        box = next(i for i, so_far in enumerate(accumulate(there)) if so_far >= wanted)
    elif otherwise is not None:
        return otherwise
    else:
        box = max(range(_BOXES), key=noisy.__getitem__)
    return min((1 << (box + 1)) - 1, MAX_WEIGHT)
