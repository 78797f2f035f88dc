"""Plans of Shannon's entropy from exact totals: noise on its mass G = N H, and on N where that is private.

What is released, and why it is private: privacy/noisy_entropy.py.
"""

from __future__ import annotations

import math

from ..errors import PlanInfeasible
from ..privacy import Privacy
from ..privacy.noisy_entropy import EntropyNoise
from .asked import Asked
from .noise_plan import noise_plan
from .plan import Plan

__all__ = ["exact_entropy_deviation", "exact_entropy_plan"]


def exact_entropy_plan(asked: Asked) -> Plan:
    """For streams of any length; the error is that in a stream of as many pairs as are promised."""
    privacy = asked.privacy
    error = exact_entropy_deviation(privacy)
    if asked.error is not None and error > asked.error:
        promised = f"among {privacy.pairs:,} pairs" if privacy.pairs else "in a stream of which nothing is promised"
        raise PlanInfeasible(
            f"the exact mechanism has an error of {error:.3g} nats {promised}, and {asked.error:g} is asked. Leave "
            "out error=, which changes nothing here, or promise more pairs (pairs=)."
        )
    noise = _noise(privacy)
    step = float(noise.step(noise.bound(_least_total(privacy))))
    planned = noise_plan(asked, error, 0.0, step=step)
    delta = privacy.delta if noise.lost else 0.0
    return planned.altered(delta=delta, pure_epsilon=math.inf if noise.lost else privacy.epsilon)


def exact_entropy_deviation(privacy: Privacy) -> float:
    """Of the released H at the least N there can be, to first order, where H is as far from β as it can be."""
    return _noise(privacy).deviation(_least_total(privacy))


def _noise(privacy: Privacy) -> EntropyNoise:
    return EntropyNoise(privacy, 0, privacy.copies)


def _least_total(privacy: Privacy) -> int:
    return max(privacy.pairs, privacy.total, 1)
