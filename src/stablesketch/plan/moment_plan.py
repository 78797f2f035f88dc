"""Plans of moments: entries for the error, noise for the privacy.

An estimate from r one-sided entries is F ξ, ξ independent of the stream. It gets Laplace noise of scale b, which is
certified (privacy/noisy_estimate.py) for every stream: nothing is promised of it, and no (ε, δ) is out of reach. The
error is sqrt(v + 2 b²/F²), v = Var ξ: the first part is relative and decides the size, the second is that of the noise.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ..errors import PlanInfeasible
from ..privacy import Privacy
from ..privacy.noisy_estimate import NoisyEstimate, Precision
from ..sketch import entry_bytes
from ..statistic import Moment
from .bare_plan import bare_plan
from .exact_plan import exact_plan, expected_moment
from .phantoms import Phantoms
from .plan import Plan
from .sizing import exact_deviation
from .total_plan import total_plan
from .wanted import HEADER_BYTES, LARGEST_SIZE, LEAST_SIZE, Wanted
from .ways_out import a_larger_error

__all__ = ["moment_change", "moment_plan"]

_GRID = 2.0**-10  # the step of the grid is at most this part of the noise, and of the noise times ε
_CAP = 2.0**33  # F_max in units of Δ: larger estimates are cut there
_ROOM = 16.0  # F_max is at least so many times what is expected


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
    fewest = size_for(statistic.p, error)
    if fewest > LARGEST_SIZE:
        raise _out_of_reach(statistic, wanted, relative_error(statistic.p, LARGEST_SIZE))
    if wanted.error is None or wanted.expected is None:
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
    p, change = statistic.p, moment_change(statistic.p, privacy)
    # Every group that changes is cut and rounded by itself: as much finer, so that together they cost what one does.
    cap = max(_CAP / privacy.copies, 2.0 ** math.ceil(math.log2(_ROOM * (wanted.expected or 1.0) / change)))
    grid = _GRID * min(1.0, privacy.epsilon) / privacy.copies
    noise = noise_ratio(p, size, privacy.epsilon, privacy.delta, privacy.copies, cap, grid) * change * (1.0 + 1e-12)
    relative, expected = relative_error(p, size), wanted.expected or 0.0
    return Plan(
        statistic=statistic,
        privacy=privacy,
        mechanism="sketch",
        size=size,
        phantoms=Phantoms(0, 1),
        step=2.0 ** math.floor(math.log2(noise * grid)),
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        pure_epsilon=math.inf,
        error=math.hypot(relative, math.sqrt(2.0) * noise / expected) if expected else relative,
        relative=True,
        expected=expected,
        bytes=HEADER_BYTES + math.ceil(size * entry_bytes(p, max(expected_moment(statistic, privacy, expected), 1.0))),
        exact_error=exact_deviation(p, privacy) / (expected or 1.0),
        deletes=wanted.deletes,
        noise=noise,
        cap=cap * change,
    )


def moment_change(p: float, privacy: Privacy) -> float:
    """Δ = c M^p: by how much neighbours can differ in F_p, whatever the relation; a little above, for the rounding."""
    return privacy.pairs_per_person * math.pow(privacy.max_value, p) * (1.0 + 1e-15)


@lru_cache(maxsize=1024)
def noise_ratio(p: float, size: int, epsilon: float, delta: float, copies: int, cap: float, grid: float) -> float:
    """b/Δ, certified."""
    return NoisyEstimate(p, size, copies).noise(epsilon, delta, precision_of(p, size, cap, grid, outputs=copies))


def _out_of_reach(statistic: Moment, wanted: Wanted, best: float) -> PlanInfeasible:
    at = f" at {statistic} = {wanted.expected:,.6g}" if wanted.expected else ""
    return PlanInfeasible(
        f"no sketch of up to {LARGEST_SIZE:,} entries has an error of {wanted.error:g}{at}: the best is {best:.3g}. "
        f"{a_larger_error(best)}, or pass mechanism='exact'{', or a larger ε' if at else ''}."
    )


# TEMPORARY until the branches of the law and of precision are merged
def relative_error(p: float, size: int) -> float:
    from ..sketch.estimators.power_sum import best_power, power_variance

    return math.sqrt(power_variance(best_power(p), p) / size) * (1.0 + 0.7 / size)


def size_for(p: float, error: float) -> int:
    low, high = LEAST_SIZE, LARGEST_SIZE + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if relative_error(p, middle) <= error else (middle + 1, high)
    return low


def precision_of(p: float, size: int, cap: float, grid: float, *, outputs: int) -> Precision:
    # Every group that changes is computed, cut and rounded by itself.
    return Precision(error=2.0**-42, failure=0.0, cap=outputs * cap, grid=outputs * grid)
