"""`audit`: runs the real release path on the worst neighbours of a plan and tests the whole claimed curve.

The worst neighbours are the two streams that attain the sensitivity (privacy/neighbours.py), so they are as easy to
tell apart as any: if their releases do not contradict the curve, no pair's would by more than sampling error. Where an
estimate gets noise, they are those whose own spread hides the difference least: the empty stream and c new keys. Every
number that is published is looked at (the value, its limits, the points of a profile), each alone and all of them
together. A release that is less private than claimed (a seed somebody knows, a floor left out, a wrong theorem) is
caught with the stated confidence if it is far enough from the claim, and the report says how far that is; a sound one
fails with probability at most 1 - confidence. Passing proves nothing, the proofs do that.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .collector import Collector
from .errors import ArgumentError, ArgumentTypeError
from .plan import Plan
from .plan.charge import charge_of
from .plan.noisy_measure import measure_of, released_by
from .privacy import PrivacyCurve
from .privacy.auditing import AuditReport, audit_samples
from .privacy.neighbours import worst_neighbours
from .privacy.precision import rounding_delta
from .privacy.sampling import SampledCurve
from .release import Release
from .statistic import Moment

__all__ = ["audit", "claimed_curve", "claimed_delta", "published", "worst_streams"]

Stream = tuple[NDArray[np.int64], NDArray[np.int64]]

_LEAST_EPSILON = 1e-9  # of the bound for sampling
_MOST_SHARED = 20_000_000  # pairs of one key per trial: more would make an audit take days


def audit(
    plan: Plan,
    trials: int = 3_000,
    *,
    confidence: float = 0.99,
    open_collector: Callable[[Plan], Collector] | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Tests the claim of `plan` on `trials` releases of each of its worst neighbours, both directions, δ(0) included.

    `open_collector` stands in for `plan.open`, to audit a collector that somebody made otherwise. With `progress` (by
    default on a terminal) a line on standard error shows how far it is.

    Raises:
        ArgumentError: too few trials, or worst neighbours too long to be streamed that often.
    """
    if not isinstance(plan, Plan):
        raise ArgumentTypeError("plan", plan, "it must be a Plan", "Pass what ss.plan(...) gives")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 100:
        raise ArgumentError("trials", trials, "an audit needs at least 100 trials", "Pass 3000 or more")
    streams = worst_streams(plan)
    opened = Plan.open if open_collector is None else open_collector
    shown = sys.stderr.isatty() if progress is None else progress
    began = time.monotonic()
    names: tuple[str, ...] = ()
    samples: tuple[list[list[float]], list[list[float]]] = ([], [])
    for trial in range(trials):
        for (keys, values), sample in zip(streams, samples, strict=True):
            collector = opened(plan)
            collector.update(keys, values)
            numbers = published(collector.release())
            names = tuple(numbers)
            sample.append(list(numbers.values()))
        if shown and (trial % 16 == 15 or trial + 1 == trials):
            left = (time.monotonic() - began) / (trial + 1) * (trials - trial - 1)
            end = "\n" if trial + 1 == trials else ""
            print(f"\raudit: {trial + 1:,} of {trials:,} trials, {left:.0f} s left   ", end=end, file=sys.stderr)
    return audit_samples(
        samples[0],
        samples[1],
        claimed_curve(plan),
        delta=plan.delta,
        confidence=confidence,
        names=names,
        weaker=lambda share: claimed_curve(plan, share),
    )


def published(release: Release) -> dict[str, float]:
    """Every number of a release that depends on the data, by name."""
    found = {"value": release.value, "low": release.low, "high": release.high}
    for point in release.points:
        at = f"order {point.order:g}"
        found |= {f"value at {at}": point.value, f"low at {at}": point.low, f"high at {at}": point.high}
        if point.band_low is not None and point.band_high is not None:
            found |= {f"band at {at}, low": point.band_low, f"band at {at}, high": point.band_high}
    return found


def claimed_delta(plan: Plan, epsilon: float) -> float:
    """The δ(ε) that a plan claims: the certified curve of its entries and what finite precision costs."""
    return claimed_curve(plan)(epsilon)


def claimed_curve(plan: Plan, share: float = 1.0) -> Callable[[float], float]:
    """The whole curve that a plan claims. With a `share` below 1, what could be claimed if neighbours differed by that
    much less: if ln ρ, or ε of the noise, were so many times what it is.
    """
    if plan.sampled is not None:
        bound = SampledCurve(plan.statistic.p, plan.size, plan.privacy, plan.sampled.sampling, plan.floor)

        def sampled(epsilon: float) -> float:
            # Of a weaker claim the loss itself is taken to be less. δ grows by at most e^x - 1 when ε falls by x.
            least = max(epsilon / share, _LEAST_EPSILON)
            return min(1.0, bound.delta(least) + 2.0 * (least - epsilon / share) + rounding_delta(epsilon, plan.step))

        return sampled
    if not isinstance(plan.statistic, Moment) or plan.mechanism == "exact":
        # The losses of all that is measured, composed; what is computed from it tells no more.
        charge = charge_of(plan)
        laws = (charge if share == 1.0 else charge.scaled(share)).laws(plan.privacy.relation)
        return lambda epsilon: min(1.0, max(law.delta(epsilon) for law in laws))
    if plan.mechanism == "sketch":
        return _noisy_curve(plan, share)
    worst = worst_neighbours(plan.statistic.p, plan.privacy, plan.floor)
    curve = PrivacyCurve.from_log(plan.statistic.p, plan.size, worst.log_rho * share)
    return lambda epsilon: min(1.0, curve.delta(epsilon) + rounding_delta(epsilon, plan.step))


