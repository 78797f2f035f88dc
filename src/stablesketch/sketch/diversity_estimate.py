"""Hill numbers and entropies from a sketch. Like every estimate of a sketch, they are not private.

A sketch of order p estimates F_p and knows the total N exactly. So it estimates D_p = (F_p/N^p)^{1/(1-p)} and Rényi's
entropy ln D_p. Both increase with F_p for p < 1 and decrease with it for p > 1, so the limits of F_p give theirs.
Relative errors of F_p grow by 1/|1-p|. Values are whole numbers of 1 or more, so there are at most N keys:
1 <= D_p <= N.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..errors import ArgumentError
from .estimators import Estimate


def check_order(order: float | None, own: float) -> None:
    """Refuses any order but the sketch's own: at order 1, a sketch of a moment knows only the total."""
    if order is not None and order != own:
        raise ArgumentError(
            "order", order, f"must be {own:g}, the order of this sketch",
            "Leave it out, or create a sketch of that order: ss.Sketch(p=order, ...), "
            "or ss.EntropySketch(...) for order 1",
        )  # fmt: skip


def entropy_of_moment(moment: Estimate, p: float, total: int) -> Estimate:
    """ln D_p in nats; nan for an empty stream."""
    if p == 1.0:
        raise ArgumentError(
            "order",
            p,
            "must not be 1",
            "Use ss.EntropySketch(...)",
            because="the moment of order 1 is the total and says nothing about diversity",
        )
    if total == 0:
        return replace(moment, value=math.nan, low=math.nan, high=math.nan, of="H")
    log_total = math.log(total)

    def at(f: float) -> float:
        log = math.log(f) if f > 0.0 else -math.inf
        return min(max((log - p * log_total) / (1.0 - p), 0.0), log_total)

    low, high = sorted((at(moment.low), at(moment.high)))
    return replace(moment, value=at(moment.value), low=low, high=high, of="H")


def hill_of_entropy(entropy: Estimate) -> Estimate:
    """D = e^H."""
    value, low, high = map(math.exp, (entropy.value, entropy.low, entropy.high))
    return replace(entropy, value=value, low=low, high=high, of="D")
