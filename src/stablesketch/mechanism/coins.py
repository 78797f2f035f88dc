"""The coins of sub-sampling: is the pair at this place of this shard kept? A pseudorandom function of the secret.

The coin of place i is the i-th 64-bit word of SHAKE-256(key, shard, i // 4096), and the pair is kept if it is below
rate · 2^64, a whole number for every rate that a plan may have: the chance is exactly the rate. Coins depend on the
place and the shard alone, so the same stream gives the same sample however it is cut into batches. No place of a shard
comes twice into a release: see sampled_state.py.
"""

from __future__ import annotations

import hashlib
import struct

import numpy as np
from numpy.typing import NDArray

from ..secret import Secret

__all__ = ["Coins"]

_BLOCK = 4096


class Coins:
    """Bernoulli(rate) for the places 0, 1, ... of every shard, under one secret."""

    __slots__ = ("_key", "_threshold")  # no vars() to print a key from

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
