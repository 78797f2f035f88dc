"""`PrivacyCurve`: the exact privacy of r entries, between certified bounds.

The entries of a sketch are independent draws of D_{p,F}, and neighbouring streams change F by a factor of at most ρ.
For every ε the largest δ over all neighbours is that of the pair (D_{p,1}^r, D_{p,ρ}^r), in the worse of its two
directions (ln|X| is log-concave; docs/math-sensitivity-and-curve.md). The curve of this pair is computed in three
steps, each with its proof: loss.py cuts the loss of one entry into cells; lattice.py replaces it by laws on a lattice
that are certainly worse and certainly better; compose.py adds up r of them by a tilted Fourier transform and bounds
every error.

What the bounds rest on: the mathematics in those files; the errors of the table of ln h (`VALUE_ERROR` and
`SLOPE_ERROR` in fine_density.py), which are measured against 30-digit arithmetic with a margin, not proved; and IEEE
arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from ...errors import ArgumentError
from ...law import StableLaw
from ...numbers.checked import checked_real, checked_whole
from .compose import tilt_for_delta, tilt_for_epsilon, tilted_sum
from .lattice import LatticeLaw, lower_law, upper_law
from .loss import LossCells, loss_cells

# Cells per deviation of the loss at first; the bracket is then about 3e-5 of ε wide. Wider ones are refined, fourfold.
_FINENESS = 80.0
_LEAST_CELLS = 1024.0
_MOST_CELLS = 1 << 15
_FINE_ENOUGH = 1e-3
_REFINEMENTS = 2
# Points of a transform, about 50 bytes each while it runs.
_MOST_POINTS = 1 << 20
# The largest ln ρ for which ρ is a float.
_MOST_LOG_RHO = 709.0
# Shifts below this underflow when squared; for them the pure ε is enough.
_LEAST_SHIFT = 1e-100
# A δ so small that nothing more needs to be known about it.
_NO_DELTA = 1e-250
# A few units in the last place, upwards.
_UP = 1.0 + 2.0**-50


class PrivacyCurve:
    """The privacy of `size` entries when neighbours change F_p by a factor of at most `rho`.

    `epsilon(delta)` and `delta(epsilon)` are certified upper bounds; `bracket(delta)` and `delta_bracket(epsilon)`
    enclose the exact value between certified bounds. `pure_epsilon` is (size/p) ln ρ, the ε for δ = 0. The curve is for
    real numbers drawn from the exact law; the release adds the price of finite precision.

    >>> curve = PrivacyCurve(0.5, 50, 1.000999499999875)
    >>> low, high = curve.bracket(1e-6)
    >>> round(low, 5), round(high, 5), round(curve.pure_epsilon, 4)
    (0.02018, 0.02018, 0.0999)
    """

    def __init__(self, p: float, size: int, rho: float) -> None:
        rho = checked_real("rho", rho)
        if not 1.0 <= rho <= math.exp(_MOST_LOG_RHO):
            raise ArgumentError(
                "rho", rho, "must be a finite number of 1 or more",
                "Use sensitivity(p, privacy, floor); if that is infinite, a floor above 0 makes it finite",
            )  # fmt: skip
        self._set(p, size, math.log1p(rho - 1.0) if rho < 2.0 else math.log(rho), rho)

    @classmethod
    def from_log(cls, p: float, size: int, log_rho: float) -> PrivacyCurve:
        """The curve for ln ρ, which stays accurate where ρ is within 1e-9 of 1: see `log_sensitivity`."""
        log_rho = checked_real("log_rho", log_rho)
        if not 0.0 <= log_rho <= _MOST_LOG_RHO:
            raise ArgumentError(
                "log_rho", log_rho, "must be between 0 and 709",
                "Use log_sensitivity(p, privacy, floor); if that is infinite, a floor above 0 makes it finite",
            )  # fmt: skip
        curve = cls.__new__(cls)
        curve._set(p, size, log_rho, math.exp(log_rho))
        return curve

    def _set(self, p: float, size: int, log_rho: float, rho: float) -> None:
        self.p = StableLaw(p).p
        self.size = checked_whole("size", size, "Pass 50, for example", least=1)
        self.rho = rho
        self._shift = log_rho / self.p
        # The Cauchy law is symmetric in ln|x|, so its two directions are the same.
        self._directions = (False,) if self.p == 1.0 else (False, True)
        self._grids: dict[int, LossCells] = {}
        self._brackets: dict[float, tuple[float, float]] = {}

    def __repr__(self) -> str:
        return f"PrivacyCurve(p={self.p!r}, size={self.size!r}, rho={self.rho!r})"

    @property
    def pure_epsilon(self) -> float:
        """(size/p) ln ρ: the loss of every entry is at most (1/p) ln ρ, and comes arbitrarily close to it."""
        return self.size * self._shift * _UP

    def epsilon(self, delta: float) -> float:
        """An ε for which the entries are (ε, delta)-private: the upper end of `bracket`."""
        return self.bracket(delta)[1]

    def bracket(self, delta: float) -> tuple[float, float]:
        """(low, high) with low <= ε <= high, where ε is the least for which the entries are (ε, delta)-private."""
        delta = checked_real("delta", delta)
        if not 0.0 <= delta < 1.0:
            raise ArgumentError("delta", delta, "must be at least 0 and below 1", "Pass 1e-9, for example")
        if self._shift == 0.0:
            return 0.0, 0.0
        if delta == 0.0:
            return self.pure_epsilon / _UP / _UP, self.pure_epsilon
        if delta not in self._brackets:
            self._brackets[delta] = self._find_bracket(delta)
        return self._brackets[delta]

    def delta(self, epsilon: float) -> float:
        """A δ for which the entries are (epsilon, δ)-private: the upper end of `delta_bracket`."""
        return self.delta_bracket(epsilon)[1]

    def delta_bracket(self, epsilon: float) -> tuple[float, float]:
        """(low, high) with low <= δ <= high, where δ is the least for which the entries are (epsilon, δ)-private."""
        epsilon = checked_real("epsilon", epsilon)
        if not epsilon >= 0.0:
            raise ArgumentError("epsilon", epsilon, "must be a number of 0 or more", "Pass 1.0, for example")
        if epsilon >= self.pure_epsilon:
            return 0.0, 0.0
        # δ(ε) <= 1 - e^{ε - T} for the greatest loss T.
        low, high = 0.0, -math.expm1(-self.pure_epsilon)
        for cells in self._fineness():
            high = min(high, max(self._delta_above(cells, side, epsilon) for side in self._directions))
            low = max(low, *(self._delta_below(cells, side, epsilon) for side in self._directions))
            if high - low <= max(_FINE_ENOUGH * high, _NO_DELTA):
                break
        return min(low, high), high

    def delta_in_direction(self, epsilon: float, *, wide_first: bool) -> float:
        """An upper bound for D_{e^ε} of the wide law against the narrow one, or the other way round."""
        epsilon = checked_real("epsilon", epsilon)
        if not epsilon >= 0.0:
            raise ArgumentError("epsilon", epsilon, "must be a number of 0 or more", "Pass 1.0, for example")
        wide_first = wide_first and self.p < 1.0  # both directions are the same for the Cauchy law
        if epsilon >= self._top(wide_first):
            return 0.0
        high = -math.expm1(-self._top(wide_first))
        for cells in itertools.islice(self._fineness(), 1):  # the coarsest is accurate to about one part in a thousand
            high = min(high, self._delta_above(cells, wide_first, epsilon))
        return high

    def _find_bracket(self, delta: float) -> tuple[float, float]:
        low, high = 0.0, self.pure_epsilon
        for cells in self._fineness():
            high = min(high, self._epsilon_above(cells, delta))
            for wide_first in self._directions:
                if high - low > _FINE_ENOUGH * high:
                    low = max(low, self._epsilon_below(cells, wide_first, delta, high))
            if high - low <= _FINE_ENOUGH * high:
                break
        return min(low, high), high

    def _epsilon_above(self, cells: int, delta: float) -> float:
        high = 0.0
        for wide_first in self._directions:
            # Narrow to wide is nearly always the worse direction, so the other one is only checked.
            if high > 0.0 and self._delta_above(cells, wide_first, high) <= delta:
                continue
            law = upper_law(self._grid(cells), wide_first=wide_first)
            composed = tilted_sum(law, self.size, tilt_for_delta(law, self.size, delta))
            high = max(high, composed.epsilon_above(delta, self._top(wide_first)))
        return high

    def _epsilon_below(self, cells: int, wide_first: bool, delta: float, high: float) -> float:
        law = lower_law(self._grid(cells), wide_first=wide_first)
        if law is None:
            return 0.0
        composed = tilted_sum(law, self.size, tilt_for_delta(law, self.size, delta))
        return composed.epsilon_below(delta, min(high, self._top(wide_first)))

    def _delta_above(self, cells: int, wide_first: bool, epsilon: float) -> float:
        if epsilon >= self._top(wide_first):
            return 0.0
        bound = self._log_delta(upper_law(self._grid(cells), wide_first=wide_first), epsilon, upper=True)
        # A δ too small for a float is rounded up to the smallest one, never to 0.
        return max(math.exp(min(bound, 0.0)), math.ulp(0.0))

    def _delta_below(self, cells: int, wide_first: bool, epsilon: float) -> float:
        law = lower_law(self._grid(cells), wide_first=wide_first)
        if law is None or epsilon >= self._top(wide_first):
            return 0.0
        return math.exp(min(self._log_delta(law, epsilon, upper=False), 0.0))

    def _log_delta(self, law: LatticeLaw, epsilon: float, *, upper: bool) -> float:
        composed = tilted_sum(law, self.size, tilt_for_epsilon(law, self.size, epsilon))
        return composed.log_delta(epsilon, upper=upper)

    def _top(self, wide_first: bool) -> float:
        """The greatest loss: size·τ from narrow to wide, size·ln ρ = size·pτ from wide to narrow."""
        return self.pure_epsilon * (self.p * _UP if wide_first else 1.0)

    def _fineness(self) -> Iterator[int]:
        """Numbers of cells to try, coarse to fine.

        The loss has a range of (1 + p) τ and a deviation near pτ (times sqrt(I), between 0.7 and 1). The sum of r has
        a deviation sqrt(r) times that, and the transform spans 18 of them.
        """
        if self._shift < _LEAST_SHIFT:
            return
        deviations = (1.0 + self.p) / self.p
        most = min(_MOST_CELLS, _MOST_POINTS / (18.0 * math.sqrt(self.size)) * deviations)
        tried = 0
        for refinement in range(_REFINEMENTS + 1):
            wanted = max(_FINENESS * deviations, _LEAST_CELLS / math.sqrt(self.size)) * 4.0**refinement
            cells = max(math.floor(min(wanted, most)), 4)
            if cells > tried:
                yield cells
            tried = cells

    def _grid(self, cells: int) -> LossCells:
        if cells not in self._grids:
            self._grids[cells] = loss_cells(self.p, self._shift, cells)
        return self._grids[cells]
