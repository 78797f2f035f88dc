"""Plans of statistics that are computed from others: what is measured, and how ε and δ are divided.

Every part is planned for a share of ε and δ. At first the shares add up to ε and δ, which is private by basic
composition. Composing their privacy loss distributions (privacy/charge.py) may give less than ε. Then all shares are
raised by one factor, as long as the composed bound stays within (ε, δ). A part that needs no floor has a fixed cost;
what it leaves goes to the others.

The noise of N gets half of ε if values vary, because one value may outweigh the rest of the stream, and then the errors
of N and F_p are of the same order. If every pair counts 1, it gets a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ...errors import ArgumentError, PlanInfeasible
from ...plan.asked import HEADER_BYTES, Asked, Measurement
from ...plan.mechanism import charge_of, mechanism_for
from ...plan.plan import Accuracy, Cost, Numbers, Plan
from ...plan.planner import planned
from ...privacy import Privacy
from ...privacy.charge import Charge
from ...privacy.together import composed
from ...statistic import Shannon, Statistic, Total
from ...text.wording import arg, subject

_TOTAL_SHARE = {True: 0.5, False: 0.1}  # of ε, by whether values vary
_TRIALS = 8
_LONG = 2**40  # pairs
_WORST_ERROR = 0.5
_CLOSE = 0.98
_AIM = 0.99


def derived_plan(asked: Asked) -> Plan:
    """The plans of all parts, and their combined price."""
    statistic, privacy = asked.statistic, asked.privacy
    needs = statistic.needs(privacy)
    for name, each in (("size", asked.sizes), ("entries_per_key", asked.each_per_key)):
        if each and len(each) != len(needs):
            raise ArgumentError(
                name,
                each,
                f"must have one number for each of the {len(needs)} parts of {statistic}",
                "Pass one number for all parts, or one for each",
            )
    shares = _shares(needs, privacy)
    parts = _first_parts(statistic, needs, shares, privacy, asked)
    if len(parts) > 1 and (privacy.max_value > 1 or any(part.floor or part.noise for part in parts)):
        parts = _raised(parts, shares, privacy)
    error = combined(statistic, parts, (part.error for part in parts))
    if asked.error is not None and error > asked.error * (1.0 + 1e-9):
        raise _out_of_reach(statistic, privacy, asked, f"it would be {error:.3g}")
    several = len(parts) > 1
    delta = max(privacy.delta, *(part.delta for part in parts)) if several else parts[0].delta
    if all(part.delta == 0.0 for part in parts):
        delta = 0.0
    epsilon = composed_epsilon(parts, privacy.relation, delta) if several else parts[0].epsilon
    if epsilon > privacy.epsilon:
        raise PlanInfeasible("the shares add up to more than was asked for. This is a bug: please report the call.")
    return Plan(
        asked,
        asked.mechanism,
        Cost(epsilon, delta, math.fsum(part.pure_epsilon for part in parts)),
        Accuracy(
            error,
            statistic.relative and all(part.relative or not part.statistic.relative for part in parts),
            _expected(statistic, parts, privacy),
            combined(statistic, parts, (part.exact_error for part in parts), exact=True),
        ),
        Numbers(
            sum(part.size for part in parts),
            bytes=HEADER_BYTES + sum(max(part.bytes - HEADER_BYTES, 0) + HEADER_BYTES for part in parts),
        ),
        tuple(_decided(part) for part in parts),
    )


def _decided(part: Plan) -> Plan:
    """The plan with its own numbers as its question, so that planning it by itself gives the same plan."""
    return replace(part, asked=replace(part.asked.like(part), measurement=Measurement()))


def _shares(needs: Sequence[Statistic], privacy: Privacy) -> list[float]:
    """The shares of ε: they add up to 1 or slightly less, so that rounding cannot exceed it."""
    if len(needs) == 1:
        return [1.0]
    total = _TOTAL_SHARE[privacy.max_value > 1] if any(isinstance(each, Total) for each in needs) else 0.0
    others = sum(not isinstance(each, Total) for each in needs)
    whole = 1.0 - 1e-12
    return [whole * (total if isinstance(each, Total) else (1.0 - total) / others) for each in needs]


def _first_parts(
    statistic: Statistic, needs: Sequence[Statistic], shares: Sequence[float], privacy: Privacy, asked: Asked,
) -> list[Plan]:  # fmt: skip
    """Plans every part for its share: by its size, its part of the memory, or the error allowed for it."""
    count = sum(not isinstance(each, Total) for each in needs)
    room = 1.0
    one_per_key = None if asked.each_per_key else asked.one_per_key
    parts: dict[int, Plan] = {}
    # The error from the noise of N is known first; the other parts get the rest of the error.
    for i in sorted(range(len(needs)), key=lambda i: not isinstance(needs[i], Total)):
        each = needs[i]
        own = _own(privacy, shares[i], count)
        base = Asked(
            each,
            own,
            expected=_expected_part(statistic, each, asked, privacy),
            mechanism=asked.mechanism,
            deletes=asked.deletes,
            usual_memory=asked.usual_memory,
            entries_per_key=one_per_key if mechanism_for(each, asked.mechanism).in_buckets else None,
            measurement=Measurement(statistic, count),
        )
        if asked.sizes:
            per_key = asked.each_per_key[i] if asked.each_per_key else base.one_per_key or 0
            want = replace(base, size=(asked.sizes[i],), entries_per_key=(per_key,))
        elif isinstance(each, Total) or asked.mechanism == "exact":
            want = base
        elif asked.size is not None:
            want = replace(base, size=asked.size)
        elif asked.memory is not None:
            want = replace(base, memory=asked.memory // count, memory_as_given=asked.memory_as_given)
        elif asked.error is not None:
            want = replace(base, error=room * asked.error / statistic.factor(each))
        elif isinstance(each, Shannon) or asked.mechanism == "sketch":
            usual = Measurement(statistic, count, usual=True)
            want = replace(base, error=statistic.default_error / statistic.factor(each), measurement=usual)
        else:
            # An error that the caller did not ask for need not be reached: it only decides the number of entries.
            want = replace(base, size=_usual_size(each, statistic, privacy))
        try:
            parts[i] = planned(want)
        except (PlanInfeasible, ArgumentError) as error:
            # A part's advice about its own error or share of ε does not help the caller, who asks for the whole.
            if asked.error is not None and (isinstance(error, PlanInfeasible) or error.argument == "error"):
                raise _out_of_reach(statistic, privacy, asked, f"the error of {each} alone is larger") from None
            if own is privacy or not isinstance(error, PlanInfeasible):
                raise
            raise PlanInfeasible(
                f"{statistic}: this part gets {own.epsilon:.3g} of ε = {privacy.epsilon:g}, and {error.wording}"
            ) from None
        if isinstance(each, Total) and parts[i].relative:
            noise = statistic.factor(each) * parts[i].error / asked.error_or(statistic.default_error)
            room = math.sqrt(max(1.0 - noise**2, 0.1))
    return [parts[i] for i in range(len(needs))]


def _out_of_reach(statistic: Statistic, privacy: Privacy, asked: Asked, why: str) -> PlanInfeasible:
    return PlanInfeasible(
        f"the error of {statistic} cannot be {asked.error:g} with ε = {privacy.epsilon:g}"
        f", δ = {privacy.delta:g}: {why}. Leave out {arg('error')} for the usual "
        f"size, or pass a larger error, a larger ε, or a smaller {subject('max_value')}."
    )


def _usual_size(part: Statistic, statistic: Statistic, privacy: Privacy) -> int:
    """The size for the usual error in a stream long enough for noise not to matter.

    If finite precision does not allow that many entries, roughly the largest number that it allows.
    """
    long = Privacy(privacy.epsilon, privacy.delta, pairs=_LONG, relation="replace")
    error = statistic.default_error / statistic.factor(part)
    while True:
        try:
            return planned(Asked(part, long, error=error, mechanism="bare")).size
        except PlanInfeasible:
            if error > _WORST_ERROR:
                raise
            error *= 1.2


def _own(privacy: Privacy, share: float, count: int, factor: float = 1.0) -> Privacy:
    if share == 1.0:
        return privacy
    epsilon = min(privacy.epsilon * share * factor, privacy.epsilon)
    return replace(privacy, epsilon=epsilon, delta=privacy.delta / count * (1.0 - 1e-12))


def _raised(parts: list[Plan], shares: Sequence[float], privacy: Privacy) -> list[Plan]:
    """The parts with the same sizes and larger shares of ε: as close to (ε, δ) as a few trials get, never beyond.

    The composed ε increases with the common factor of all shares. So the factor is bracketed by the largest one known
    to stay within ε and the smallest one known to exceed it.
    """
    if all(part.delta == 0.0 for part in parts):
        return parts  # pure parts nearly add up
    reached = composed_epsilon(parts, privacy.relation, privacy.delta)
    good, bad = (1.0, reached), (math.inf, math.inf)
    for _ in range(_TRIALS):
        if good[1] >= _CLOSE * privacy.epsilon or bad[0] < good[0] * 1.002:
            break
        factor = _next_factor(good, bad, privacy.epsilon)
        trial = _with_shares(parts, shares, privacy, factor)
        reached = math.inf if trial is None else composed_epsilon(trial, privacy.relation, privacy.delta)
        if trial is None or reached > privacy.epsilon:
            bad = factor, reached
            continue
        if [(one.floor, one.noise, one.error) for one in trial] == [(one.floor, one.noise, one.error) for one in parts]:
            break  # more ε changes nothing
        parts, good = trial, (factor, reached)
    return parts


def _next_factor(good: tuple[float, float], bad: tuple[float, float], epsilon: float) -> float:
    """The factor that nearly reaches ε: by proportion until one has exceeded it, then between the two."""
    (low, reached), (high, passed) = good, bad
    if math.isinf(high):
        return low * min(_AIM * epsilon / reached, 4.0)
    if math.isinf(passed):
        return math.sqrt(low * high)
    # On a line through both in logarithms, kept away from the ends so that the bracket shrinks.
    share = math.log(_AIM * epsilon / reached) / math.log(passed / reached)
    return low * math.pow(high / low, min(max(share, 0.1), 0.9))


def _with_shares(parts: Sequence[Plan], shares: Sequence[float], privacy: Privacy, factor: float) -> list[Plan] | None:
    """The parts with the same sizes, planned for shares larger by this factor; None if one has no such plan."""
    count = sum(not isinstance(part.statistic, Total) for part in parts)
    try:
        return [
            part
            if part.mechanism == "bare" and not part.floor  # more ε would change nothing
            else planned(
                Asked(
                    part.statistic, _own(privacy, share, count, factor), expected=part.expected or None,
                    deletes=part.deletes, mechanism=part.mechanism,
                ).with_size(part.size, part.entries_per_key if part.buckets > 1 else 0)
            )
            for part, share in zip(parts, shares, strict=True)
        ]  # fmt: skip
    except PlanInfeasible:  # finite precision costs more at a larger ε
        return None


def combined(statistic: Statistic, parts: Sequence[Plan], errors: Iterable[float], *, exact: bool = False) -> float:
    """The error of a statistic whose parts have these errors; `exact`: as if every part were exact.

    To first order, the squared errors of independent parts add up, each error multiplied by its factor. If nothing is
    known about the F_p of a part, it counts as equal to its floor Λ; N is then at least as large, because no value is
    below 1.
    """
    own = {part.statistic: _unit(part, parts, exact=exact) * error for part, error in zip(parts, errors, strict=True)}
    return statistic.combined(own, parts[0].privacy)


def _unit(part: Plan, parts: Sequence[Plan], *, exact: bool) -> float:
    """The divisor that makes the error of a part relative, if it must be and is not. The error of a bare sketch is
    relative to the floor and F_p together.
    """
    if part.relative or not part.statistic.relative:
        return 1.0
    if any(each.noise for each in parts):
        return 0.0  # without an expected value, the noise comes on top
    floor = max(1.0, *(each.floor for each in parts))
    return 1.0 / floor if exact or isinstance(part.statistic, Total) else 2.0 / max(part.floor, 1.0)


def _expected(statistic: Statistic, parts: Sequence[Plan], privacy: Privacy) -> float:
    """The value at which the error is predicted; 0 if nothing is known or the statistic has several values."""
    if statistic.several or not all(part.expected for part in parts):
        return 0.0
    found = {part.statistic: np.float64(part.expected) for part in parts}
    return float(statistic.of(found, privacy.pairs))  # type: ignore[arg-type]  # numbers are arrays of no dimension


def _expected_part(statistic: Statistic, part: Statistic, asked: Asked, privacy: Privacy) -> float | None:
    """The expected value of a part if the statistic is `expected`, at the least possible N."""
    if asked.expected is None:
        return None
    if statistic.several:
        raise ArgumentError(
            "expected", asked.expected, "cannot be used for a profile", "Leave it out", because="it has several values"
        )
    return statistic.expected_of(part, asked.expected, max(privacy.pairs, privacy.total, 1))


def composed_epsilon(parts: Sequence[Plan], relation: str, delta: float) -> float:
    """Roughly the least ε (never below it) at which all parts together are (ε, delta)-private."""
    return composed([charge_of(part) for part in parts], relation, delta).epsilon


def together(parts: Sequence[Plan], epsilon: float, delta: float) -> Charge:
    """The charge of all parts together; a part with several charges, like exact entropy, adds each of them."""
    charges = [charge_of(part) for part in parts]
    each = tuple(one for charge in charges for one in charge.parts or (charge,))
    return Charge("all", epsilon=epsilon, delta=delta, parts=each)
