"""Plans with sub-sampling: the floor that is still needed, the bias to expect, and what would do without.

A sampled plan is made from the plan of the same size without sampling, whose error it is then compared with. Its (ε, δ)
is that of privacy/sampling.py, never the paper's. The bias depends on how often keys are seen: see
privacy/sample_moment.py. What is predicted is that of a stream of the promised length with F_p = `expected` whose keys
are all seen equally often.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, PlanInfeasible
from ..privacy.precision import rounding_delta
from ..privacy.sample_moment import expected_power
from ..privacy.sampling import SampledCurve, Sampling, sample_log_rho
from .phantoms import Phantoms
from .sizing import largest_log_rho

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["Sampled", "sampled_plan"]

_CLOSE = 0.01
_FRAME_BYTES = 58  # of each of the sketches of one entry, about


@dataclass(frozen=True)
class Sampled:
    """How a plan samples, the relative bias to expect, and the same size without sampling, to compare with.

    `unsampled_error` and `unsampled_floor` are those of the plan that reaches the same (ε, δ) by a floor alone;
    `bare_epsilon` is the ε that the entries would have with neither.
    """

    sampling: Sampling
    bias: float
    unsampled_error: float
    unsampled_floor: float
    bare_epsilon: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sampled:
        """Reads what `to_dict` gave; anything else is a TypeError or an ArgumentError."""
        numbers = {name: data[name] for name in ("bias", "unsampled_error", "unsampled_floor", "bare_epsilon")}
        sound = all(type(value) is float and not math.isnan(value) for value in numbers.values())
        if set(data) != {"sampling", *numbers} or not sound:
            raise TypeError("not the fields of a sampled plan")
        return cls(Sampling(**data["sampling"]), **numbers)


def sampled_plan(base: Plan, sampling: Sampling, bare_epsilon: float) -> Plan:
    """The plan of the same size with sampling: the least floor, if any, at which the certified bound gives (ε, δ)."""
    p, privacy, size = base.statistic.p, base.privacy, base.size
    if base.deletes:
        raise ArgumentError(
            "deletes", True, "a delete cannot know whether what it undoes was kept", "Leave out sampling, or deletes"
        )
    curve_delta = privacy.delta - rounding_delta(privacy.epsilon, base.step)

    def reaches(mass: float) -> bool:
        return SampledCurve(p, size, privacy, sampling, mass).delta(privacy.epsilon) <= curve_delta

    phantoms = Phantoms.affordable(p, _least_floor(base, reaches, curve_delta))
    mass = phantoms.mass(p)
    curve = SampledCurve(p, size, privacy, sampling, mass * (1.0 - 1e-12))
    if curve.delta(privacy.epsilon) > curve_delta:
        raise PlanInfeasible("the floor found does not reach what was asked; this is a bug, please report the call.")
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
    return base.altered(
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
    # With this floor the entries of any sample, an empty one too, give (ε, δ) by themselves.
    high = privacy.pairs_per_person * math.pow(privacy.max_value, p) / math.expm1(log_rho) * (1.0 + 1e-9)
    while not reaches(high):
        high *= 1.25
    low = 0.0
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _left(base: Plan, rate: float) -> tuple[float, float]:
    """(the expected F_p of the sample, the relative bias of the estimate), all keys being seen equally often.

    n pairs on m keys seen equally often have F_p = m^{1-p} n^p. Where nothing is known of n, the worst: seen once.
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
    """(size/p) ln ρ of an empty sample: given what is kept of the rest, both neighbours are mixtures of equal weights.

    Infinite under add_remove without a floor, where an empty sample leaves entries that are exactly 0.
    """
    p, privacy = base.statistic.p, base.privacy
    return base.size / p * sample_log_rho(p, privacy, privacy.relation, 0, floor) * (1.0 + 1e-12)
