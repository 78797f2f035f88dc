"""The bare mechanism with sampling: coins decide which pairs reach the sketch, once for all entries or for each entry.

**Places.** The coin of a pair belongs to its place: a shard's name, and the number of pairs in the state before it. A
collector uses the first name of its shards. No place occurs twice in one release: the number only grows, by updates and
by merging, and a name is merged once, so anything counted earlier under that name has a lower number.

With coins for each entry there are `size` sketches of one entry each, under secrets derived for them, so the coins and
projections of different entries are independent.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...errors import HIDDEN, ArgumentError, BlobError, MergeError
from ...format.framing import Reader
from ...plan.plan import Plan
from ...secret import Secret
from ...sketch import Sketch
from ...sketch.columns import value_column
from ...sketch.workers import checked_threads
from ...text.wording import either
from ..bare.moment import BareState
from ..shared.state import SketchState

_HEADER = struct.Struct("<QQQ")  # pairs, total (128 bits)
_LENGTH = struct.Struct("<Q")
_BLOCK = 4096

_WITH_THE_SECRET = "Read them with Collector.from_bytes(blob, secret) and merge those"


class SampledState(BareState):
    """The sketch of a sample of the stream; `pairs` and `total` are those of the whole stream."""

    def __init__(self, plan: Plan, secret: Secret | None) -> None:
        assert plan.sampled is not None
        held = Secret.generate() if secret is None else secret
        super().__init__(plan, held)
        self._sampling = plan.sampled.sampling
        self._shard = ""
        self._pairs = self._total = 0
        p, size = plan.statistic.p, plan.size
        if self._sampling.per == "pair":
            self._sampled_sketches = [self._sketch]
        else:
            self._sampled_sketches = [
                Sketch(p, 1, held.child(f"sampled entry {j}"), law="symmetric") for j in range(size)
            ]
        self._coins = [Coins(sketch.secret, self._sampling.rate) for sketch in self._sampled_sketches]

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        """Reads the result of `to_bytes`."""
        self = cls(plan, secret)
        reader = Reader("a sampled collector", blob)
        self._pairs, low, high = reader.unpack(_HEADER)
        self._total = low | high << 64
        if not _countable(self._pairs, self._total):
            raise BlobError("impossible number of pairs in a sampled collector: corrupt data.")
        for i, sketch in enumerate(self._sampled_sketches):
            read = Sketch.from_bytes(reader.sized(_LENGTH), sketch.secret)
            if (read.p, read.law, read.size) != (sketch.p, sketch.law, sketch.size):
                raise BlobError("the sketches of a sampled collector do not match its plan: corrupt data.")
            self._sampled_sketches[i] = read
        reader.end()
        if self._sampling.per == "pair":
            self._sketch = self._sampled_sketches[0]
        return self

    def to_bytes(self) -> bytes:
        """pairs (8), total (16), then each sketch: length (8), bytes."""
        blobs = [sketch.to_bytes() for sketch in self._sampled_sketches]
        header = _HEADER.pack(self._pairs, self._total & (1 << 64) - 1, self._total >> 64)
        return header + b"".join(_LENGTH.pack(len(blob)) + blob for blob in blobs)

    @property
    def pairs(self) -> int:
        return self._pairs

    @property
    def total(self) -> int:
        return self._total

    def in_shard(self, shard: str) -> None:
        self._shard = shard

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        """Checks all values, even those of pairs that are not kept, and then counts the kept pairs."""
        assert not negative  # plans with sampling have no deletes
        checked_threads(threads)
        fingerprints = self.fingerprint(keys)
        count = len(fingerprints)
        weights = value_column(values, count, highest=self._plan.privacy.max_value).weights(0, count)
        self._add_pairs(fingerprints, weights, threads)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        """Every pair has its own coin, so each must be a row, in the order in which `add` would see them."""
        if pairs != len(fingerprints):
            raise ArgumentError(
                "pairs", HIDDEN, "must be the number of rows",
                "Pass the pairs one by one, not added up by key",
                because="with sampling every pair is a row of its own",
            )  # fmt: skip
        self._add_pairs(fingerprints, totals, None)

    def _add_pairs(self, fingerprints: NDArray[np.uint64], weights: NDArray[np.int64], threads: int | None) -> None:
        for sketch, coins in zip(self._sampled_sketches, self._coins, strict=True):
            kept = coins.kept(self._shard, self._pairs, len(fingerprints))
            sketch.add_folded(fingerprints[kept], weights[kept], len(kept), threads=threads)
        self._pairs += len(fingerprints)
        self._total += int(weights.sum(dtype=object)) if len(weights) else 0

    def merge(self, other: SketchState) -> None:
        assert isinstance(other, SampledState)  # the collectors have the same plan
        if not _countable(self._pairs + other._pairs, self._total + other._total):
            raise MergeError("the two collectors together have an impossible number of pairs: one of them is corrupt.")
        for mine, theirs in zip(self._sampled_sketches, other._sampled_sketches, strict=True):
            mine.merge(theirs)
        self._pairs += other._pairs
        self._total += other._total

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        raise MergeError(
            "sketches of a plan with sampling can be merged only with the secret. "
            f"{either(_WITH_THE_SECRET, 'Release them together: stablesketch release a.ssk b.ssk --secret s.key')}."
        )

    def _sketches(self) -> list[Sketch]:
        return self._sampled_sketches

    def _pivot_confidence(self, confidence: float) -> float:
        """Half of the allowed failure probability is left for the sample: see `_answer`."""
        return 0.5 + 0.5 * confidence

    def _answer(self, value: float, low: float, high: float, confidence: float) -> tuple[float, float, float]:
        """F'/q^p, where F' is the moment of the sample; and limits for F_p from limits for F'.

        With μ = E F', Var F' <= M^p μ (privacy/sample_moment.py). So |F' - μ| <= k sqrt(M^p μ) except with probability
        1/k² (Chebyshev), and sqrt μ lies between (sqrt(k² M^p + 4 F') ∓ k sqrt(M^p))/2. And q F_p <= μ <= q^p F_p.
        """
        p, rate = self._plan.statistic.p, self._sampling.rate
        spread = math.sqrt(self._plan.privacy.max_value**p * 2.0 / (1.0 - confidence))
        least = 0.5 * (math.sqrt(spread**2 + 4.0 * max(low, 0.0)) - spread)
        most = 0.5 * (math.sqrt(spread**2 + 4.0 * max(high, 0.0)) + spread)
        return value / rate**p, least**2 / rate**p, most**2 / rate


def _countable(pairs: int, total: int) -> bool:
    """Whether the header can hold these numbers, with room for further counting."""
    return pairs < 2**63 and total < 2**127


class Coins:
    """Bernoulli(rate) for the places 0, 1, ... of every shard, under one secret: is the pair at this place kept?

    The coin of place i is the i-th 64-bit word of SHAKE-256(key, shard, i // 4096), and the pair is kept if the word is
    below rate · 2^64. This is a whole number for every rate that a plan can have, so the probability is exactly the
    rate. Coins depend only on the place and the shard, so the same stream gives the same sample however it is batched.
    """

    __slots__ = ("_key", "_threshold")  # no vars() that shows a key

    def __init__(self, secret: Secret, rate: float) -> None:
        self._key = secret.derive("sampling/coins")
        self._threshold = np.uint64(int(rate * 2.0**64))

    def kept(self, shard: str, start: int, count: int) -> NDArray[np.intp]:
        """Which of the places start, ..., start + count - 1 are kept, counted from `start`."""
        if not count:
            return np.zeros(0, np.intp)
        name = shard.encode()
        prefix = self._key + struct.pack("<H", len(name)) + name
        first, last = start // _BLOCK, (start + count - 1) // _BLOCK
        found = []
        for block in range(first, last + 1):
            digest = hashlib.shake_256(prefix + struct.pack("<Q", block)).digest(8 * _BLOCK)
            below = np.flatnonzero(np.frombuffer(digest, "<u8") < self._threshold)
            found.append(below + (block * _BLOCK - start))
        places = np.concatenate(found)
        out: NDArray[np.intp] = places[(places >= 0) & (places < count)]
        return out
