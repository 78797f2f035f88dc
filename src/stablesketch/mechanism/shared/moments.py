"""The expected value of F_p, and the error of the exact mechanism."""

from __future__ import annotations

import math

from ...plan.asked import Asked
from ...privacy import Privacy


def exact_deviation(p: float, privacy: Privacy) -> float:
    """The standard deviation of the noise of the exact mechanism: sqrt(2) c M^p/ε on F_p up to order 1, and
    sqrt(2) c M/ε on the norm F_p^{1/p} above it."""
    return math.sqrt(2.0) * privacy.pairs_per_person * math.pow(privacy.max_value, min(p, 1.0)) / privacy.epsilon


def exact_moment_error(p: float, privacy: Privacy, expected: float) -> float:
    """The relative error of the exact mechanism at this F_p; the deviation of its noise if no value is expected."""
    deviation = exact_deviation(p, privacy)
    return max(p, 1.0) * deviation / math.pow(expected, 1.0 / max(p, 1.0)) if expected else deviation


def expected_moment(asked: Asked) -> float:
    """F_p for the predicted error: the expected value, or the least possible."""
    return least_moment(asked.statistic.p, asked.privacy) if asked.expected is None else asked.expected


def least_moment(p: float, privacy: Privacy) -> float:
    """The least F_p of n pairs of value 1 or more: n^p, if all have the same key; above order 1 it is n, if all keys
    differ."""
    if privacy.unit == "key":  # every key occurs once
        return float(privacy.pairs)
    return math.pow(max(privacy.pairs, privacy.total), min(p, 1.0))
