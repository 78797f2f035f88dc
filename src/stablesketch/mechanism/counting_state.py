"""What the states have in common that hold no sketch of stable laws: fingerprints of keys, and a number of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import MergeError, SecretMismatch
from ..secret import Secret
from ..sketch.columns import Fingerprinter
from .state import MeasuringState

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["OTHER_SECRET", "CountingState"]

OTHER_SECRET = "collectors under different secrets cannot be merged: give every shard the same secret."


class CountingState(MeasuringState):
    """Counts pairs by the fingerprints of their keys."""

    def __init__(self, plan: Plan, secret: Secret | None) -> None:
        self._plan = plan
        self._secret = Secret.generate() if secret is None else secret
        self._fingerprinter = Fingerprinter.of(self._secret)
        self._pairs = 0

    @property
    def pairs(self) -> int:
        return self._pairs

    @property
    def secret(self) -> Secret:
        return self._secret

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._fingerprinter.fingerprint(keys)

    def _check_secret_of(self, other: Self) -> None:
        if other._secret != self._secret:
            raise MergeError(OTHER_SECRET)

    def _check_made_with(self, fingerprint: bytes) -> None:
        if fingerprint != self._secret.fingerprint:
            raise SecretMismatch(
                "this secret is not the one the collector was made with. Load the one it was made with."
            )