def _noisy_curve(plan: Plan, share: float) -> Callable[[float], float]:
    """δ(ε) of an estimate with noise, certified (privacy/noisy_estimate.py), from the noise that the plan has.

    Where ε is below what finite precision shifts, δ at a larger ε serves: P - e^ε Q <= (P - e^x Q) + (e^x - e^ε) Q.
    """
    released = released_by(plan)
    estimate = measure_of(plan.statistic.p).estimate(released.entries, released.copies)
    noise, precision = released.noise / share, released.precision
    least = 2.0 * precision.shift(noise) + _LEAST_EPSILON

    def delta(epsilon: float) -> float:
        above = max(epsilon, least)
        rest = math.exp(epsilon) * math.expm1(above - epsilon) if epsilon < 700.0 else 0.0
        return min(1.0, estimate.delta(above, noise, precision) + rest)

    return delta


def _least_hidden(plan: Plan) -> int:
    """How many pairs neighbours have in common, all on one key, where the difference shows best: (F - F')/deviation.

    None, where pairs are added or removed. A replaced pair changes F by less if there is little it can be added to.
    Above order 1 it is the norm that has noise, and differs most where all pairs are of one key.
    """
    p, privacy = plan.statistic.p, plan.privacy
    count, most = privacy.pairs_per_person, privacy.max_value
    if privacy.relation == "add_remove" or privacy.unit == "key" or p > 1.0:
        return 0

    def shows(shared: int) -> float:
        one = math.pow(shared, p) + count * math.pow(most, p)
        other = math.pow(shared + count, p)
        relative = plan.error if not plan.expected else 0.0
        return (one - other) / math.hypot(math.sqrt(2.0) * plan.noise, relative * one)

    return max((0, *(1 << i for i in range(16))), key=shows)


def worst_streams(plan: Plan) -> tuple[Stream, Stream]:
    """The two neighbours that attain the sensitivity, as (keys, values): the larger F_p first.

    All that is shared is on one key, and what differs on new keys: that is the worst for moments (neighbours.py), for
    entropy where every pair counts 1 (entropy_neighbours.py), and changes the number of keys the most.
    """
    privacy = plan.privacy
    shared = max(privacy.pairs - (privacy.pairs_per_person if privacy.relation == "replace" else 0), 0)
    moments = [part for part in plan.parts or (plan,) if isinstance(part.statistic, Moment)]
    noisy = moments == [plan] and plan.mechanism == "sketch"
    if noisy:
        shared = _least_hidden(plan)
    elif moments and moments[0].mechanism == "bare":
        shared = worst_neighbours(moments[0].statistic.p, privacy, moments[0].floor).shared
    count, most = privacy.pairs_per_person, privacy.max_value
    own = privacy.unit == "key"  # every pair has a key of its own
    # Both streams keep the promised total, of pairs of value 1 where that is possible.
    needed = 0 if noisy else max(privacy.total - (count if privacy.relation == "replace" else 0), 0)
    shared = max(shared, -(-needed // most) if own else needed)
    if shared > _MOST_SHARED:
        raise ArgumentError(
            "plan", f"{shared:,} shared pairs", "its worst neighbours are too long to be streamed once a trial",
            f"Audit the same size and floor at pairs={_MOST_SHARED:,} or fewer",
        )  # fmt: skip
    common = -np.arange(1, shared + 1) if own else np.zeros(shared, dtype=np.int64)
    larger = np.concatenate([common, np.arange(1, count + 1)])
    shared_values = np.ones(shared, dtype=np.int64)
    if own and needed > shared:  # keys come once: what is missing is on as few of them as can hold it
        full, rest = divmod(needed - shared, most - 1)
        shared_values[:full] = most
        shared_values[full : full + 1] += rest
    larger_values = np.concatenate([shared_values, np.full(count, most)])
    more = count if privacy.relation == "replace" else 0
    smaller = np.concatenate([common, np.arange(1, more + 1) if own else np.zeros(more, dtype=np.int64)])
    smaller_values = np.concatenate([shared_values, np.ones(more, dtype=np.int64)])
    return (larger, larger_values), (smaller, smaller_values)
