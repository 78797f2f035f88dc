"""Plans of moments whose entries are private by themselves (mechanism="bare"): size, floor and error."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from ...errors import ArgumentError, PlanInfeasible
from ...numbers.search import last_whole
from ...plan.arguments import LARGEST_SIZE, LEAST_SIZE
from ...plan.asked import HEADER_BYTES, Asked
from ...plan.in_words import a_larger_error
from ...plan.phantoms import Phantoms
from ...plan.plan import Plan
from ...privacy import Privacy, PrivacyCurve
from ...privacy.neighbours import log_sensitivity
from ...privacy.precision import STEPS_PER_DEVIATION
from ...sketch.entry_values import entry_bytes
from ...statistic import Moment, Statistic
from ...text.wording import arg
from ..shared.moments import exact_deviation, expected_moment
from .floor import PRECISION_SHARE, Grid, floor_for, gaussian_guide, largest_log_rho, relative_deviation

LARGEST_EPSILON = 20.0  # that an error message suggests: soon above it, finite precision costs too much


def bare_plan(asked: Asked) -> Plan:
    """By the given size, memory or error."""
    one_group(asked.privacy)
    not_above_one([asked.statistic])
    guess = expected_moment(asked)
    if asked.one_size is not None or asked.memory is not None:
        size = asked.size_within(entry_bytes(asked.statistic.p, max(guess, 1.0), "symmetric"))
        return _plan(asked, size, guess)
    return _plan_for_error(asked, guess)


def not_above_one(measured: Sequence[Statistic]) -> None:
    """Refuses moments of orders above 1, before any advice about other measurements."""
    for one in measured:
        if isinstance(one, Moment) and one.p > 1.0:
            raise ArgumentError(
                "mechanism", "bare", f"cannot be used for {one}",
                f"Pass {arg('mechanism', 'sketch')}, or {arg('mechanism', 'exact')}",
                because="nothing is proved about bare entries of orders above 1",
            )  # fmt: skip


def one_group(privacy: Privacy) -> None:
    """Refuses tables: several groups of bare entries cost more together than one does (bounding/groups.py)."""
    if privacy.groups > 1:
        raise ArgumentError(
            "groups", privacy.groups, f"cannot be used with {arg('mechanism', 'bare')}",
            f"Leave out {arg('groups')} and divide epsilon and delta by it, as {arg('by')} does, or pass "
            f"{arg('mechanism', 'sketch')}",
            because="it has no price for several groups at once",
        )  # fmt: skip


def _plan_for_error(asked: Asked, guess: float) -> Plan:
    """Roughly the smallest size whose certified plan has at most this error; the Gaussian guide gives a first guess."""
    statistic, privacy = asked.statistic, asked.privacy
    error = asked.aim
    if guess == 0.0:
        both = "Pass" if asked.error is None else f"Leave out {arg('error')} and pass"
        raise ArgumentError(
            "error", error, f"needs {arg('expected')}",
            f"{both} {arg('size', 500)}, for example, or pass {arg('expected')}, the F_p you expect",
            because="without it nothing is known about F_p, and a relative error cannot be planned",
        )  # fmt: skip
    largest = _largest_size(statistic.p, privacy)
    if not largest:
        raise _too_precise(asked, LEAST_SIZE)
    mu = gaussian_guide(privacy.epsilon, privacy.delta)

    def guided(size: int) -> float:
        grid = _grid(statistic.p, privacy, size)
        mass = floor_for(statistic.p, privacy, mu * grid.deviation, within=1e-3)
        return grid.spread * (1.0 + mass / guess)

    def least(start: int, goal: float) -> int:
        """The least size from `start` on for which the guide reaches the goal, or the largest."""
        return bisect_left(range(largest), True, start, key=lambda size: guided(size) <= goal)

    finest = _grid(statistic.p, privacy, largest)
    if guided(largest) > error or finest.step > finest.deviation / STEPS_PER_DEVIATION:
        # Where the floor and a coarse grid decide the error, fewer entries can do better. The guide is too optimistic
        # by about 1/sqrt(size).
        sizes = {max(LEAST_SIZE, math.ceil(largest * 0.7**k)) for k in range(22)}
        largest = min(sizes, key=lambda size: guided(size) * (1.0 + 1.0 / math.sqrt(size)))
        if guided(largest) > error:
            best = _plan(asked, largest, guess).error
            raise _unreachable(asked, guess, largest, best)
    size = least(LEAST_SIZE, error)
    while True:
        candidate = _plan(asked, size, guess)
        if candidate.error <= error:
            return candidate
        if size == largest:
            raise _unreachable(asked, guess, size, candidate.error)
        # This is how optimistic the guide was here; at the size we want, it is about the same.
        size = least(size + 1, error * guided(size) / candidate.error)


def _plan(asked: Asked, size: int, guess: float) -> Plan:
    """The plan of this size: the least floor at which the certified curve gives (ε, δ less the cost of precision)."""
    p, privacy = asked.statistic.p, asked.privacy
    grid = _grid(p, privacy, size)
    curve_delta = grid.curve_delta
    if curve_delta is None:
        raise _too_precise(asked, size)
    bare = min(log_sensitivity(p, privacy), 700.0)
    if PrivacyCurve.from_log(p, size, bare).delta(privacy.epsilon) <= curve_delta:
        log_rho = bare  # no floor is needed, so we need not know how much less would do
    else:
        log_rho = largest_log_rho(p, size, privacy.epsilon, curve_delta)
    phantoms = Phantoms.affordable(p, floor_for(p, privacy, log_rho))
    mass = phantoms.mass(p)
    # The mass is a sum of rounded powers: a slightly smaller mass gives a slightly larger ρ.
    reached = log_sensitivity(p, privacy, mass * (1.0 - 1e-12))
    curve = PrivacyCurve.from_log(p, size, reached)
    if reached > log_rho and curve.delta(privacy.epsilon) > curve_delta:
        raise PlanInfeasible(
            "the computed floor does not give the requested privacy. This is a bug: please report the call."
        )
    # δ at the requested ε is certified, here or at a larger ρ, so the requested ε is an upper bound too.
    epsilon = min(curve.epsilon(curve_delta), curve.pure_epsilon, privacy.epsilon)
    entries = math.ceil(size * entry_bytes(p, max(guess, 1.0), "symmetric"))
    return Plan(
        asked,
        "bare",
        epsilon=epsilon,
        delta=privacy.delta,
        pure_epsilon=curve.pure_epsilon,
        error=grid.spread * (1.0 + mass / guess) if guess > 0.0 else grid.spread * mass,
        relative=guess > 0.0,
        expected=guess,
        exact_error=exact_deviation(p, privacy) / (guess if guess > 0.0 else 1.0),
        size=size,
        step=grid.step,
        phantoms=phantoms,
        bytes=HEADER_BYTES + entries,
    )


def _grid(p: float, privacy: Privacy, size: int) -> Grid:
    return Grid.of(relative_deviation(p, size), privacy)


def _largest_size(p: float, privacy: Privacy) -> int:
    """The largest number of entries that has a grid: with fewer entries it can be coarser. 0 if there is none."""
    found = last_whole(lambda size: _grid(p, privacy, size).curve_delta is not None, LEAST_SIZE - 1, LARGEST_SIZE + 1)
    return found if found >= LEAST_SIZE else 0


def _too_precise(asked: Asked, size: int) -> PlanInfeasible:
    """The error that says what would work; if several measurements share δ, the δ needed for all of them."""
    p, privacy = asked.statistic.p, asked.privacy
    if privacy.epsilon > LARGEST_EPSILON:
        return PlanInfeasible(
            f"ε = {privacy.epsilon:g} is too large for a sketch: the cost of finite precision grows as e^ε, and beyond "
            f"about ε = {LARGEST_EPSILON:g} it exceeds any δ. Such an ε protects nobody anyway. Pass "
            f"{arg('epsilon', 1)}, or a similar value, or {arg('mechanism', 'exact')}."
        )
    grid, largest = _grid(p, privacy, size), _largest_size(p, privacy)
    enough = 1.05 * grid.cost / PRECISION_SHARE * asked.measurement.sharing
    ways = [arg("delta", float(f"{enough:.2g}"))] if enough < 1.0 else []
    ways += [arg("size", largest)] if largest else []
    ways += [f"{arg('mechanism', 'exact')}, which has δ = 0", "a smaller ε"]
    return PlanInfeasible(
        f"δ = {privacy.delta:g} leaves too little after the cost of finite precision at size {size} and ε = "
        f"{privacy.epsilon:g}, which is {grid.cost:.2g}. Pass {', or '.join(ways)}."
    )


def _unreachable(asked: Asked, guess: float, largest: int, best: float) -> PlanInfeasible:
    statistic, privacy, error = asked.statistic, asked.privacy, asked.aim
    exact, epsilon = exact_deviation(statistic.p, privacy) / guess, privacy.epsilon * best / error
    ways = [
        a_larger_error(best) if best * 1.05 < 0.995 else f"Leave out {arg('error')} and pass {arg('size', largest)}"
    ]
    both = "" if exact <= error else f"leave out {arg('error')} and "
    ways += [f"{both}pass {arg('mechanism', 'exact')}, whose error is {exact:.3g}"] if exact < best else []
    ways += [f"a larger ε, about {epsilon:.3g}"] if epsilon <= LARGEST_EPSILON else []
    return PlanInfeasible(
        f"no sketch of up to {LARGEST_SIZE} entries reaches a relative error of {error:g} at {statistic} = "
        f"{guess:,.6g} with ε = {privacy.epsilon:g}, δ = {privacy.delta:g}: the best is {best:.3g}, with {largest}. "
        f"{', or '.join(ways)}; or pass {arg('expected')} if F_p is known to be larger."
    )
