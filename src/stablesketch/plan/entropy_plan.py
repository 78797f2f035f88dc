"""Plans of Shannon's entropy by a sketch: entries for the error, noise on its mass N H and on N for the privacy.

What is released, and why it is private for streams of any length, of people and in groups: privacy/noisy_entropy.py.

**Entries in buckets** (layout.py). A key touches the g entries of its bucket. With p_k the share of a key in N, v the
variance of an estimate from g entries and B buckets, the estimate errs by sqrt(v (1/B + Σ p_k²)), nearly: sqrt(v/B) if
no key dominates, sqrt(v) if one holds everything. More entries in all lower the first, more entries a key the second
alone (g v is 3.1 at 64 entries, 3.4 at 16 and 3 in the limit). Heavy keys weigh more in entropy than in moments below
order 1, and on real streams they decide. From 20,000 entries, 16, 32, 64 and 128 of them a key, the stream with the
heaviest keys (Σ p² = 0.013, one key has 9% of all) errs by 0.055, 0.039, 0.028 and 0.022 nats, those without heavy keys
by 0.013 to 0.012. So a key touches 64.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ..errors import ArgumentError, PlanInfeasible
from ..privacy import Privacy
from ..privacy.noisy_entropy import EntropyNoise, entropy_size_for
from ..sketch import entry_bytes
from ..sketch.estimators.entropy_mean import entropy_mean_deviation
from .asked import HEADER_BYTES, LARGEST_IN_ALL, Asked
from .exact_entropy_plan import exact_entropy_deviation
from .layout import LARGEST_FLAT, TYPICAL_MOMENT, USUAL_ENTRIES, Layout, laid_out
from .plan import Accuracy, Cost, Numbers, Plan
from .ways_out import a_larger_error

__all__ = ["entropy_noise", "entropy_plan"]

_FEWEST = 16  # with fewer entries the estimate has too heavy a tail
_PER_KEY = 64
_TOTAL_BYTES = 8  # of a bucket


def entropy_plan(asked: Asked) -> Plan:
    """By the size asked for, the memory, or the error, which is that of the sketch if no key dominates; the noise comes
    on top."""
    privacy = asked.privacy
    layout = _layout(privacy, asked)
    noise, total = _noise(privacy, layout.size, layout.buckets), max(privacy.pairs, privacy.total)
    bound = noise.bound(max(total, 1))
    error = noise.deviation(total) if total else noise.sketch_deviation
    entries = math.ceil(layout.buckets * _bucket_bytes(privacy, layout))
    return Plan(
        asked,
        "sketch",
        Cost(privacy.epsilon, privacy.delta),
        Accuracy(error, False, 0.0, exact_entropy_deviation(privacy)),
        Numbers(
            layout.size, layout.buckets, float(noise.step(bound)), noise.noise(bound), bytes=HEADER_BYTES + entries
        ),
    )


def _layout(privacy: Privacy, asked: Asked) -> Layout:
    per_key = asked.one_per_key or _PER_KEY
    if asked.one_size is not None:
        layout = laid_out(asked.one_size, asked.one_per_key, _PER_KEY)
    elif asked.memory is not None:
        layout = _within(privacy, asked, asked.memory, LARGEST_IN_ALL)
    elif asked.free_error or asked.error is None:
        sharing = asked.measurement.sharing
        layout = _within(privacy, asked, asked.usual_memory // sharing, USUAL_ENTRIES // sharing)
    else:
        layout = _for_error(privacy, asked, asked.error, per_key)
    if layout.per_key < _FEWEST:
        name, value = ("entries_per_key", layout.per_key) if asked.one_per_key else ("size", layout.size)
        reason = f"an estimate of entropy takes at least {_FEWEST} entries"
        raise ArgumentError(name, value, reason, f"Pass {name}={_FEWEST} or more")
    return layout


def _within(privacy: Privacy, asked: Asked, memory: int, most: int) -> Layout:
    """As many buckets as fit into the memory, with no more than `most` entries; few entries are in one bucket."""
    room, per_key = memory - HEADER_BYTES, asked.one_per_key or _PER_KEY
    flat = math.floor(room / _bucket_bytes(privacy, Layout(1)))
    if asked.memory is not None:
        asked.size_within(_bucket_bytes(privacy, Layout(1)), asked.one_per_key or _FEWEST)  # refuses too little
    if asked.one_per_key is None and flat <= LARGEST_FLAT:
        return Layout(max(flat, _FEWEST))
    low, high = 1, most // per_key + 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = middle * _bucket_bytes(privacy, Layout(per_key, middle)) <= room
        low, high = (middle, high) if fits else (low, middle)
    return Layout(per_key, low)


def _for_error(privacy: Privacy, asked: Asked, error: float, per_key: int) -> Layout:
    """The error of the sketch alone, if no key dominates."""
    flat = entropy_size_for(error, privacy)
    if flat <= LARGEST_FLAT and asked.one_per_key is None:
        return Layout(flat)
    one, most = entropy_mean_deviation(per_key), LARGEST_IN_ALL // per_key
    buckets = max(math.ceil((one / error) ** 2), 1)
    if buckets > most:
        best = one / math.sqrt(most)
        raise PlanInfeasible(
            f"no sketch of up to {LARGEST_IN_ALL:,} entries has an error of {error:g} nats: the best is {best:.3g}. "
            f"{a_larger_error(best)}, or pass mechanism='exact'."
        )
    return Layout(per_key, buckets)


def entropy_noise(plan: Plan) -> EntropyNoise:
    """The noise of a release by this plan, from a sketch or from exact totals."""
    return _noise(plan.privacy, plan.size, plan.buckets)


@lru_cache(maxsize=64)
def _noise(privacy: Privacy, size: int, buckets: int) -> EntropyNoise:
    """One for all groups of a table: z takes a while."""
    return EntropyNoise(privacy, size, privacy.copies, buckets=buckets)


def _bucket_bytes(privacy: Privacy, layout: Layout) -> float:
    """An entry is a sum of f R, about as large as the total of its bucket; if there are several, they have theirs."""
    total = float(privacy.pairs or TYPICAL_MOMENT) * privacy.max_value
    beside = _TOTAL_BYTES if layout.buckets > 1 else 0
    return layout.per_key * entry_bytes(1.0, max(total / layout.buckets, 1.0)) + beside
