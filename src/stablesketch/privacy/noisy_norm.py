"""Orders above one: an estimated norm plus Laplace noise, and how much noise (ε, δ) needs.

For 1 < p <= 2 the estimate of ‖f‖_p = F_p^{1/p} from a symmetric sketch is ‖f‖_p ξ, and the law of ξ is the same for
every stream (sketch/estimators/norm.py). Norms rise with every total and by at most Δ = c M where c pairs of value at
most M are added, so neighbours have |‖f‖_p - ‖f'‖_p| <= Δ for add_remove and for replace. The bound is that of
noisy_estimate.py,

    δ(ε) <= E f(Δ ξ/b),      f(s) = (1 - e^{(ε - s)/2})_+,

proved in docs/math-noisy-estimate.md, "Orders above one". Here noise is b in units of Δ.

E f can only come out too large: P(ξ > x) is an integral of a known density, correct to 1e-10, and is raised by more
than its error. ξ is raised too. The mass between two points counts at the greater one, and the mass beyond the last
point counts at ∞.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..numbers.arrays import Array
from ..sketch.estimators.norm import norm_law
from .noisy_estimate import EXACT, NoisyXi, Precision, check_asked, enough_noise

_WITHIN = 1e-4  # relative accuracy of `noise`, which always errs upwards
# The tail is raised by the first, and additionally by the second per entry: ln P of an order statistic is r times that
# of |X|.
_RAISED, _RAISED_EACH = 1e-9, 1e-12


class NoisyNorm(NoisyXi):
    """ξ of an estimated norm: one norm has one ξ. If a person's pairs may be in several groups, each with its own norm,
    each group has one.
    """

    needs_two_for = "variance"

    def __init__(self, p: float, size: int, copies: int = 1) -> None:
        super().__init__(p, size, copies)
        self._law = norm_law(p, size)

    def _above(self, epsilon: float, noise: float, precision: Precision) -> tuple[Array, Array]:
        return self.survival

    def noise(self, epsilon: float, delta: float, precision: Precision = EXACT) -> float:
        """The least noise whose `delta` is at most this, found from above to 0.01%."""
        check_asked(epsilon, delta, precision)
        return enough_noise(lambda noise: self.delta(epsilon, noise, precision) <= delta, epsilon, delta, _WITHIN)

    @cached_property
    def survival(self) -> tuple[Array, Array]:
        """Points ξ decreasing from ∞, and an increasing upper bound of P(one ξ >= the next point).

        The last point stands for all ξ below the one before: its bound is 1.
        """
        v, _, above = self._law.tails
        raised = above[::-1] * (1.0 + _RAISED + _RAISED_EACH * self.size)
        xi = np.exp(v[::-1])
        # The mass between two points has the greater ξ, the mass beyond the first an infinite one, the rest the last.
        return np.concatenate([[math.inf], xi]), np.minimum(np.concatenate([raised, [1.0]]), 1.0)
