"""Plans of the total of all values: one exact counter and discrete Laplace noise, whatever else is sketched."""

from __future__ import annotations

import math
from fractions import Fraction

from ..errors import ArgumentError
from ..privacy import Privacy, discrete_laplace
from ..statistic import Moment, Total
from .asked import Asked
from .noise_plan import noise_plan
from .plan import Plan
from .ways_out import a_larger_error

__all__ = ["is_counted", "total_distance", "total_plan", "total_scale"]

_BYTES = 64


def total_distance(privacy: Privacy) -> int:
    """By how much neighbours can differ in N: c pairs of up to M are added, or of c pairs each changes from 1 to M."""
    return max(privacy.pairs_per_person * (privacy.max_value - (privacy.relation == "replace")), 1)


def is_counted(plan: Plan) -> bool:
    """Whether what is released is the total, by whatever name: F_1 is the total too."""
    named = isinstance(plan.statistic, Total) or plan.statistic == Moment(1.0)
    return named and plan.mechanism == "exact"


def total_scale(privacy: Privacy) -> Fraction:
    """Of the noise: D/ε, so that it is ε-private."""
    return Fraction(total_distance(privacy)) / Fraction(privacy.epsilon)


def total_plan(asked: Asked) -> Plan:
    """ε-private; the error is that of the noise, relative to `expected`, by default the promised number of pairs."""
    privacy = asked.privacy
    expected = asked.expected or float(max(privacy.pairs, privacy.total))
    deviation = discrete_laplace.variance(total_scale(privacy)) ** 0.5
    error = deviation / expected if expected else deviation
    if asked.error is not None and (not expected or error > asked.error):
        raise ArgumentError(
            "error", asked.error, f"the noise alone is {error:.3g} at a total of {expected:,.6g}",
            f"{a_larger_error(error if expected else math.inf)}, or a larger ε, or expected=, the total "
            "you expect",
        )  # fmt: skip
    return noise_plan(asked, deviation, expected, bytes=_BYTES)
