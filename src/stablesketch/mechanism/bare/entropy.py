"""Shannon's entropy by bare entries: a sketch of the skewed law, whose estimated location is rounded to a grid.

There is no floor, so privacy limits the number of entries.

The entries are R - H, a location family (law/skewed.py). Neighbours move them by at most Δ = sup|ΔH|
(privacy/entropy/neighbours.py); the fewer the entries, the better they hide it. The error is about 1.70/sqrt(size) for
any stream. So (ε, δ) allows a size that grows as 1/Δ², and Δ falls roughly as ln n/n times the largest value. A stream
that is too short for five entries cannot be released this way, and the plan says so.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace

from ...errors import PlanInfeasible
from ...numbers.arrays import Array
from ...plan.arguments import LARGEST_SIZE, LEAST_SIZE
from ...plan.asked import HEADER_BYTES, Asked
from ...plan.in_words import instead_of
from ...plan.plan import Plan
from ...privacy import Privacy
from ...privacy.charge import Charge
from ...privacy.entries.shift_curve import ShiftCurve
from ...privacy.entropy.neighbours import entropy_sensitivity
from ...privacy.precision import ENTROPY_ERROR, entropy_is_covered, rounding_delta
from ...sketch.entropy_sketch import EntropySketch
from ...sketch.entry_values import entry_bytes
from ...sketch.estimators.entropy import entropy_deviation, entropy_estimate, entropy_pivot
from ...sketch.estimators.pivot import PivotLaw
from ...statistic import Shannon, Statistic
from ...text.wording import arg, stat
from ..entropy.noise import exact_entropy_deviation
from ..shared.belief import Belief
from .floor import Grid, gaussian_guide
from .moment import Bare, BareState
from .plan import LARGEST_EPSILON, one_group


class BareEntropyState(BareState):
    """Like `BareState`, but the entries are divided by the exact total before anything is computed from them."""

    law = "entropy"

    def _check_precision(self) -> None:
        # Uses the largest possible total: the total itself is private.
        if not entropy_is_covered(self.pairs, self.pairs * self._plan.privacy.max_value):
            raise PlanInfeasible(
                "the stream is too long for the δ of the plan: the largest entries would be cut off too often. Release "
                "parts of it."
            )

    def _shorter(self) -> str:
        if self._plan.privacy.relation == "replace":
            return super()._shorter()
        return (
            f"plan with a smaller {arg('pairs')}, or with {arg('pairs', 0)} and "
            f"{stat('Renyi', 0.9)}, which is safe for streams of any length"
        )

    def _pivot(self) -> PivotLaw:
        return entropy_pivot(self._plan.size)

    def measure(self, confidence: float) -> Belief:
        """g (k + 1/2 - u), k = floor(H/g + u) for the estimate H: H plus an independent uniform number.

        Estimate and entropy differ by a pivot whose law depends only on the size and g.
        """
        plan, pivot = self._plan, self._pivot()
        assert isinstance(self._sketch, EntropySketch)
        rounded = self._rounded(float(entropy_estimate(self._sketch.locations())))
        below, above = pivot.limits(confidence, plan.step)

        def quantiles(probability: Array) -> Array:
            return rounded - pivot.quantiles(1.0 - probability, plan.step)

        return Belief(rounded, rounded - above, rounded - below, quantiles).within(*plan.range(self.pairs))


class BareEntropy(Bare):
    """There is no floor, so privacy limits the number of entries."""

    state = BareEntropyState
    numerical_error = ENTROPY_ERROR

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Shannon) and name == "bare"

    def reaching(self, asked: Asked) -> Plan:
        """By the given size, memory or error; by default, as close to the usual error as ε allows."""
        privacy = asked.privacy
        one_group(privacy)
        shift = entropy_sensitivity(privacy, privacy.total or None)
        if asked.one_size is not None or asked.memory is not None:
            size = asked.size_within(_entry_bytes(privacy))
            if not _allows(size, shift, privacy):
                raise _refused(asked, shift, f"{size} entries")
            return _plan(asked, shift, size)
        needed = _size_for(asked.aim, privacy)
        if needed <= LARGEST_SIZE and _allows(needed, shift, privacy):
            return _plan(asked, shift, needed)
        if not asked.free_error:
            raise _refused(asked, shift, f"an error of {asked.error:g}")
        size = _largest_size(shift, privacy)
        if not size:
            raise _refused(asked, shift, f"even {LEAST_SIZE} entries, the minimum,")
        return _plan(asked, shift, size)

    def cost(self, plan: Plan) -> Charge:
        gap = 0.5 * rounding_delta(0.0, plan.step, ENTROPY_ERROR)
        shift = entropy_sensitivity(plan.privacy, plan.privacy.total or None)
        return Charge("shift", size=plan.size, log_rho=shift, gap=gap, epsilon=plan.epsilon, delta=plan.delta)

    def methods(self, plan: Plan) -> list[str]:
        return [
            f"The stream was folded into {plan.size:,} numbers, each a sum of the totals of all keys with secret "
            "random weights of the skewed stable law of order 1. No key was stored. Divided by the total, each is "
            "noise from a known law minus the entropy.",
            "No phantom keys were needed: the stream is long enough for this many numbers.",
        ]


def _plan(asked: Asked, shift: float, size: int) -> Plan:
    privacy = asked.privacy
    grid, curve = _grid(size, privacy), ShiftCurve(size, shift)
    assert grid.curve_delta is not None  # this size is allowed
    return Plan(
        asked,
        "bare",
        # There is no pure ε: the right tail of R is lighter than any exponential.
        epsilon=min(curve.epsilon(grid.curve_delta), privacy.epsilon),
        delta=privacy.delta,
        error=_spread(grid),
        relative=False,
        exact_error=exact_entropy_deviation(privacy),
        size=size,
        step=grid.step,
        bytes=HEADER_BYTES + math.ceil(size * _entry_bytes(privacy)),
    )


def _grid(size: int, privacy: Privacy) -> Grid:
    return Grid.of(entropy_deviation(size), privacy, ENTROPY_ERROR)


def _spread(grid: Grid) -> float:
    """The deviation including the rounding, which moves H by an independent uniform number between -g/2 and g/2."""
    return math.sqrt(grid.deviation**2 + grid.step**2 / 12.0)


def _allows(size: int, shift: float, privacy: Privacy) -> bool:
    left = _grid(size, privacy).curve_delta
    return left is not None and math.isfinite(shift) and ShiftCurve(size, shift).delta(privacy.epsilon) <= left


def _size_for(error: float, privacy: Privacy) -> int:
    sizes = range(LARGEST_SIZE + 1)
    return bisect_left(sizes, True, LEAST_SIZE, key=lambda size: _spread(_grid(size, privacy)) <= error)


def _largest_size(shift: float, privacy: Privacy) -> int:
    """The largest number of entries that the privacy allows, within 1%; 0 if not even the minimum."""
    if not _allows(LEAST_SIZE, shift, privacy):
        return 0
    low, high = LEAST_SIZE, LEAST_SIZE
    while high < LARGEST_SIZE and _allows(high, shift, privacy):
        low, high = high, min(2 * high, LARGEST_SIZE)
    if low == high or _allows(high, shift, privacy):
        return high
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (middle, high) if _allows(middle, shift, privacy) else (low, middle)
    return low


def _refused(asked: Asked, shift: float, what: str) -> PlanInfeasible:
    """The error that says what would work: a smaller size, a larger ε, a promise of more pairs, or a statistic with a
    floor.
    """
    privacy, ways, size = asked.privacy, [], 0
    if math.isfinite(shift) and asked.measurement.of is None:  # callers cannot choose the size or ε of one of several
        size = _largest_size(shift, privacy)
        if size:
            ways.append(f"{_only(asked)}{arg('size', size)}, whose error is {_spread(_grid(size, privacy)):.2g} nats")
        else:
            enough = float(f"{1.1 * ShiftCurve(LEAST_SIZE, shift).epsilon(0.2 * privacy.delta):.2g}")
            if enough <= LARGEST_EPSILON and _allows(LEAST_SIZE, shift, replace(privacy, epsilon=enough)):
                ways.append(arg("epsilon", enough))
    pairs = 0 if size else _enough_pairs(privacy)
    # Under replace the number of pairs is fixed; a promise helps only if none was made.
    promises = privacy.relation == "add_remove" or not privacy.pairs
    if pairs and promises:
        ways.append(f"{arg('pairs', pairs)}, if public knowledge promises at least that many")
    ways.append(f"{arg('mechanism', 'exact')}, which needs no promise and holds all keys in memory")
    ways.append(f"{instead_of(asked.measurement.of or Shannon(), Shannon())}, which needs no promise either")
    number = "any number of" if not privacy.pairs else f"at least {privacy.pairs:,}"
    return PlanInfeasible(
        f"a bare sketch of Shannon's entropy cannot have {what} at ε = {privacy.epsilon:.3g}, δ = {privacy.delta:.3g}: "
        f"among {number} pairs with values up to {privacy.max_value:,}, one person can change it by more than ε "
        "and δ can hide. "
        + (f"It needs {pairs:,} pairs or more. " if pairs and not promises else "")
        + ", or ".join([f"Pass {ways[0]}".replace("Pass Leave", "Leave"), *ways[1:]])
        + "."
    )


def _only(asked: Asked) -> str:
    """What cannot be passed together with a size."""
    given = ((arg("error"), asked.error), (arg("memory"), asked.memory))
    return "".join(f"Leave out {name} and pass " for name, value in given if value is not None)


def _enough_pairs(privacy: Privacy) -> int:
    """A round number of pairs that is enough to release the minimum number of entries; 0 if none below 10^12 is."""
    most = 1.5 * gaussian_guide(privacy.epsilon, privacy.delta) * entropy_deviation(LEAST_SIZE)  # a guide only
    for pairs in (digit * int(10**power) for power in range(12) for digit in (1, 2, 5)):
        if pairs > privacy.pairs:
            shift = entropy_sensitivity(replace(privacy, pairs=pairs), privacy.total or None)
            if shift <= most and _allows(LEAST_SIZE, shift, privacy):
                return pairs
    return 0


def _entry_bytes(privacy: Privacy) -> float:
    """An entry is a sum of f R, about as large as the total: at most pairs times the largest value."""
    return entry_bytes(1.0, float(max(privacy.pairs, 1)) * privacy.max_value)
