"""The linear core of Shannon's entropy: the same sketch with the maximally skewed law in the place of a symmetric one.

Entries hold -Σ f_k R_kj, R independent draws of the law of law/skewed.py. With N the total of all values, which a
sketch knows exactly, y_j = Σ (f_k/N) R_kj is distributed as R - H.
"""

from __future__ import annotations

import numpy as np

from .._native import SKEWED
from ..errors import ArgumentError
from ..law.stable import Array
from ..secret import Secret
from .sketch import Sketch, integer_entries

__all__ = ["EntropySketch"]


class EntropySketch(Sketch):
    """As `Sketch`, whatever it says of moments left aside; `locations` are what entropy is estimated from."""

    def __init__(self, size: int, secret: Secret | None = None) -> None:
        self._open(SKEWED, size, secret)

    @staticmethod
    def _checked_order(order: float) -> float:
        if order != SKEWED:
            raise ArgumentError("p", order, "this is not a sketch of entropy", "Read it with Sketch.from_bytes")
        return SKEWED

    def locations(self) -> Array:
        """y_j, each the nearest float to the exact quotient; the stream must not be empty."""
        entries, _, total = self._snapshot()
        unit = total << entries.resolution
        return np.array([-value / unit for value in integer_entries(entries)])
