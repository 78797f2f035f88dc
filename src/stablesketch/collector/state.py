"""What a collector holds of a stream: one protocol, whatever the mechanism."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..release import Release
from ..sketch.columns import KeyColumn

__all__ = ["State"]


class State(Protocol):
    """The state of a mechanism. Adding either succeeds or leaves the state unchanged."""

    @property
    def pairs(self) -> int:
        """Net pairs."""

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        """Counts pairs, or takes them back."""

    def fingerprints(self, keys: object) -> KeyColumn:
        """The column of keys as fingerprints under the secret."""

    def add_totals(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        """Counts `pairs` pairs that were checked and added up by key already."""

    def merge(self, other: Self) -> None:
        """Adds the stream of another state of the same plan and secret."""

    def to_bytes(self) -> bytes:
        """The state, without the secret."""

    def check(self, confidence: float) -> None:
        """Raises what speaks against a release of this state at this confidence."""

    def release(self, confidence: float) -> Release:
        """The private value. Called once, after `check`: whatever can be wrong with the data shows there."""
