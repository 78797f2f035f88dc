"""Plans of moments: entries for the error, noise for the privacy.

An estimate from r entries is X ξ, X = F_p below order 1 and the norm F_p^{1/p} above, ξ independent of the stream. It
gets Laplace noise of scale b, which is certified for every stream (privacy/noisy_estimate.py): nothing is promised of
it, and no (ε, δ) is out of reach. The error of F_p is sqrt(v + 2 k² b²/X²), v that of the sketch alone, k = 1 or p: the
first part is relative and decides the size, the second is that of the noise.
"""

from __future__ import annotations

import math

from ..errors import PlanInfeasible
from ..privacy import Privacy
from ..sketch import entry_bytes
from ..statistic import Moment
from .bare_plan import bare_plan
from .exact_plan import exact_plan, expected_moment
from .noisy_measure import measure_of, noise_of_plan
from .phantoms import Phantoms
from .plan import Plan
from .sizing import exact_moment_error
from .total_plan import total_plan
from .wanted import HEADER_BYTES, LARGEST_SIZE, Wanted
from .ways_out import a_larger_error

__all__ = ["moment_plan"]

_FEWEST = 12  # where nobody says how many: fewer would save nothing, and take several times the noise


def moment_plan(statistic: Moment, privacy: Privacy, wanted: Wanted) -> Plan:
    """By the size asked for, the memory, or the error; where a value is expected, the error has that of the noise."""
    if statistic.p == 1.0 and wanted.mechanism != "bare":
        return total_plan(statistic, privacy, wanted)  # F_1 is the total, for which a counter is enough
    if wanted.mechanism == "exact":
        guess = expected_moment(statistic, privacy, wanted.expected)
        return exact_plan(statistic, privacy, wanted.error, guess, wanted.deletes)
    if wanted.mechanism == "bare":
        return bare_plan(statistic, privacy, wanted)
    if wanted.size is not None or wanted.memory is not None:
        guess = expected_moment(statistic, privacy, wanted.expected)
        return _plan(statistic, privacy, wanted, wanted.size_within(entry_bytes(statistic.p, max(guess, 1.0))))
    error = wanted.error_or(statistic.default_error)
    fewest = max(measure_of(statistic.p).size_for(error), _FEWEST)
    if fewest > LARGEST_SIZE and wanted.error is not None and not wanted.usual:
        raise _out_of_reach(statistic, wanted, measure_of(statistic.p).relative_error(LARGEST_SIZE))
    fewest = min(fewest, LARGEST_SIZE)  # what nobody asked for need not be reached
    if wanted.error is None or wanted.expected is None or wanted.usual:
        return _plan(statistic, privacy, wanted, fewest)
    return _plan_for_all(statistic, privacy, wanted, fewest)


def _plan_for_all(statistic: Moment, privacy: Privacy, wanted: Wanted, fewest: int) -> Plan:
    """The fewest entries with which sketch and noise together err by no more than asked where F_p is as expected."""
    assert wanted.error is not None
    low, high = fewest, LARGEST_SIZE
    best = _plan(statistic, privacy, wanted, high)
    if best.error > wanted.error:
        raise _out_of_reach(statistic, wanted, best.error)
    while low < high:
        middle = (low + high) // 2
        made = _plan(statistic, privacy, wanted, middle)
        low, high, best = (low, middle, made) if made.error <= wanted.error else (middle + 1, high, best)
    return best


def _plan(statistic: Moment, privacy: Privacy, wanted: Wanted, size: int) -> Plan:
    p, expected = statistic.p, wanted.expected or 0.0
    measure = measure_of(p)
    noise = noise_of_plan(p, size, privacy, expected)
    relative = measure.relative_error(size)
    # F_p = X^k, so its relative error is k times that of X.
    added = max(p, 1.0) * math.sqrt(2.0) * noise.scale / measure.of_moment(expected) if expected else 0.0
    guess = max(expected_moment(statistic, privacy, wanted.expected), 1.0)
    return Plan(
        statistic=statistic,
        privacy=privacy,
        mechanism="sketch",
        size=size,
        phantoms=Phantoms(0, 1),
        step=noise.step,
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        pure_epsilon=math.inf,
        error=math.hypot(relative, added),
        relative=True,
        expected=expected,
        bytes=HEADER_BYTES + math.ceil(size * entry_bytes(p, guess)),
        exact_error=exact_moment_error(p, privacy, expected),
        deletes=wanted.deletes,
        noise=noise.scale,
        cap=noise.cap,
    )


def _out_of_reach(statistic: Moment, wanted: Wanted, best: float) -> PlanInfeasible:
    at = f" at {statistic} = {wanted.expected:,.6g}, noise included" if wanted.expected else ""
    larger = ", or a larger ε, or a larger expected=" if at else ""
    return PlanInfeasible(
        f"no sketch of up to {LARGEST_SIZE:,} entries has an error of {wanted.error:g}{at}: the best is {best:.3g}. "
        f"{a_larger_error(best)}, or leave out error= and pass mechanism='exact'{larger}."
    )
