"""ln D_q, the logarithm of the Hill number of order q, from measurements: what all diversities are computed from.

Private releases go up to order 2. Exact values can have any order q from 0 to infinity: let m be the largest total of a
key and P_q = Σ (total/m)^q. The sum over keys of (share)^q is P_q/P_1^q, so ln D_q = (ln P_q - q ln P_1)/(1 - q). Every
term is at most 1 and one of them is 1, so nothing overflows at any q. As q grows, P_q tends to the number of keys with
total m, and ln D_q to ln P_1 = ln(N/m): D_q tends to the inverse of the largest share.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numbers.arrays import Array
from .known import Known
from .measured import Distinct, Moment, Shannon, Total
from .statistic import ANY, LEAST_ORDER, Derived, Measured, Statistic

_MOST_KEYS = 1e3  # for each unit of the total
_LEAST = 1e-300  # the smallest F_q used, so that it has a logarithm


def is_released(order: float) -> bool:
    """Whether a diversity of this order can be released privately."""
    return order == 0.0 or LEAST_ORDER <= order <= 2.0


def log_hill(order: float, found: Mapping[Statistic, Array], pairs: int) -> Array:
    """ln D_q = (ln F_q - q ln N)/(1-q), never below 0; N is `pairs` if it was not measured.

    By chance an estimate can be anything, even 0 or less. D_q is then 1, or above order 1 a thousand times N. There are
    at most as many keys as the total, so the truth is at most N. But a noisy N must not cut the limits of D_q, because
    D_q may be N itself (`likely` cuts only the value).
    """
    if order == 1.0:
        return np.maximum(found[Shannon()], 0.0)
    if order == 0.0:
        return np.log(np.maximum(found[Distinct()], 1.0))
    if not is_released(order):
        first = np.log(found[PowersOfLargest(1.0)])
        if math.isinf(order):
            return np.asarray(first)
        return np.maximum((np.log(found[PowersOfLargest(order)]) - order * first) / (1.0 - order), 0.0)
    log_n = np.log(np.maximum(found.get(Total(), np.float64(pairs)), 1.0))
    log_f = np.log(np.maximum(found[Moment(order)], _LEAST))
    logs = np.asarray(log_f / (1.0 - order) - order / (1.0 - order) * log_n, dtype=np.float64)
    np.maximum(logs, 0.0, out=logs)
    return np.minimum(logs, math.log(_MOST_KEYS) + log_n, out=logs)


class OfHill(Derived):
    """A monotone function of ln D_p, p being its order."""

    of_shares: ClassVar[bool] = True

    @property
    def inputs(self) -> tuple[Measured, ...]:
        if self.p == 0.0:
            return (Distinct(),)
        if math.isinf(self.p):
            return (PowersOfLargest(1.0),)
        if not is_released(self.p):
            return PowersOfLargest(self.p), PowersOfLargest(1.0)
        return (Shannon(),) if self.p == 1.0 else (Moment(self.p), Total())

    def factor(self, measured: Statistic) -> float:
        """How much the error of each measurement grows in ln D_p."""
        if isinstance(measured, Total):
            return self.p / abs(1.0 - self.p)
        return 1.0 if self.p in (0.0, 1.0) else 1.0 / abs(1.0 - self.p)

    def likely(self, value: float, found: Mapping[Statistic, float]) -> float:
        """The value, moved into the range from a single key to N equal ones."""
        if Total() not in found:
            return value  # N is public, and `range` uses it
        low, high = self.range(Known(most_pairs=found[Total()]))
        return min(max(value, low), high)

    @abstractmethod
    def log_effective(self, value: float) -> float:
        """ln D_p at this value of the statistic."""


@dataclass(frozen=True)
class PowersOfLargest(Measured):
    """P_q. It is not offered as a statistic, and no mechanism measures it."""

    order: float

    name: ClassVar[str] = "powers_of_largest"
    of_largest: ClassVar[bool] = True

    @property
    def p(self) -> float:
        """Its order."""
        return self.order

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return 0.0, known.most_keys

    def terms(self, totals: Array) -> Array:
        return np.asarray((totals / totals.max(initial=1.0)) ** self.order, dtype=np.float64)

    @property
    def sql_term(self) -> str:
        return f"pow(total / largest, {self.order!r})"

    def definition(self) -> str:
        return f"the sum over all keys of (total of the key/largest total)^{self.order:g}"

    def __str__(self) -> str:
        return f"P_{self.order:g}"
