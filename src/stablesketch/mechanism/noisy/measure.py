"""What a sketch with noise measures, by its order: F_p itself below 1, the norm F_p^{1/p} above.

Each is an estimate X ξ plus Laplace noise, where ξ is independent of the stream. They differ in the law of ξ, in how
much a neighbour can change X, and in the cost of finite precision. Everything here is a function of public numbers.

With buckets, X_hat is the sum of their estimates, X_b ξ_b. Its interval needs ‖X_hat‖_2, which changes by no more than
X_hat and is released with it: noise b_T on one and b_2 on the other are as private as b alone, 1/b = 1/b_T + 1/b_2
(docs/math-buckets.md). The second needs little, and gets a 32nd of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from ...errors import ArgumentError, PlanInfeasible
from ...plan.plan import Plan
from ...privacy import Privacy
from ...privacy.estimate_precision import precision_of, usual_cap
from ...privacy.noisy_estimate import NoisyEstimate, Precision
from ...privacy.noisy_norm import NoisyNorm, most_keys, norm_precision, usual_norm_cap
from ...sketch.estimators.norm import norm_law
from ...sketch.estimators.norm import size_for as norm_size_for
from ...sketch.estimators.power_sum import power_sum
from ...sketch.estimators.power_sum import size_for as power_size_for
from ...text.wording import arg
from ..shared.layout import Layout, layout_of

_TOO_MANY = 1 << 31
_ENOUGH = 2e3  # times the δ that failures take, for plans of many measurements too
_LEAST_KEYS = 2**32  # real streams might have more keys than a smaller limit
_GRID = 2.0**-10  # the step of the grid is at most this part of the noise, and of the noise times ε
_ROOM = 16.0  # an estimate is never cut below this many times the expected value
# The part of δ that failures of the computation may take. Between orders 1 and 2, errors are smaller the more may fail;
# at an eighth the noise is close to its least.
_SHARE_BELOW_TWO, _SHARE_OF_TWO = 1.0 / 8.0, 2.0**-9
_SPREAD_SHARE = 2.0**-5  # the part of the budget for ‖X_hat‖_2: b/b_2
_SPREAD_STEP = 16.0  # the grid of ‖X_hat‖_2, in steps of that of X_hat; relative to its noise (31 b_T) it is finer


@dataclass(frozen=True)
class Noise:
    """b, the step of the grid h and the cap, in units of what is measured; `precision` in units of Δ and b."""

    scale: float
    step: float
    cap: float
    precision: Precision


@dataclass(frozen=True)
class _Power:
    """F_p of an order below 1, from one-sided entries."""

    p: float

    def change(self, privacy: Privacy) -> float:
        """Δ: how much what is measured can differ between neighbours, under either relation; rounded up."""
        return privacy.pairs_per_person * math.pow(privacy.max_value, self.p) * (1.0 + 1e-15)

    def of_moment(self, moment: float) -> float:
        """What is measured if F_p has this value."""
        return moment

    def relative_error(self, size: int) -> float:
        """The relative error of F_p from this many entries, without noise, if every key touches all of them."""
        return math.sqrt(power_sum(self.p, size).relative_variance)

    def size_for(self, error: float) -> int:
        """The fewest entries with at most this relative error of F_p, without noise."""
        return power_size_for(self.p, error)

    def cap(self, layout: Layout, privacy: Privacy, expected: float) -> float:
        """Where an estimate is cut, in units of Δ: at the usual place, or with room for the expected F_p."""
        change, copies = self._change(privacy), privacy.copies
        try:
            usual = usual_cap(self.p, layout.per_key, change, privacy.delta, copies, layout.buckets, layout.norm_share)
        except ArgumentError:
            failures = self.precision(layout, privacy, 0.0, 1.0).failures
            raise PlanInfeasible(
                f"δ = {privacy.delta:g} is below the probability that the computation fails. Pass "
                f"{arg('delta', float(f'{_ENOUGH * failures:.1g}'))}, or {arg('mechanism', 'exact')}, which has δ = 0."
            ) from None
        return max(usual, _power_above(_ROOM * expected / change))

    def precision(self, layout: Layout, privacy: Privacy, grid: float, cap: float) -> Precision:
        """The cost of finite precision with this grid (in units of the noise on X_hat) and this cap."""
        return precision_of(
            self.p, layout.per_key, cap, grid, self._change(privacy), privacy.copies, layout.buckets, layout.norm_share
        )

    def _change(self, privacy: Privacy) -> float:
        """Δ up to rounding, which does not matter for the cost of finite precision."""
        return privacy.pairs_per_person * math.pow(privacy.max_value, self.p)

    def estimate(self, size: int, copies: int) -> NoisyEstimate:
        """The law of the largest of this many ξ, for the certified noise."""
        return NoisyEstimate(self.p, size, copies)


@dataclass(frozen=True)
class _Norm:
    """The norm of an order above 1, from symmetric entries. Its methods mean what those of `_Power` do."""

    p: float

    def change(self, privacy: Privacy) -> float:
        return float(privacy.pairs_per_person) * privacy.max_value * (1.0 + 1e-15)

    def of_moment(self, moment: float) -> float:
        return math.pow(moment, 1.0 / self.p)

    def relative_error(self, size: int) -> float:
        return self.p * math.sqrt(norm_law(self.p, size).relative_variance)

    def size_for(self, error: float) -> int:
        try:
            return norm_size_for(self.p, error)
        except ArgumentError:
            return _TOO_MANY  # near order 1, a Hill number would need millions

    def cap(self, layout: Layout, privacy: Privacy, expected: float) -> float:
        usual = usual_norm_cap(self.p, layout.size, self._failure(privacy), privacy.copies)
        return max(usual, _power_above(_ROOM * self.of_moment(expected) / self.change(privacy)))

    def precision(self, layout: Layout, privacy: Privacy, grid: float, cap: float) -> Precision:
        size = layout.size
        change, keys = self.change(privacy), most_keys_of(self.p, size, privacy)
        failure = self._failure(privacy)
        found = norm_precision(self.p, size, cap * change, sensitivity=change, grid=grid, failure=failure, keys=keys)
        return replace(found, outputs=privacy.copies)

    def _failure(self, privacy: Privacy) -> float:
        """π of one output (2π is charged), without the part that grows with the number of keys."""
        if self.p == 2.0:
            return min(1e-13, 0.5 * _SHARE_OF_TWO * privacy.delta / privacy.copies)
        return 0.5 * _SHARE_BELOW_TWO * privacy.delta / privacy.copies

    def estimate(self, size: int, copies: int) -> NoisyNorm:
        return NoisyNorm(self.p, size, copies)


def most_keys_of(p: float, size: int, privacy: Privacy) -> float:
    """The largest number of keys for which a norm is as private as planned: a public limit on its streams."""
    return most_keys(p, size, privacy.delta, privacy.copies)


def measure_of(p: float) -> _Power | _Norm:
    """The measure of an order from 0.05 to 2, except 1, where a counter is enough."""
    return _Power(p) if p < 1.0 else _Norm(p)


def noise_of_plan(p: float, layout: Layout, privacy: Privacy, expected: float) -> Noise:
    """The least certified noise with which an estimate from these entries is as private as requested."""
    measure, copies = measure_of(p), layout.changed(privacy)
    grid = _GRID * min(1.0, privacy.epsilon) / privacy.copies  # every group that changes is rounded separately
    if p > 1.0 and most_keys_of(p, layout.size, privacy) < _LEAST_KEYS:
        raise PlanInfeasible(
            f"δ = {privacy.delta:g} covers fewer than {_LEAST_KEYS:,} keys in {layout.size:,} entries of order {p:g}. "
            f"Pass a larger delta, or {arg('size')} with fewer entries, or leave out {arg('size')} and {arg('memory')} "
            f"and pass {arg('mechanism', 'exact')}."
        )
    precision = measure.precision(layout, privacy, grid, measure.cap(layout, privacy, expected))
    if precision.failures > 0.5 * privacy.delta:
        raise PlanInfeasible(
            f"with numbers as large as {expected:,.3g}, the computation fails more often than δ = {privacy.delta:g} "
            f"allows. Pass {arg('delta', float(f'{4.0 * precision.failures:.2g}'))} or more, or a smaller "
            f"{arg('expected')}."
        )
    ratio = _ratio(p, layout.per_key, privacy.epsilon, privacy.delta, copies, precision)
    change = measure.change(privacy)
    scale = ratio * change * (1.0 + 1e-12) / _share_of_sum(layout)
    return Noise(scale, 2.0 ** math.floor(math.log2(scale * grid)), precision.cap * change, precision)


@lru_cache(maxsize=1024)
def _ratio(p: float, size: int, epsilon: float, delta: float, copies: int, precision: Precision) -> float:
    """b/Δ."""
    return measure_of(p).estimate(size, copies).noise(epsilon, delta, precision)


def _share_of_sum(layout: Layout) -> float:
    """b/b_T: the part of the budget for the sum."""
    return 1.0 if layout.buckets == 1 else 1.0 - _SPREAD_SHARE


def spread_noise(plan: Plan) -> tuple[float, float, float]:
    """b_2, the step of the grid of ‖X_hat‖_2, and its cap, for plans with buckets."""
    scale = plan.noise * (1.0 - _SPREAD_SHARE) / _SPREAD_SHARE
    return scale, plan.step * _SPREAD_STEP, plan.cap * layout_of(plan).norm_share


@dataclass(frozen=True)
class Released:
    """What the privacy of a release depends on: b in units of Δ, for everything that is released together."""

    entries: int
    copies: int
    noise: float
    precision: Precision


def entries_error(p: float, layout: Layout) -> float:
    """The relative error of F_p from entries in this layout, without noise, if no key dominates."""
    return measure_of(p).relative_error(layout.per_key) / math.sqrt(layout.buckets)


def released_by(plan: Plan) -> Released:
    """What a plan of a moment releases, computed from its noise, grid and cap, not from what it claims."""
    measure, layout, privacy = measure_of(plan.statistic.p), layout_of(plan), plan.privacy
    change = measure.change(privacy)
    # The grid of ‖X_hat‖_2 is finer, in units of its noise.
    precision = measure.precision(layout, privacy, plan.step / plan.noise, plan.cap / change)
    noise = plan.noise * _share_of_sum(layout) / change * (1.0 - 1e-12)
    return Released(layout.per_key, layout.changed(privacy), noise, precision)


def _power_above(value: float) -> float:
    return 2.0 ** math.ceil(math.log2(value)) if value > 0.0 else 0.0
