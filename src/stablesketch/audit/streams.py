"""The neighbours that an audit tries: first the pair that attains the sensitivity, then others that may reveal a fault.

The first pair is as easy to tell apart as any if the plan is what it claims to be. A fault need not show there: noise
for one group when a person is in several, a norm that is worst when all pairs of a person have one key, an estimator
that leaks only next to many keys. So other pairs are tried too. A claim must hold for all neighbours, so each pair can
refute it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, Shown
from ..plan import Plan
from ..plan.in_words import of_one_person
from ..plan.mechanism import mechanism_of
from ..privacy import Privacy
from ..text.wording import arg

Integers = NDArray[np.int64]
StreamPairs = tuple[Integers, Integers]

_MOST_SHARED = 20_000_000  # pairs of one key per trial: with more, an audit would take days
_VARIED = 100  # keys of the others, if they have many
_BUSY = 50  # pairs of the key that the person joins


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ by one person. Each is one stream, or several: one for each group the person is in."""

    name: str
    first: tuple[StreamPairs, ...]
    second: tuple[StreamPairs, ...]


def neighbours_of(plan: Plan) -> list[Neighbours]:
    """The neighbours that an audit tries, the worst pair first: those that attain the sensitivity, or nearly, with the
    larger F_p first.

    In the worst pair all shared pairs have one key, and those that differ have new keys. This is the worst case for
    moments (privacy/neighbours.py), for entropy if every pair counts 1 (privacy/entropy/neighbours.py), and for the
    number of keys. Above order 1 the noise is on the norm, which changes most if all pairs of a person have one key
    and, if they are replaced, if many others have that key (privacy/noisy_norm.py).
    """
    privacy, shared = plan.privacy, _shared(plan)
    count, own = privacy.pairs_per_person, privacy.unit == "key"
    words, new, there = _Words(privacy), np.arange(1, count + 1), len(shared[0])
    others = f"beside {there:,} other {'keys' if own else 'pairs of one key'}" if there else "in an empty stream"
    usual = _alone(words.differ(words.new_keys, words.common_key, others), _apart(privacy, shared, new))
    together = _alone(
        words.differ("all on one new key", words.common_key, others), _apart(privacy, shared, np.ones_like(new))
    )
    found = [usual]
    if privacy.copies > 1:
        parts = [_apart(privacy, shared, keys) for keys in np.array_split(new, privacy.copies)]
        name = words.differ(f"on new keys, spread over {privacy.copies} groups", words.common_key, others)
        found.append(Neighbours(name, tuple(part[0] for part in parts), tuple(part[1] for part in parts)))
    if count > 1 and not own:
        found.append(together)
    if not own or there < _VARIED:
        name = words.differ(words.new_keys, words.common_key, f"beside {_VARIED} or more other keys")
        found.append(_alone(name, _apart(privacy, _varied(shared), new)))
    if not own:
        found.append(_busy(privacy, shared))
    if plan.statistic.worst_on_one_key and not own:
        worst = found[-1] if privacy.relation == "replace" else together
        found = [worst, *(each for each in found if each is not worst)]
    return found


def _busy(privacy: Privacy, shared: StreamPairs) -> Neighbours:
    """Neighbours in which the person's pairs have a key that many other pairs have."""
    new = np.arange(1, privacy.pairs_per_person + 1)
    busy = _followed(shared, np.zeros(max(_BUSY - len(shared[0]), 0), dtype=np.int64), 1)
    first = _followed(busy, np.zeros_like(new), privacy.max_value)
    second = _followed(busy, new, 1) if privacy.relation == "replace" else busy
    others = f"beside {len(busy[0]):,} other pairs of that key"
    return _alone(_Words(privacy).differ("on the most common key", "on new keys with value 1", others), (first, second))


@dataclass(frozen=True)
class _Words:
    """The names of neighbours in a report."""

    privacy: Privacy

    @property
    def who(self) -> str:
        return of_one_person(self.privacy.pairs_per_person, self.privacy.unit)

    @property
    def new_keys(self) -> str:
        if self.privacy.unit == "key":
            return f"with value {self.privacy.max_value:,}"
        return "on a new key" if self.privacy.pairs_per_person == 1 else "on new keys"

    @property
    def common_key(self) -> str:
        return "with value 1" if self.privacy.unit == "key" else "on the most common key with value 1"

    def differ(self, how: str, instead: str, beside: str) -> str:
        if self.privacy.relation == "replace":
            return f"{self.who} {how}, or {instead}, {beside}"
        return f"with and without {self.who} {how}, {beside}"


def _alone(name: str, streams: tuple[StreamPairs, StreamPairs]) -> Neighbours:
    return Neighbours(name, (streams[0],), (streams[1],))


def _apart(privacy: Privacy, shared: StreamPairs, keys: Integers) -> tuple[StreamPairs, StreamPairs]:
    """The shared pairs plus the largest values on these keys; and without them, or with the least visible pairs."""
    first = _followed(shared, keys, privacy.max_value)
    if privacy.relation == "add_remove":
        return first, shared
    return first, _followed(shared, keys if privacy.unit == "key" else np.zeros_like(keys), 1)


def _followed(stream: StreamPairs, keys: Integers, value: int) -> StreamPairs:
    return np.concatenate([stream[0], keys]), np.concatenate([stream[1], np.full(len(keys), value)])


def _varied(shared: StreamPairs) -> StreamPairs:
    """At least this many shared pairs; the first of them have their own keys."""
    stream = _followed(shared, np.zeros(max(_VARIED - len(shared[0]), 0), dtype=np.int64), 1)
    keys = stream[0].copy()
    keys[:_VARIED] = -np.arange(1, _VARIED + 1)
    return keys, stream[1]


def _shared(plan: Plan) -> StreamPairs:
    """The pairs that the worst neighbours share: all on one key or, if keys occur once, each on its own."""
    most, own = plan.privacy.max_value, plan.privacy.unit == "key"  # own: every pair has its own key
    # Both streams keep the promised total, with pairs of value 1 if possible.
    shared, needed = mechanism_of(plan).shared_by_neighbours(plan)
    shared = max(shared, -(-needed // most) if own else needed)
    if shared > _MOST_SHARED:
        raise ArgumentError(
            "plan", Shown(f"{shared:,} pairs"), f"must have worst-case neighbours of at most {_MOST_SHARED:,} pairs",
            f"Audit a plan of the same size and floor with {arg('pairs', _MOST_SHARED)} or fewer: each trial streams "
            "them all",
        )  # fmt: skip
    values = np.ones(shared, dtype=np.int64)
    if own and needed > shared:  # keys occur once: the missing total is on as few of them as can hold it
        full, rest = divmod(needed - shared, most - 1)
        values[:full] = most
        values[full : full + 1] += rest
    return -np.arange(1, shared + 1) if own else np.zeros(shared, dtype=np.int64), values
