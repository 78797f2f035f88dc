"""Plans of Shannon's entropy from exact totals: noise on its mass G = N H, and on N where that is private.

What is released, and why it is private: privacy/noisy_entropy.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..errors import PlanInfeasible
from ..privacy import Privacy
from ..privacy.noisy_entropy import EntropyNoise
from ..statistic import Shannon
from .noise_plan import noise_plan
from .plan import Plan
from .wanted import Wanted

__all__ = ["exact_entropy_deviation", "exact_entropy_plan"]


def exact_entropy_plan(statistic: Shannon, privacy: Privacy, wanted: Wanted) -> Plan:
    """For streams of any length; the error is that in a stream of as many pairs as are promised."""
    error = exact_entropy_deviation(privacy)
    if wanted.error is not None and error > wanted.error:
        promised = f"among {privacy.pairs:,} pairs" if privacy.pairs else "in a stream of which nothing is promised"
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} nats {promised}, and {wanted.error:g} is asked. Leave "
            "out error=, which changes nothing here, or promise more pairs (pairs=)."
        )
    noise = _noise(privacy)
    step = float(noise.step(noise.bound(_least_total(privacy))))
    planned = noise_plan(statistic, privacy, error, 0.0, step=step, deletes=wanted.deletes)
    delta = privacy.delta if noise.lost else 0.0
    return replace(planned, delta=delta, pure_epsilon=math.inf if noise.lost else privacy.epsilon)


def exact_entropy_deviation(privacy: Privacy) -> float:
    """Of the released H at the least N there can be, to first order, where H is as far from β as it can be."""
    return _noise(privacy).deviation(_least_total(privacy))


def _noise(privacy: Privacy) -> EntropyNoise:
    return EntropyNoise(privacy, 0, privacy.copies)


def _least_total(privacy: Privacy) -> int:
    return max(privacy.pairs, privacy.total, 1)
