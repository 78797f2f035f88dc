"""Plans of Shannon's entropy by a sketch: entries for the error, noise on its mass N H and on N for the privacy.

What is released, and why it is private for streams of any length, of people and in groups: privacy/noisy_entropy.py.

**Entries in buckets.** A key touches the g entries of its bucket. With p_k the share of a key in N, v the variance of an
estimate from g entries and B buckets, the estimate errs by sqrt(v (1/B + Σ p_k²)), nearly: sqrt(v/B) if no key
dominates, sqrt(v) if one holds everything. More entries in all lower the first, more entries a key the second alone
(g v is 3.1 at 64 entries, 3.4 at 16 and 3 in the limit). On real streams heavy keys decide: in 20,480 entries, from 16, 32,
64 and 128 of them a key, the one with the heaviest keys (Σ p² = 0.013, a key with 9% of all) errs by 0.055, 0.039, 0.028
and 0.022 nats, those without by 0.013 to 0.012. So there are 64, and 320 buckets in the 256 KB that a sketch takes by
default. Few entries stay together: fewer than 8 buckets save little, and err the more by heavy keys.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ..errors import ArgumentError, PlanInfeasible
from ..privacy import Privacy
from ..privacy.noisy_entropy import EntropyNoise, entropy_size_for
from ..sketch import entry_bytes
from ..sketch.estimators.entropy_mean import entropy_mean_deviation
from ..statistic import Shannon
from .exact_entropy_plan import exact_entropy_deviation
from .phantoms import Phantoms
from .plan import LARGEST_IN_ALL, Plan
from .wanted import HEADER_BYTES, LARGEST_SIZE, Wanted
from .ways_out import a_larger_error

__all__ = ["entropy_buckets", "entropy_noise", "entropy_plan"]

_FEWEST = 16  # with fewer entries the estimate has too heavy a tail
_ENTRIES = 64  # of a bucket
_USUAL_BUCKETS = 320
_FEWEST_BUCKETS = 8
_MOST_BUCKETS = LARGEST_IN_ALL // _ENTRIES
_TOTAL_BYTES = 8  # of a bucket


def entropy_plan(statistic: Shannon, privacy: Privacy, wanted: Wanted) -> Plan:
    """By the size asked for, the memory, or the error, which is that of the sketch if no key dominates; the noise comes
    on top."""
    size, buckets = _layout(privacy, wanted)
    noise, total = _noise(privacy, size, buckets), max(privacy.pairs, privacy.total)
    bound = noise.bound(max(total, 1))
    return Plan(
        statistic=statistic,
        privacy=privacy,
        mechanism="sketch",
        size=size,
        phantoms=Phantoms(0, 1),
        step=float(noise.step(bound)),
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        pure_epsilon=math.inf,
        error=noise.deviation(total) if total else noise.sketch_deviation,
        relative=False,
        expected=0.0,
        bytes=HEADER_BYTES + math.ceil(buckets * _bucket_bytes(privacy, size // buckets, buckets)),
        exact_error=exact_entropy_deviation(privacy),
        deletes=wanted.deletes,
        noise=noise.noise(bound),
        buckets=buckets,
    )


def entropy_buckets(size: int) -> int:
    """Into how many buckets a sketch of so many entries is shared out: of 64 entries each, or of the next even number
    below 128 that leaves nothing over. 1 if there would be fewer than 8, or if there is no such number."""
    if size >= _FEWEST_BUCKETS * _ENTRIES:
        for entries in range(_ENTRIES, 2 * _ENTRIES, 2):
            if size % entries == 0 and size >= _FEWEST_BUCKETS * entries:
                return size // entries
    return 1


def _layout(privacy: Privacy, wanted: Wanted) -> tuple[int, int]:
    """Entries in all, and buckets."""
    if wanted.size is not None:
        return _of_size(wanted.size)
    if wanted.memory is not None:
        return _within(privacy, wanted)
    if wanted.error is None or wanted.usual:
        return _ENTRIES * _USUAL_BUCKETS, _USUAL_BUCKETS
    size = entropy_size_for(wanted.error, privacy)
    if size < _FEWEST_BUCKETS * _ENTRIES:
        return size, 1
    one = entropy_mean_deviation(_ENTRIES)
    buckets = math.ceil((one / wanted.error) ** 2)
    if buckets > _MOST_BUCKETS:
        best = one / math.sqrt(_MOST_BUCKETS)
        raise PlanInfeasible(
            f"no sketch of up to {LARGEST_IN_ALL:,} entries has an error of {wanted.error:g} nats: the best is "
            f"{best:.3g}. {a_larger_error(best)}, or pass mechanism='exact'."
        )
    return _ENTRIES * buckets, buckets


def _of_size(size: int) -> tuple[int, int]:
    if size < _FEWEST:
        raise ArgumentError(
            "size", size, f"a sketch of entropy has at least {_FEWEST} entries", f"Pass size={_FEWEST} or more"
        )
    buckets = entropy_buckets(size)
    if buckets == 1 and size > LARGEST_SIZE:
        whole = size // _ENTRIES * _ENTRIES
        raise ArgumentError("size", size, f"it must be a multiple of {_ENTRIES}", f"Pass size={whole}")
    return size, buckets


def _within(privacy: Privacy, wanted: Wanted) -> tuple[int, int]:
    """As many buckets as the memory holds, or entries where that is too little for buckets."""
    assert wanted.memory is not None
    room, buckets = wanted.memory - HEADER_BYTES, _FEWEST_BUCKETS
    if buckets * _bucket_bytes(privacy, _ENTRIES, buckets) > room:
        size = wanted.size_within(_bucket_bytes(privacy, 1, 1), _FEWEST)
        return min(size, _FEWEST_BUCKETS * _ENTRIES - 1), 1
    high = _MOST_BUCKETS + 1
    while high - buckets > 1:
        middle = (buckets + high) // 2
        fits = middle * _bucket_bytes(privacy, _ENTRIES, middle) <= room
        buckets, high = (middle, high) if fits else (buckets, middle)
    return _ENTRIES * buckets, buckets


def entropy_noise(plan: Plan) -> EntropyNoise:
    """The noise of a release by this plan, from a sketch or from exact totals."""
    return _noise(plan.privacy, plan.size, plan.buckets)


@lru_cache(maxsize=64)
def _noise(privacy: Privacy, size: int, buckets: int) -> EntropyNoise:
    """One for all groups of a table: z takes a while."""
    return EntropyNoise(privacy, size, privacy.copies, buckets=buckets)


def _bucket_bytes(privacy: Privacy, entries: int, buckets: int) -> float:
    """An entry is a sum of f R, about as large as the total of its bucket; if there are several, they have theirs."""
    total = float(max(privacy.pairs, 1)) * privacy.max_value
    return entries * entry_bytes(1.0, max(total / buckets, 1.0)) + (_TOTAL_BYTES if buckets > 1 else 0)
