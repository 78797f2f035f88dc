"""Entries as integers: read at once where 64 bits hold them, one by one where they do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from stablesketch import _native
from stablesketch.sketch.entry_values import integer_entries


@dataclass
class Held:
    """As much of `Entries` as is read."""

    digits: int
    values: list[int]

    def state(self) -> bytes:
        return b"".join(value.to_bytes(4 * self.digits, "little", signed=True) for value in self.values)


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 7])
def test_every_size_and_sign(digits: int) -> None:
    """Around every power of two that fits, and random ones."""
    bits = 32 * digits - 1
    rng = np.random.default_rng(digits)
    values = [0, -1, 1, (1 << bits) - 1, -(1 << bits)]
    for power in range(bits):
        values += [sign * (1 << power) + off for sign in (1, -1) for off in (-1, 0, 1)]
    values += [
        int.from_bytes(rng.bytes(4 * digits), "little", signed=True) >> int(rng.integers(0, bits)) for _ in range(500)
    ]
    values = [value for value in values if -(1 << bits) <= value < 1 << bits]
    assert integer_entries(cast(_native.Entries, Held(digits, values))) == values
    assert integer_entries(cast(_native.Entries, Held(digits, []))) == []
