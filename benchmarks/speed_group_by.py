"""Columns of ten million rows: an exact group-by against a small sketch, and against releases of a planned error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from speed_ours import AVX2, BEST, planned, releasing, updating
from speed_peers import THREADS, group_by
from speed_race import Scale, race, wall
from speed_streams import distinct_keys, distinct_texts, text_column, uniform_keys, zipf_keys
from speed_table import Row

__all__ = ["group_by_rows"]

Contestants = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Target:
    """The part of the fastest group-by's time that ours may take, and what is hoped for."""

    small: float | None = None
    small_stretch: float | None = None
    one_percent: float | None = None
    one_percent_stretch: float | None = None


def group_by_rows(scale: Scale) -> Iterator[Row]:
    rows, keys = scale.rows, scale.keys
    integers, texts = f"{power(rows)} integers", f"{power(rows)} texts of 15 bytes"
    yield from against(f"{integers}, Zipf(1.1) over {power(keys)}", zipf_keys(rows, keys), scale, Target(0.8, 0.5, 0.5))
    yield from against(f"{integers}, uniform over 1,000", uniform_keys(rows, 1_000), scale, Target(0.6, 0.3))
    yield from against(f"{integers}, all distinct", distinct_keys(rows), scale, Target(1.2, 0.7, 0.5, 0.3))
    yield from against(f"{texts}, Zipf(1.1)", text_column(rows, keys), scale, Target(0.8, None, 0.6))
    yield from against(f"{texts}, all distinct", distinct_texts(rows), scale, Target(one_percent=0.6))


def against(name: str, keys: NDArray[np.int64] | pa.Array, scale: Scale, target: Target) -> Iterator[Row]:
    """Time on the wall, two threads each, keys and values of 1 in columns: all contestants in one race.

    Three rows: an update of a sketch of 50 entries, a release planned for an error of 1%, and one by the default plan.
    """
    values = np.ones(len(keys), np.int64)
    peers = group_by(keys, values)
    ours: dict[str, tuple[Callable[[str], Callable[[], object]], float | None, float | None]] = {
        name: (
            lambda tier: updating(tier, keys, values, threads=THREADS),
            target.small,
            target.small_stretch,
        )
    }
    for error, goal, stretch in ((0.01, target.one_percent, target.one_percent_stretch), (None, None, None)):
        plan = planned(error)
        told = f"released within {error:.0%}" if error else "released by the default plan"
        ours[f"{name}, {told}, {plan.entries_per_key} per key"] = (
            lambda tier, plan=plan: releasing(tier, plan, keys, values, threads=THREADS),  # type: ignore[misc]
            goal,
            stretch,
        )
    contestants: Contestants = {**peers}
    for row, (run, _, _) in ours.items():
        contestants[row] = run(BEST)
        if AVX2 is not None:
            contestants[f"{row}, AVX2"] = run(AVX2)
    best = race(name, contestants, scale.long_rounds, wall)
    fastest = min(peers, key=lambda peer: best[peer])
    for row, (_, goal, stretch) in ours.items():
        avx2 = best.get(f"{row}, AVX2")
        yield Row(
            name=row,
            peer=f"{fastest}, exact group-by",
            unit="ms",
            theirs=1e3 * best[fastest],
            ours=1e3 * best[row],
            avx2=None if avx2 is None else 1e3 * avx2,
            target=None if goal is None else 1 / goal,
            stretch=None if stretch is None else 1 / stretch,
        )


def power(number: int) -> str:
    """10⁷ for 10**7."""
    return "10" + f"{math.log10(number):.0f}".translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
