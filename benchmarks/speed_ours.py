"""What is timed on our side: an update of a sketch, or the whole way from a plan to its release, on any tier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stablesketch import Moment, Plan, Privacy, Secret, Sketch, plan
from stablesketch._native import tier_names
from stablesketch.sketch import projection

__all__ = ["AVX2", "BEST", "SECRET", "SIZE", "forced", "planned", "releasing", "updating", "with_avx2"]

SECRET = Secret.from_bytes(bytes(range(32)))  # the same keys cost the same under any secret
BEST = tier_names()[0]
AVX2 = "avx2" if "avx2" in tier_names() else None
SIZE = 50


@contextmanager
def forced(tier: str) -> Iterator[None]:
    """What STABLESKETCH_TIER does at import, done at run time, so that the tiers can take turns in one process."""
    names = vars(projection)
    before, names["TIER"] = names["TIER"], tier
    try:
        yield
    finally:
        names["TIER"] = before


def updating(
    tier: str, keys: object, values: object = None, *, p: float = 0.5, size: int = SIZE, threads: int = 1
) -> Callable[[], object]:
    """A fresh sketch that takes one update."""

    def run() -> object:
        with forced(tier):
            sketch = Sketch(p, size, SECRET)
            sketch.update(keys, values, threads=threads)
            return sketch

    return run


def planned(error: float | None) -> Plan:
    """F_0.5 at ε = 1, δ = 1e-9, for an error, or by the default plan if none is given."""
    return plan(Moment(0.5), Privacy(1.0, 1e-9), error=error)


def releasing(tier: str, asked: Plan, keys: object, values: object, *, threads: int) -> Callable[[], object]:
    """A fresh collector under a fresh secret that takes one update and is released: the whole way to the number."""

    def run() -> object:
        with forced(tier):
            collector = asked.open()
            collector.update(keys, values, threads=threads)
            return collector.release()

    return run


def with_avx2(contestants: dict[str, Callable[[], object]], avx2: Callable[[str], Callable[[], object]]) -> None:
    if AVX2 is not None:
        contestants["ours, AVX2 tier"] = avx2(AVX2)
