"""What a collector holds of a stream: one protocol, whatever the mechanism."""

from __future__ import annotations

from typing import Protocol, Self

from ..release import Release

__all__ = ["State"]


class State(Protocol):
    """The state of a mechanism. Adding either succeeds or leaves the state unchanged."""

    @property
    def pairs(self) -> int:
        """Net pairs."""

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        """Counts pairs, or takes them back."""

    def merge(self, other: Self) -> None:
        """Adds the stream of another state of the same plan and secret."""

    def to_bytes(self) -> bytes:
        """The state, without the secret."""

    def release(self, confidence: float) -> Release:
        """The private value. Called once."""
