"""Uniform integers from a key. Noise is drawn from them, so that the same secret and the same data give the same value.

The key is derived for one purpose (`Secret.derive`) from the collector's secret, which has one release. Anyone who does
not know the secret cannot distinguish these integers from fresh random ones, by the same assumption as for the
projection.
"""

from __future__ import annotations

import hashlib

_BLOCK = 256


class KeyedIntegers:
    """SHAKE-256(key, counter), cut to as many bits as are needed."""

    __slots__ = ("_counter", "_key", "_left")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        self._left = b""

    def below(self, n: int) -> int:
        """Uniform on 0..n-1: a number that is not below n is drawn again."""
        bits = (n - 1).bit_length()
        while True:
            drawn = int.from_bytes(self._take(-(-bits // 8)), "little") & ((1 << bits) - 1)
            if drawn < n:
                return drawn

    def _take(self, count: int) -> bytes:
        while len(self._left) < count:
            block = hashlib.shake_256(self._key + self._counter.to_bytes(8, "little")).digest(_BLOCK)
            self._left += block
            self._counter += 1
        taken, self._left = self._left[:count], self._left[count:]
        return taken
