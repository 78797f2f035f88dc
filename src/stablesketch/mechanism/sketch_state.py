"""What the states of all sketches have in common: pairs in, merging, bytes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import BlobError
from ..secret import Secret
from ..sketch import Sketch
from .state import MeasuringState

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["SketchState"]


class SketchState(MeasuringState):
    """The sketch of one collector. Its entries never leave it but through `release` and `to_bytes`."""

    def __init__(self, plan: Plan, secret: Secret | None, sketch: Sketch | None = None) -> None:
        self._plan = plan
        self._sketch = self._opened(plan, secret) if sketch is None else sketch

    @staticmethod
    @abstractmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        """An empty sketch for this plan."""

    @staticmethod
    def _read(blob: bytes, secret: Secret | None) -> Sketch:
        return Sketch.from_bytes(blob, secret)

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        sketch = cls._read(blob, secret)
        wanted = cls._opened(plan, secret)
        asked, found = (
            f"p = {one.p} and {one.size} {one.law} entries in {one.buckets} buckets" for one in (wanted, sketch)
        )
        if asked != found:
            raise BlobError(f"a collector whose plan has {asked}, and whose sketch has {found}.")
        return cls(plan, secret, sketch)

    @property
    def pairs(self) -> int:
        return self._sketch.pairs

    @property
    def total(self) -> int:
        return self._sketch.total

    @property
    def secret(self) -> Secret:
        return self._sketch.secret

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        apply = self._sketch.delete if negative else self._sketch.update
        apply(keys, values, threads=threads, highest=self._plan.privacy.max_value)

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._sketch.fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._sketch.add_folded(fingerprints, totals, pairs)

    def merge(self, other: SketchState) -> None:
        self._sketch.merge(other._sketch)

    def to_bytes(self) -> bytes:
        return self._sketch.to_bytes()

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        first, *rest = [cls._read(state, None) for state in states]
        for other in rest:
            first.merge(other)
        return first.to_bytes()
