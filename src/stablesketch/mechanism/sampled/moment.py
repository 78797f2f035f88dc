"""Bare entries of a sample: the floor that is still needed, the expected bias, and a comparison without sampling.

A sampled plan is made from the plan of the same size without sampling, and compared with it. Its (ε, δ) is that of
privacy/sampling.py, never the paper's. The bias depends on how often keys occur: see privacy/sample_moment.py. The
predicted bias is for a stream of the promised length with F_p = `expected` in which all keys occur equally often.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...errors import ArgumentError, LedgerError, PlanInfeasible
from ...numbers.search import least_between
from ...plan.asked import Asked
from ...plan.mechanism import Row
from ...plan.phantoms import Phantoms
from ...plan.plan import Plan, Sampled, altered
from ...privacy import PrivacyCurve
from ...privacy.charge import Charge
from ...privacy.neighbours import log_sensitivity
from ...privacy.precision import rounding_delta
from ...privacy.sample_moment import expected_power
from ...privacy.sampling import SampledCurve, Sampling, sample_log_rho
from ...text.wording import arg, stat
from ..bare.floor import largest_log_rho
from ..bare.moment import BareMoment, short_error
from ..bare.plan import bare_plan
from .state import SampledState

_CLOSE = 0.01
_FRAME_BYTES = 58  # approximate size of the frame of each sketch of one entry
_LEAST_EPSILON = 1e-9  # of the bound for sampling


class SampledMoment(BareMoment):
    """Bare entries of a sample. The bound of privacy/sampling.py is an (ε, δ), and is composed as one."""

    state = SampledState
    samples = True
    measures = "a moment"
    example = stat("Moment", ...)
    folds = False

    def plan(self, asked: Asked) -> Plan:
        statistic, privacy, sampling = asked.statistic, asked.privacy, asked.sampling
        assert sampling is not None
        if privacy.unit == "key":
            raise ArgumentError(
                "sampling", sampling.rate, f"cannot be used with {arg('unit', 'key')}, for which nothing is proved",
                "Leave it out",
            )  # fmt: skip
        base = bare_plan(asked)
        bare = PrivacyCurve.from_log(statistic.p, base.size, min(log_sensitivity(statistic.p, privacy), 700.0))
        return _sampled_plan(base, sampling, bare.epsilon(privacy.delta))

    def named(self, plan: Plan) -> str:
        """Says that the release was sampled, because this makes it biased."""
        assert plan.sampled is not None
        sampling = plan.sampled.sampling
        return f"sketch, {100 * sampling.rate:g}% sampled per {sampling.per}"

    def cost(self, plan: Plan) -> Charge:
        """The ε of the plan, checked."""
        assert plan.sampled is not None
        floor = plan.floor * (1.0 - 1e-12)
        curve = SampledCurve(plan.statistic.p, plan.size, plan.privacy, plan.sampled.sampling, floor)
        if curve.delta(plan.epsilon) + rounding_delta(plan.epsilon, plan.step) > plan.delta * (1.0 + 1e-9):
            raise LedgerError(
                f"the plan claims ε = {plan.epsilon:.6g} at δ = {plan.delta:.3g}, which its size, floor and sampling "
                "do not support. Make the plan again with ss.plan."
            )
        return Charge("other", epsilon=plan.epsilon, delta=plan.delta)

    def methods(self, plan: Plan) -> list[str]:
        assert plan.sampled is not None
        rate = plan.sampled.sampling.rate
        kept = f"Every pair was kept with a probability of {rate:g}, which makes the value biased."
        return [kept, *super().methods(plan)]

    def claimed_curve(self, plan: Plan, share: float = 1.0) -> Callable[[float], float]:
        """For a weaker claim, the loss itself is scaled down. δ grows by at most e^x - 1 when ε falls by x."""
        assert plan.sampled is not None
        bound = SampledCurve(plan.statistic.p, plan.size, plan.privacy, plan.sampled.sampling, plan.floor)

        def delta(epsilon: float) -> float:
            least = max(epsilon / share, _LEAST_EPSILON)
            return min(1.0, bound.delta(least) + 2.0 * (least - epsilon / share) + rounding_delta(epsilon, plan.step))

        return delta

    def rows(self, plan: Plan) -> list[Row]:
        """How it samples, the bias in its error, and whether a floor alone, or neither, would be better."""
        sampled = plan.sampled
        assert sampled is not None
        once = "once for all entries" if sampled.sampling.per == "pair" else "separately for each entry"
        bias = f"; bias {100 * sampled.bias:.3g}% if all keys occur equally often" if plan.relative else ""
        floor = f"a floor of {sampled.unsampled_floor:,.4g}" if sampled.unsampled_floor else "no floor needed"
        better = "as good, and unbiased" if sampled.unsampled_error <= 1.05 * plan.error else "worse"
        if sampled.unsampled_error < 0.95 * plan.error:
            better = "better, so leave out sampling"
        bare = f"ε = {sampled.bare_epsilon:.4g}" if sampled.bare_epsilon < 1000.0 else "no meaningful guarantee"
        return [
            *super().rows(plan),
            ("sampling", f"{100 * sampled.sampling.rate:g}% of pairs, {once}{bias}"),
            ("without sampling", f"{floor}, error {short_error(sampled.unsampled_error, plan)}: {better}"),
            ("with neither", bare),
        ]


def _sampled_plan(base: Plan, sampling: Sampling, bare_epsilon: float) -> Plan:
    """The plan of the same size with sampling: the least floor, if any, at which the certified bound gives (ε, δ)."""
    p, privacy, size = base.statistic.p, base.privacy, base.size
    if base.deletes:
        raise ArgumentError(
            "deletes", True, "cannot be used with sampling",
            "Leave out one of them",
            because="a delete cannot know whether its pair was kept",
        )  # fmt: skip
    curve_delta = privacy.delta - rounding_delta(privacy.epsilon, base.step)

    def reaches(mass: float) -> bool:
        return SampledCurve(p, size, privacy, sampling, mass).delta(privacy.epsilon) <= curve_delta

    phantoms = Phantoms.affordable(p, _least_floor(base, reaches, curve_delta))
    mass = phantoms.mass(p)
    curve = SampledCurve(p, size, privacy, sampling, mass * (1.0 - 1e-12))
    if curve.delta(privacy.epsilon) > curve_delta:
        raise PlanInfeasible(
            "the computed floor does not give the requested privacy. This is a bug: please report the call."
        )
    left, bias = _left(base, sampling.rate)
    # base.error is spread · (1 + Λ/F), so this is the spread alone.
    spread = base.error / (1.0 + base.floor / base.expected) if base.relative else base.error / max(base.floor, 1e-300)
    scale = sampling.rate**p
    if base.relative:
        noise = spread * (left + mass) / (scale * base.expected)
        sample = math.sqrt((1.0 - sampling.rate) * privacy.max_value**p * left) / (scale * base.expected)
        error = math.sqrt(noise**2 + sample**2 + bias**2)
    else:
        error = spread * mass / scale
    return altered(
        base,
        phantoms=phantoms,
        epsilon=min(curve.epsilon(curve_delta), privacy.epsilon),
        pure_epsilon=_pure_epsilon(base, mass),
        error=error,
        bytes=base.bytes + (_FRAME_BYTES * size if sampling.per == "entry" else 0),
        sampled=Sampled(sampling, bias, base.error, base.floor, bare_epsilon),
    )


def _least_floor(base: Plan, reaches: Callable[[float], bool], curve_delta: float) -> float:
    """The least floor with which the bound gives (ε, δ), within 1% and rounded up; 0 if none is needed."""
    if reaches(0.0):
        return 0.0
    p, privacy = base.statistic.p, base.privacy
    log_rho = largest_log_rho(p, base.size, privacy.epsilon, curve_delta)
    # With this floor the entries of any sample, even an empty one, give (ε, δ) by themselves.
    high = privacy.pairs_per_person * math.pow(privacy.max_value, p) / math.expm1(log_rho) * (1.0 + 1e-9)
    while not reaches(high):
        high *= 1.25
    return least_between(reaches, 0.0, high, _CLOSE)


def _left(base: Plan, rate: float) -> tuple[float, float]:
    """(the expected F_p of the sample, the relative bias of the estimate), if all keys occur equally often.

    n pairs on m equally common keys have F_p = m^{1-p} n^p. If nothing is known about n, it takes the worst case: every
    key occurs once.
    """
    p, pairs, expected = base.statistic.p, base.privacy.pairs, base.expected
    if not base.relative:
        return 0.0, rate ** (1.0 - p) - 1.0 if p < 1.0 else 0.0
    if p == 1.0:
        return rate * expected, 0.0
    times = 1.0
    if pairs:
        log_keys = (math.log(expected) - p * math.log(pairs)) / (1.0 - p)
        times = max(1.0, pairs / math.exp(min(log_keys, 700.0)))
    factor = expected_power(round(times), rate, p) / (rate * round(times)) ** p
    return factor * rate**p * expected, factor - 1.0


def _pure_epsilon(base: Plan, floor: float) -> float:
    """(size/p) ln ρ of an empty sample: given which other pairs are kept, both neighbours are mixtures with equal
    weights.

    Infinite under add_remove without a floor, because an empty sample leaves entries that are exactly 0.
    """
    p, privacy = base.statistic.p, base.privacy
    return base.size / p * sample_log_rho(p, privacy, privacy.relation, 0, floor) * (1.0 + 1e-12)
