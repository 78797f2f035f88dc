"""Plans of moments: entries for the error, noise for the privacy.

An estimate from r entries is X ξ, where X = F_p below order 1 and the norm F_p^{1/p} above, and ξ is independent of the
stream. It gets Laplace noise of scale b, which is certified for every stream (privacy/noisy_estimate.py). So it needs
no promise about the stream, and no (ε, δ) is out of reach. The error of F_p is sqrt(v + 2 k² b²/X²), where v is the
relative variance of the sketch alone and k = 1 or p. The first part decides the size; the second is from the noise.
With buckets (mechanism/shared/layout.py), v is for a stream in which no key dominates.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache

from ...errors import PlanInfeasible
from ...plan.arguments import LARGEST_IN_ALL, LARGEST_SIZE
from ...plan.asked import HEADER_BYTES, Asked
from ...plan.in_words import a_larger_error
from ...plan.plan import Plan
from ...sketch.entry_values import entry_bytes
from ...text.wording import arg
from ..shared.layout import (
    FEW_PER_KEY,
    LARGEST_FLAT,
    TYPICAL_MOMENT,
    USUAL_ENTRIES,
    Layout,
    laid_out,
)
from ..shared.moments import exact_moment_error, expected_moment
from .measure import entries_error, measure_of, noise_of_plan

_FEWEST = 12  # entries, by default: fewer would save nothing and need several times the noise
_WORST = 0.1  # the error for a single key that decides the default number of entries per key
_STEP = 16  # of the number of entries per key: kernels make eight or sixteen at a time
_MANY_PER_KEY = (16, 32, 64, 128, 256, 512, 2_048, 8_192)  # tried if the noise must be less


def noisy_plan(asked: Asked) -> Plan:
    """By the given size, memory or error; if a value is expected, the error includes the noise."""
    if asked.one_size is not None:
        layout = laid_out(asked.one_size, asked.one_per_key, usual_per_key(asked.statistic.p))
    elif asked.memory is not None:
        layout = _within(asked, LARGEST_IN_ALL)
    elif asked.statistic.p < 1.0 and asked.free_error:
        memory = asked.usual_memory // asked.measurement.sharing
        layout = _within(replace(asked, memory=memory), USUAL_ENTRIES // asked.measurement.sharing)
    else:
        return _for_error(asked, asked.aim)
    return _plan(asked, layout)


@lru_cache(maxsize=64)
def usual_per_key(p: float) -> int:
    """The fewest, in steps of 16, that estimate a single key to 10%: 112, 96, 64, 32, 16 for p = 0.1, 0.25, 0.5, 0.75,
    0.9."""
    measure, entries = measure_of(p), _STEP
    while p < 1.0 and measure.relative_error(entries) > _WORST:
        entries += _STEP
    return entries


def _within(asked: Asked, most: int) -> Layout:
    """As many entries as fit into the memory, but at most `most`; if they are few, in one bucket."""
    per_key = asked.one_per_key or usual_per_key(asked.statistic.p)
    flat = asked.size_within(_entry_bytes(asked, 1))
    if asked.statistic.p > 1.0 or (asked.one_per_key is None and flat <= LARGEST_FLAT):
        return Layout(flat)
    buckets = 1
    for _ in range(3):  # with more buckets each holds less, and takes fewer bytes
        assert asked.memory is not None
        entries = (asked.memory - HEADER_BYTES) / _entry_bytes(asked, buckets)
        buckets = max(math.floor(min(entries, most)) // per_key, 1)
    return Layout(per_key, buckets)


def _entry_bytes(asked: Asked, buckets: int) -> float:
    guess = expected_moment(asked) or TYPICAL_MOMENT
    return entry_bytes(asked.statistic.p, max(guess / buckets, 1.0))


def _for_error(asked: Asked, error: float) -> Plan:
    """The fewest entries per key, and in all, with at most this error: of the sketch alone, or including the noise if a
    value is expected."""
    measure = measure_of(asked.statistic.p)
    fewest = max(measure.size_for(error), _FEWEST)
    included = asked.expected is not None and not asked.free_error
    in_buckets = asked.statistic.p < 1.0
    largest = LARGEST_FLAT if in_buckets else LARGEST_SIZE
    if fewest <= largest and asked.one_per_key is None:
        plan = _plan(asked, Layout(fewest))
        if not included or plan.error <= error:
            return plan
        if _plan(asked, Layout(largest)).error <= error:
            return _fewest_for(asked, error, fewest, largest)
    tried: tuple[int, ...] = _MANY_PER_KEY if included else (FEW_PER_KEY,)
    if asked.one_per_key is not None or not in_buckets:
        tried = (asked.one_per_key,) if asked.one_per_key else ()
    for per_key in tried:
        made = _in_buckets(asked, error, per_key, included)
        if made is not None:
            return made
    if fewest > LARGEST_SIZE and asked.free_error:
        return _plan(asked, Layout(LARGEST_SIZE))  # an error that nobody requested need not be reached
    flat = [Layout(LARGEST_SIZE)] if asked.one_per_key is None else []
    most = [Layout(each, LARGEST_IN_ALL // each) for each in tried[-1:]]
    best = min((_plan(asked, layout) for layout in flat + most), key=lambda plan: plan.error)
    if best.error > error or best.buckets > 1:
        raise _out_of_reach(asked, best)
    return _fewest_for(asked, error, min(fewest, LARGEST_SIZE), LARGEST_SIZE)


def _in_buckets(asked: Asked, error: float, per_key: int, included: bool) -> Plan | None:
    """The number of buckets that the error needs, given the noise; None if the noise alone exceeds it, or if they would
    be too many."""
    one = measure_of(asked.statistic.p).relative_error(per_key)
    added = 0.0
    if included:
        assert asked.expected is not None
        noise = noise_of_plan(asked.statistic.p, Layout(per_key, 2), asked.privacy, asked.expected)
        added = math.sqrt(2.0) * noise.scale / asked.expected
    left = error**2 - added**2
    if left <= 0.0 or per_key * one**2 / left > LARGEST_IN_ALL:
        return None
    return _plan(asked, Layout(per_key, max(math.ceil(one**2 / left), 1)))


def _fewest_for(asked: Asked, error: float, low: int, high: int) -> Plan:
    """The fewest entries in one bucket; `high` are enough."""
    found = bisect_left(range(high), True, low, key=lambda size: _plan(asked, Layout(size)).error <= error)
    return _plan(asked, Layout(found))


def _plan(asked: Asked, layout: Layout) -> Plan:
    p, expected = asked.statistic.p, asked.expected or 0.0
    measure = measure_of(p)
    noise = noise_of_plan(p, layout, asked.privacy, expected)
    relative = entries_error(p, layout)
    # F_p = X^k, so its relative error is k times that of X.
    added = max(p, 1.0) * math.sqrt(2.0) * noise.scale / measure.of_moment(expected) if expected else 0.0
    return Plan(
        asked,
        "sketch",
        epsilon=asked.privacy.epsilon,
        delta=asked.privacy.delta,
        error=math.hypot(relative, added),
        relative=True,
        expected=expected,
        exact_error=exact_moment_error(p, asked.privacy, expected),
        size=layout.size,
        buckets=layout.buckets,
        step=noise.step,
        noise=noise.scale,
        cap=noise.cap,
        bytes=HEADER_BYTES + math.ceil(layout.size * _entry_bytes(asked, layout.buckets)),
    )


def _out_of_reach(asked: Asked, best: Plan) -> PlanInfeasible:
    at = f" at {asked.statistic} = {asked.expected:,.6g}, noise included" if asked.expected else ""
    larger = f", or a larger ε, or a larger {arg('expected')}" if at else ""
    more = f", or more {arg('entries_per_key')}" if asked.one_per_key is not None else ""
    return PlanInfeasible(
        f"no sketch of up to {best.size:,} entries, {best.entries_per_key:,} per key, has an error of "
        f"{asked.error:g}{at}: the best is {best.error:.3g}. {a_larger_error(best.error)}{more}, or leave out "
        f"{arg('error')} and pass {arg('mechanism', 'exact')}{larger}.",
        best.error,
    )
