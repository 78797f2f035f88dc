"""`Sampled`: how a plan samples its pairs, compared with a plan that does not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..privacy.sampling import Sampling


@dataclass(frozen=True)
class Sampled:
    """How a plan samples, its expected relative bias, and a plan of the same size without sampling, for comparison.

    `unsampled_error` and `unsampled_floor` belong to the plan that reaches the same (ε, δ) by a floor alone.
    `bare_epsilon` is the ε that the entries would have with neither sampling nor a floor.
    """

    sampling: Sampling
    bias: float
    unsampled_error: float
    unsampled_floor: float
    bare_epsilon: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sampled:
        """Reads the result of `asdict`; anything else is a TypeError or an ArgumentError."""
        numbers = {name: data[name] for name in ("bias", "unsampled_error", "unsampled_floor", "bare_epsilon")}
        sound = all(type(value) is float and not math.isnan(value) for value in numbers.values())
        if set(data) != {"sampling", *numbers} or not sound:
            raise TypeError("not the fields of a sampled plan")
        return cls(Sampling(**data["sampling"]), **numbers)
