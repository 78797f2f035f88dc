"""`State`: what a collector asks of the state of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..published import Release, Terms
from ..secret import Secret
from .measured import Measured

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["MeasuringState", "State"]


class State(Protocol):
    """Takes pairs, merges, travels as bytes; is checked before a release is paid, then releases."""

    def __init__(self, plan: Plan, secret: Secret | None) -> None: ...

    @property
    def pairs(self) -> int: ...

    @property
    def secret(self) -> Secret: ...

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        """All of the pairs, or none and an error."""

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        """What the state knows a column of keys by."""

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        """Pairs that were checked (folded.py) and added up by key; the state is as `add` leaves it."""

    def replan(self, plan: Plan) -> None:
        """Another plan of the same state in the place of the one there is."""

    def merge(self, other: Any) -> None:
        """Takes over the pairs of another state of the same plan and secret."""

    def to_bytes(self) -> bytes: ...

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self: ...

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        """What merging would give, as bytes, without the secret."""

    def check(self, confidence: float) -> None:
        """Raises what speaks against a release. Costs nothing and looks at public numbers alone."""

    def release(self, terms: Terms) -> Release:
        """The private value: the same each time, for its noise comes from the secret."""


class MeasuringState(State, Protocol):
    """Of a statistic that is measured itself, alone or for others to be computed from."""

    def measure(self, confidence: float) -> Measured:
        """What may be published of it."""
