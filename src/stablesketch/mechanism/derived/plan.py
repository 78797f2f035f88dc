"""Plans of statistics that are computed from others: what is measured, and how ε and δ are divided.

Every measurement is planned for a share of ε and δ. At first the shares add up to ε and δ, which is private by basic
composition. Composing their privacy loss distributions (privacy/charge.py) may give less than ε. Then all shares are
raised by one factor, as long as the composed bound stays within (ε, δ). One that needs no floor has a fixed cost;
what it leaves goes to the others.

The noise of a counter, such as N, gets half of ε if values vary, because one value may outweigh the rest of the stream,
and then the errors of N and F_p are of the same order. If every pair counts 1, it gets a tenth. It needs no δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ...errors import ArgumentError, PlanInfeasible
from ...plan.asked import HEADER_BYTES, Asked, Measurement
from ...plan.in_words import a_larger_error
from ...plan.mechanism import Mechanism, charge_of, measuring, mechanism_of
from ...plan.plan import Plan
from ...plan.planner import planned
from ...privacy import Privacy
from ...privacy.charge import Charge
from ...privacy.together import composed
from ...statistic import Statistic
from ...text.wording import arg, subject

_COUNTED = {True: 0.5, False: 0.1}  # the share of ε of a counter, by whether values vary
_TRIALS = 8
_LONG = 2**40  # pairs
_WORST_ERROR = 0.5
_CLOSE = 0.98
_AIM = 0.99


def derived_plan(asked: Asked) -> Plan:
    """The plans of all measurements, and their combined price."""
    statistic, privacy = asked.statistic, asked.privacy
    needs = statistic.needs(privacy)
    for name, each in (("size", asked.sizes), ("entries_per_key", asked.each_per_key)):
        if each and len(each) != len(needs):
            raise ArgumentError(
                name, each, f"must have one number for each of the {len(needs)} measurements of {statistic}",
                "Pass one number for all, or one for each",
            )  # fmt: skip
    ways = measuring(asked)
    shares = _shares(ways, privacy)
    inputs = _first_inputs(asked, ways, shares)
    if len(inputs) > 1 and (privacy.max_value > 1 or any(one.floor or one.noise for one in inputs)):
        inputs = _raised(inputs, shares, privacy)
    error = combined(statistic, inputs, (one.error for one in inputs))
    if asked.error is not None and error > asked.error * (1.0 + 1e-9):
        raise _too_inaccurate(asked, ways, inputs, error)
    several = len(inputs) > 1
    delta = max(privacy.delta, *(one.delta for one in inputs)) if several else inputs[0].delta
    if all(one.delta == 0.0 for one in inputs):
        delta = 0.0
    epsilon = composed_epsilon(inputs, privacy.relation, delta) if several else inputs[0].epsilon
    if epsilon > privacy.epsilon:
        raise PlanInfeasible("the shares add up to more than was asked for. This is a bug: please report the call.")
    return Plan(
        asked,
        asked.mechanism,
        epsilon=epsilon,
        delta=delta,
        pure_epsilon=math.fsum(one.pure_epsilon for one in inputs),
        error=error,
        relative=statistic.relative and all(one.relative or not one.statistic.relative for one in inputs),
        expected=_expected(statistic, inputs, privacy),
        exact_error=combined(statistic, inputs, (one.exact_error for one in inputs), exact=True),
        size=sum(one.size for one in inputs),
        bytes=HEADER_BYTES + sum(max(one.bytes, HEADER_BYTES) for one in inputs),
        inputs=tuple(_decided(one) for one in inputs),
    )


def _decided(plan: Plan) -> Plan:
    """The plan with its own numbers as its question, so that planning it by itself gives the same plan."""
    return replace(plan, asked=replace(plan.asked.like(plan), measurement=Measurement()))


def _shares(ways: Sequence[Mechanism], privacy: Privacy) -> list[float]:
    """The shares of ε: they add up to 1 or slightly less, so that rounding cannot exceed it."""
    if len(ways) == 1:
        return [1.0]
    counters = sum(each.counter for each in ways)
    others, whole = len(ways) - counters, 1.0 - 1e-12
    counted = (_COUNTED[privacy.max_value > 1] if others else 1.0) if counters else 0.0
    return [whole * (counted / counters if each.counter else (1.0 - counted) / others) for each in ways]


def _first_inputs(asked: Asked, ways: Sequence[Mechanism], shares: Sequence[float]) -> list[Plan]:
    """Plans every measurement for its share: by its size, its share of the memory, or the error allowed for it."""
    statistic, privacy = asked.statistic, asked.privacy
    needs = statistic.needs(privacy)
    counted, sketches = sum(each.counter for each in ways), sum(not each.exact for each in ways)
    of_another = Measurement(statistic, max(sketches, 1))
    room, noise = 1.0, 0.0
    one_per_key = None if asked.each_per_key else asked.one_per_key
    inputs: dict[int, Plan] = {}
    # The error from the noise of a counter is known first; the others get the rest of the error.
    for i in sorted(range(len(needs)), key=lambda i: not ways[i].counter):
        each, way = needs[i], ways[i]
        own = _own(privacy, shares[i], len(ways) - counted)
        base = Asked(
            each,
            own,
            expected=_expected_input(asked, ways, i),
            mechanism=asked.mechanism,
            deletes=asked.deletes,
            usual_memory=asked.usual_memory,
            entries_per_key=one_per_key if way.in_buckets else None,
            measurement=of_another,
        )
        if asked.sizes:
            per_key = asked.each_per_key[i] if asked.each_per_key else base.one_per_key or 0
            want = replace(base, size=(asked.sizes[i],), entries_per_key=(per_key,))
        elif way.exact:
            want = base
        elif asked.size is not None:
            want = replace(base, size=asked.size)
        elif asked.memory is not None:
            want = replace(base, memory=asked.memory // sketches, memory_as_given=asked.memory_as_given)
        elif asked.error is not None:
            want = replace(base, error=room * asked.error / statistic.factor(each))
        elif not way.guesses:
            usual = replace(of_another, usual=True)
            want = replace(base, error=statistic.default_error / statistic.factor(each), measurement=usual)
        else:
            # An error that the caller did not ask for need not be reached: it only decides the number of entries.
            want = replace(base, size=_usual_size(asked, each))
        try:
            inputs[i] = planned(want)
        except (PlanInfeasible, ArgumentError) as error:
            # A measurement's advice about its own error or share of ε does not help the caller, who asks for the whole.
            if asked.error is not None and (isinstance(error, PlanInfeasible) or error.argument == "error"):
                best = error.best if isinstance(error, PlanInfeasible) and len(ways) - counted == 1 else None
                if best is None:
                    raise _out_of_reach(asked, f"the error of {each} alone is larger") from None
                raise _best(asked, math.hypot(noise, statistic.factor(each) * best)) from None
            if own is privacy or not isinstance(error, PlanInfeasible):
                raise
            raise PlanInfeasible(
                f"{statistic}: this measurement gets {own.epsilon:.3g} of ε = {privacy.epsilon:g}, and {error.wording}"
            ) from None
        if way.counter and inputs[i].relative:
            noise = statistic.factor(each) * inputs[i].error
            room = math.sqrt(max(1.0 - (noise / asked.aim) ** 2, 0.1))
    return [inputs[i] for i in range(len(needs))]


def _out_of_reach(asked: Asked, why: str, way_out: str = "") -> PlanInfeasible:
    smaller = f", or a smaller {subject('max_value')}" if asked.privacy.max_value > 1 else ""
    usual = f"Leave out {arg('error')} for the usual size, or pass a larger error, or a larger ε{smaller}"
    return PlanInfeasible(
        f"the error of {asked.statistic} cannot be {asked.error:g} with ε = {asked.privacy.epsilon:g}, δ = "
        f"{asked.privacy.delta:g}: {why}. {way_out or usual}."
    )


def _best(asked: Asked, best: float) -> PlanInfeasible:
    exact = asked.mechanism == "exact"
    ways = [a_larger_error(best)]
    ways += [] if exact else [f"leave out {arg('error')} and pass {arg('mechanism', 'exact')}"]
    ways += ["use a larger ε"] if exact or asked.expected is not None else []
    return _out_of_reach(asked, f"the best is {best:.3g}", ", or ".join(ways))


def _too_inaccurate(asked: Asked, ways: Sequence[Mechanism], inputs: Sequence[Plan], error: float) -> PlanInfeasible:
    """What is exact has only the error of the noise, which is relative to a value that must be expected."""
    if not all(way.exact for way in ways):
        return _out_of_reach(asked, f"it would be {error:.3g}")
    if asked.privacy.pairs or all(one.expected for one in inputs):
        return _best(asked, error)
    expected = f"{arg('expected')}, the value you expect, or " if asked.expected is None else ""
    return _out_of_reach(
        asked, "it depends on the length of the stream, which is not known",
        f"Pass {expected}{arg('pairs')}, the number of pairs that you expect, or leave out {arg('error')}",
    )  # fmt: skip


def _usual_size(asked: Asked, needed: Statistic) -> int:
    """The size for the usual error in a stream long enough for noise not to matter.

    If finite precision does not allow that many entries, roughly the largest number that it allows.
    """
    long = Privacy(asked.privacy.epsilon, asked.privacy.delta, pairs=_LONG, relation="replace")
    error = asked.statistic.default_error / asked.statistic.factor(needed)
    while True:
        try:
            return planned(Asked(needed, long, error=error, mechanism="bare")).size
        except PlanInfeasible:
            if error > _WORST_ERROR:
                raise
            error *= 1.2


def _own(privacy: Privacy, share: float, count: int, factor: float = 1.0) -> Privacy:
    if share == 1.0:
        return privacy
    epsilon = min(privacy.epsilon * share * factor, privacy.epsilon)
    return replace(privacy, epsilon=epsilon, delta=privacy.delta / max(count, 1) * (1.0 - 1e-12))


def _raised(inputs: list[Plan], shares: Sequence[float], privacy: Privacy) -> list[Plan]:
    """The plans with the same sizes and larger shares of ε: as close to (ε, δ) as a few trials get, never beyond.

    The composed ε increases with the common factor of all shares. So the factor is bracketed by the largest one known
    to stay within ε and the smallest one known to exceed it.
    """
    if all(one.delta == 0.0 for one in inputs):
        return inputs  # pure charges nearly add up
    reached = composed_epsilon(inputs, privacy.relation, privacy.delta)
    good, bad = (1.0, reached), (math.inf, math.inf)
    for _ in range(_TRIALS):
        if good[1] >= _CLOSE * privacy.epsilon or bad[0] < good[0] * 1.002:
            break
        factor = _next_factor(good, bad, privacy.epsilon)
        trial = _with_shares(inputs, shares, privacy, factor)
        reached = math.inf if trial is None else composed_epsilon(trial, privacy.relation, privacy.delta)
        if trial is None or reached > privacy.epsilon:
            bad = factor, reached
            continue
        if all(
            a.floor == b.floor and a.noise == b.noise and a.error == b.error for a, b in zip(trial, inputs, strict=True)
        ):
            break  # more ε changes nothing
        inputs, good = trial, (factor, reached)
    return inputs


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


def _with_shares(inputs: Sequence[Plan], shares: Sequence[float], privacy: Privacy, factor: float) -> list[Plan] | None:
    """The measurements with the same sizes, planned for shares larger by this factor; None if one has no such plan."""
    count = sum(not mechanism_of(one).counter for one in inputs)
    try:
        return [
            one
            if one.mechanism == "bare" and not one.floor  # more ε would change nothing
            else planned(
                Asked(
                    one.statistic, _own(privacy, share, count, factor), expected=one.expected or None,
                    deletes=one.deletes, mechanism=one.mechanism,
                ).like(one)
            )
            for one, share in zip(inputs, shares, strict=True)
        ]  # fmt: skip
    except PlanInfeasible:  # finite precision costs more at a larger ε
        return None


def combined(statistic: Statistic, inputs: Sequence[Plan], errors: Iterable[float], *, exact: bool = False) -> float:
    """The error of a statistic whose measurements have these errors; `exact`: as if each were exact.

    To first order, the squared errors of independent measurements add up, each error multiplied by its factor. If
    nothing is known about the F_p of a measurement, it counts as equal to its floor Λ; N is then at least as large,
    because no value is below 1.
    """
    own = {one.statistic: _unit(one, inputs, exact=exact) * error for one, error in zip(inputs, errors, strict=True)}
    return statistic.combined(own, inputs[0].privacy)


def _unit(plan: Plan, inputs: Sequence[Plan], *, exact: bool) -> float:
    """The divisor that makes the error of a measurement relative, if it must be and is not. The error of a bare sketch
    is relative to the floor and F_p together.
    """
    if plan.relative or not plan.statistic.relative:
        return 1.0
    ways = [mechanism_of(each) for each in inputs]
    if any(each.noise for each in inputs) or not (all(way.exact for way in ways) or any(way.bare for way in ways)):
        return 0.0  # without an expected value, the noise comes on top
    floor = max(1.0, *(each.floor for each in inputs))
    return 1.0 / floor if exact or mechanism_of(plan).counter else 2.0 / max(plan.floor, 1.0)


def _expected(statistic: Statistic, inputs: Sequence[Plan], privacy: Privacy) -> float:
    """The value at which the error is predicted; 0 if nothing is known or the statistic has several values."""
    if statistic.several or not all(one.expected for one in inputs):
        return 0.0
    found = {one.statistic: np.float64(one.expected) for one in inputs}
    return float(statistic.of(found, privacy.pairs))  # type: ignore[arg-type]  # numbers are arrays of no dimension


def _expected_input(asked: Asked, ways: Sequence[Mechanism], i: int) -> float | None:
    """The expected value of a measurement if the statistic is `expected`, at the least possible N. Beside a sketch, the
    noise of N comes on top of the error.
    """
    if asked.expected is None:
        return None
    if asked.statistic.several:
        raise ArgumentError(
            "expected", asked.expected, "cannot be used for a profile", "Leave it out", because="it has several values"
        )
    least = max(asked.privacy.pairs, asked.privacy.total, 1)
    found = asked.statistic.expected_of(asked.statistic.needs(asked.privacy)[i], asked.expected, least)
    if found is None and ways[i].counter and all(way.exact for way in ways):
        total = asked.statistic.least_total(asked.expected)
        return None if total is None else max(total, float(least))
    return found


def composed_epsilon(inputs: Sequence[Plan], relation: str, delta: float) -> float:
    """Roughly the least ε (never below it) at which all together are (ε, delta)-private."""
    return composed([charge_of(one) for one in inputs], relation, delta).epsilon


def together(inputs: Sequence[Plan], epsilon: float, delta: float) -> Charge:
    """The charge of all together; one that is composed itself, like that of exact entropy, adds each of its own."""
    charges = [charge_of(one) for one in inputs]
    each = tuple(one for charge in charges for one in charge.charges or (charge,))
    return Charge("all", epsilon=epsilon, delta=delta, charges=each)
