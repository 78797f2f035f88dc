"""What to know of a stream: a frozen object that names the statistic and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from .law import StableLaw

__all__ = ["Moment"]


@dataclass(frozen=True)
class Moment:
    """F_p = sum over keys of (total of the key)^p, for p in [0.05, 1]: the larger, the more diverse the stream."""

    p: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", StableLaw(self.p).p)  # which refuses a p that is not one

    def __str__(self) -> str:
        return f"F_{self.p:g}"
