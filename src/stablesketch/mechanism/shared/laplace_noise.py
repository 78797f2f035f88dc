"""Discrete Laplace noise on an exact number, drawn from the secret; and where the truth is believed to be."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...errors import PlanInfeasible
from ...numbers.arrays import Array
from ...privacy import discrete_laplace
from ...privacy.discrete_laplace import KeyedIntegers
from ...secret import Secret
from ...statistic import Statistic, exact_name
from ...text.wording import subject
from .belief import Belief

_MOST_NOISE = 10**250  # a sample is hardly ever more than 700 times its scale, and floats go up to 10^308


def check_noise(scale: Fraction, step: Fraction) -> None:
    """Refuses noise that no float can hold, before the release is paid for."""
    if scale * step > _MOST_NOISE:
        raise PlanInfeasible(
            "the noise of this plan is larger than any number that can be published. Plan with a larger ε, or a "
            f"smaller {subject('max_value')} or {subject('pairs_per_person')}."
        )


def noise_of(secret: Secret, what: object) -> Callable[[int], int]:
    """Uniform integers for the noise of one measurement, from its secret: same secret and data, same value.

    `what` must name the measurement exactly: two measurements of one name would have the same noise.
    """
    name = exact_name(what) if isinstance(what, Statistic) else what
    return KeyedIntegers(secret.derive(f"noise/{name}")).below


def noisy(units: int, scale: Fraction, step: Fraction, confidence: float, below: Callable[[int], int]) -> Belief:
    """(units + discrete Laplace noise of this scale) · step, and where the truth is believed to be."""
    value = float((units + discrete_laplace.sample(scale, below)) * step)
    # The noise is symmetric: its two-sided quantile either way, plus a step, which covers the rounding to the grid.
    reach = float((discrete_laplace.quantile(scale, (1 + Fraction(confidence)) / 2) + 1) * step)
    low = max(value - reach, 0.0)
    truth = laplace_belief(value, float(scale * step)).quantiles
    return Belief(value, low, max(value + reach, low), lambda probability: np.maximum(truth(probability), 0.0))


def laplace_belief(value: float, scale: float, rounded: float = 0.0) -> Belief:
    """Where the truth is believed to be if `value` is the truth plus Laplace noise, rounded by at most `rounded`. It
    has no limits."""

    def quantiles(probability: Array) -> Array:
        """Those of the continuous law, which are within a step of those of the discrete one."""
        side = np.minimum(probability, 1.0 - probability)
        reach = rounded - scale * np.log(2.0 * np.maximum(side, 1e-300))
        shift: Array = np.sign(probability - 0.5) * reach
        return value + shift

    return Belief(value, value, value, quantiles)
