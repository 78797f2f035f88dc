"""Diversity of any order from 0 to infinity, for exact values. Private releases go up to order 2.

Let m be the largest total of a key and P_q = Σ (total/m)^q. The sum over keys of (share)^q is P_q/P_1^q, so
ln D_q = (ln P_q - q ln P_1)/(1 - q). Every term is at most 1 and one of them is 1, so nothing overflows at any q. As q
grows, P_q tends to the number of keys with total m, and ln D_q to ln P_1 = ln(N/m): D_q tends to the inverse of the
largest share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..numbers.arrays import Array
from .known import Known
from .statistic import ANY, LEAST_ORDER, Measured, Statistic


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


def is_released(order: float) -> bool:
    """Whether a diversity of this order can be released privately."""
    return order == 0.0 or LEAST_ORDER <= order <= 2.0


def exact_inputs(order: float) -> tuple[Measured, ...]:
    """The inputs of ln D_q for orders that are not released."""
    return (PowersOfLargest(1.0),) if math.isinf(order) else (PowersOfLargest(order), PowersOfLargest(1.0))


def exact_log_hill(order: float, found: Mapping[Statistic, Array]) -> Array:
    """ln D_q from these inputs, never below 0."""
    first = np.log(found[PowersOfLargest(1.0)])
    if math.isinf(order):
        return np.asarray(first)
    return np.maximum((np.log(found[PowersOfLargest(order)]) - order * first) / (1.0 - order), 0.0)
