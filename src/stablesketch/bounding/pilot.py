"""Choosing how many rows of each person to use: from public knowledge, or privately from the data.

**Privately.** People are sorted into boxes by the number of binary digits of their row count. Whatever one person did,
they are in one box, or in none if they are not in the data. Adding or removing a person, with all rows, therefore
changes one count by 1. Discrete Laplace noise of scale 1/ε on every count makes the counts together ε-private with
δ = 0: in the probability of any noisy counts only the factor of that box differs, by at most e^{1/scale} = e^ε. In a
composition this has the loss of one number that changes by 1. Post-processing of the noisy counts costs nothing more.
It works as in max_value.py, which does the same with values: c is one of 1, 3, 7, ..., the one that `quantile` of the
people do not exceed; or 1 if so few people are lost in the noise.

A release with a c found in this way is planned after a look at the data. Their costs add up, and a ledger that records
both must be adaptive.

**From public knowledge.** The more rows of a person are used, the more noise must hide them, and the fewer rows are
dropped. How dropped rows change the value is not known in advance, so their share stands in for it: the suggested c has
the smallest hypot(error of the plan, share of rows dropped) among those tried: 1, 2, 3, 4, 6, 8, 12, ... The error
includes the noise relative to the value that the stated number of equally common keys has; if no number is stated, to
the least value that this many rows can have. A number of keys has no such least value: it can be 1 however many rows
there are. So for statistics that count keys their number must be stated.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import ArgumentError, check_choice
from ..plan import Plan
from ..plan.mechanism import mechanism_of
from ..privacy import Privacy
from .max_value import DigitCounts, chosen_max_value

Spread = Literal["same", "geometric", "heavy"]
ANY_DELTA = 1e-9  # not used by the counts


def chosen_pairs_per_person(
    counts: DigitCounts, epsilon: float, quantile: float, below: Callable[[int], int] = secrets.randbelow
) -> int:
    """c, ε-private for everything one person did. `counts` are the numbers of people by the binary digits of their row
    counts.
    """
    return chosen_max_value(counts, Privacy(epsilon, ANY_DELTA), epsilon, quantile, below, otherwise=1)


@dataclass(frozen=True)
class People:
    """The number of people, their average number of rows, how rows are spread over people, and how many different keys
    there are, if that is known.

    same: all have about as many. geometric: P(more than k rows) = (1 - 1/rows)^k. heavy: P(k rows or more) = k^-s, with
    s such that the average is right.
    """

    people: int
    rows: float
    spread: Spread = "geometric"
    keys: int | None = None

    def __post_init__(self) -> None:
        if self.people < 1:
            raise ArgumentError("people", self.people, "must be at least 1", "Pass a rough number")
        if not 1.0 <= self.rows < math.inf:
            raise ArgumentError("rows", self.rows, "must be at least 1", "Pass 1 or more")
        check_choice("spread", self.spread, get_args(Spread))
        if self.keys is not None and self.keys < 1:
            raise ArgumentError("keys", self.keys, "must be at least 1", "Pass a rough number")

    def used(self, pairs_per_person: int) -> float:
        """The share of all rows that are used: E min(rows of a person, c) divided by the average."""
        c, rows = pairs_per_person, self.rows
        if self.spread == "same" or rows == 1.0:
            return min(1.0, c / rows)
        if self.spread == "geometric":
            return -math.expm1(c * math.log1p(-1.0 / rows))
        return min(1.0, _powers(_exponent(rows), c) / rows)

    def error(self, plan: Plan) -> float:
        """The error of the plan, noise included, with this many rows used, if all keys are equally common. If their
        number is not known, it is that of the worst stream of that length."""
        return math.hypot(0.0 if mechanism_of(plan).exact else plan.error, self._noise(plan, self.keys))

    def needs_keys(self, plan: Plan) -> bool:
        """Whether the number of keys must be known, because it alone says how much noise weighs: keys are counted."""
        ways = ((mechanism_of(one), one) for one in plan.measurements)
        return self.keys is None and any(way.counts_keys and not way.includes_noise(one) for way, one in ways)

    def guesses(self, plan: Plan) -> bool:
        """Whether the error would be another one if the number of keys were known."""
        return self.keys is None and self._noise(plan, 1) != self._noise(plan, 1 << 62)

    def _noise(self, plan: Plan, keys: int | None) -> float:
        pairs = self.people * self.rows * self.used(plan.privacy.pairs_per_person)
        return mechanism_of(plan).noise_at(plan, pairs, keys)

    def score(self, plan: Plan) -> float:
        """The score to minimise: from the error and the share of rows dropped."""
        return math.hypot(self.error(plan), 1.0 - self.used(plan.privacy.pairs_per_person))


_SUMMED = 1_000


def _powers(s: float, most: int) -> float:
    """The sum of k^-s for k from 1 to `most`; beyond a thousand, the integral plus half of each end."""
    total = math.fsum(float(k) ** -s for k in range(1, min(most, _SUMMED) + 1))
    if most <= _SUMMED:
        return total
    first, last = float(_SUMMED), float(most)
    tail: float = (first ** (1.0 - s) - last ** (1.0 - s)) / (s - 1.0) + 0.5 * (last**-s - first**-s)
    return total + tail


def _exponent(rows: float) -> float:
    """s with ζ(s) = rows."""
    low, high = 1.0 + 1e-9, 64.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _powers(middle, 2**62) > rows else (low, middle)
    return high
