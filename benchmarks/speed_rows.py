"""The comparisons, one function each, with the targets they were given."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import import_time
from speed_peers import THREADS, chambers_mallows_stuck, group_by, loops
from speed_race import cpu_of_this_thread, progress, race, wall
from speed_streams import distinct_keys, text_column, uniform_keys, zipf_keys
from speed_table import Row
from stablesketch import Secret, Sketch
from stablesketch._native import tier_names
from stablesketch.sketch import projection

__all__ = ["Scale", "all_rows"]

SECRET = Secret.from_bytes(bytes(range(32)))  # the same keys cost the same under any secret
BEST = tier_names()[0]
AVX2 = "avx2" if "avx2" in tier_names() else None
SIZE = 50


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rows: int = 10**7  # of the group-bys
    keys: int = 10**6  # behind the Zipf law, and distinct ones where single variates are measured
    items: int = 2 * 10**5  # of the Python loops
    rounds: int = 15  # of the short races
    long_rounds: int = 7  # of the group-bys and the loops
    openings: int = 41


@contextmanager
def forced(tier: str) -> Iterator[None]:
    """What STABLESKETCH_TIER does at import, done in between, so that the tiers can take turns in one process."""
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


def with_avx2(contestants: dict[str, Callable[[], object]], avx2: Callable[[str], Callable[[], object]]) -> None:
    if AVX2 is not None:
        contestants["ours, AVX2 tier"] = avx2(AVX2)


def all_rows(scale: Scale) -> list[Row]:
    return [
        *per_variate(scale),
        two_threads(scale),
        larger_sketch(scale),
        *integer_columns(scale),
        text_from_arrow(scale),
        *python_loops(scale),
        opening(scale),
        importing(scale),
    ]


def per_variate(scale: Scale) -> Iterator[Row]:
    """CPU time of one thread: an update of distinct keys, everything included, against X alone by numpy."""
    rng = np.random.default_rng(5)
    u, v = rng.random(10**6), rng.random(10**6)
    keys = distinct_keys(scale.keys)
    few = keys[: max(scale.keys // 20, 1)]  # enough for the plain tier
    per_ours, per_plain, per_theirs = 1e9 / (len(keys) * SIZE), 1e9 / (len(few) * SIZE), 1e9 / len(u)
    for p, target, stretch in ((0.5, 10.0, 18.0), (0.05, 6.0, None), (1.0, 1.5, None)):
        contestants: dict[str, Callable[[], object]] = {
            "numpy": lambda p=p: chambers_mallows_stuck(p, u, v),  # type: ignore[misc]
            "ours": updating(BEST, keys, p=p),
            "ours, plain tier": updating("plain", few, p=p),
        }
        with_avx2(contestants, lambda tier, p=p: updating(tier, keys, p=p))  # type: ignore[misc]
        best = race(f"one variate, p = {p:g}", contestants, scale.rounds, cpu_of_this_thread)
        avx2 = best.get("ours, AVX2 tier")
        yield Row(
            name=f"a variate, p = {p:g}, one thread",
            peer="numpy, tan θ" if p == 1.0 else "numpy, Chambers-Mallows-Stuck",
            unit="ns",
            theirs=per_theirs * best["numpy"],
            ours=per_ours * best["ours"],
            avx2=None if avx2 is None else per_ours * avx2,
            target=target,
            stretch=stretch,
        )
        yield Row(
            name=f"the same by the plain tier, p = {p:g}",
            peer="numpy, as above",
            unit="ns",
            theirs=per_theirs * best["numpy"],
            ours=per_plain * best["ours, plain tier"],
        )


def two_threads(scale: Scale) -> Row:
    """Time on the wall. The AVX2 tier is held to the same 1.7: threads have nothing to do with tiers."""
    keys = distinct_keys(scale.keys)
    contestants = {"one thread": updating(BEST, keys), "two threads": updating(BEST, keys, threads=2)}
    if AVX2 is not None:
        contestants |= {"one, AVX2": updating(AVX2, keys), "two, AVX2": updating(AVX2, keys, threads=2)}
    best = race("two threads", contestants, scale.rounds, wall)
    per = 1e9 / (len(keys) * SIZE)
    return Row(
        name="a variate, p = 0.5, two threads",
        peer="ours, one thread",
        unit="ns",
        theirs=per * best["one thread"],
        ours=per * best["two threads"],
        theirs_avx2=per * best["one, AVX2"] if AVX2 else None,
        avx2=per * best["two, AVX2"] if AVX2 else None,
        target=1.7,
        share_avx2=1.0,
    )


def larger_sketch(scale: Scale) -> Row:
    """A hundred times the entries and a hundredth of the keys: the same number of variates."""
    keys = distinct_keys(scale.keys)
    few = keys[: len(keys) // 100]
    contestants = {"size 50": updating(BEST, keys), "size 5,000": updating(BEST, few, size=100 * SIZE)}
    if AVX2 is not None:
        contestants |= {"50, AVX2": updating(AVX2, keys), "5,000, AVX2": updating(AVX2, few, size=100 * SIZE)}
    best = race("size 5,000", contestants, scale.rounds, cpu_of_this_thread)
    per = 1e9 / (len(few) * 100 * SIZE)
    return Row(
        name="a variate at size 5,000, one thread",
        peer="ours, size 50",
        unit="ns",
        theirs=per * best["size 50"],
        ours=per * best["size 5,000"],
        theirs_avx2=per * best["50, AVX2"] if AVX2 else None,
        avx2=per * best["5,000, AVX2"] if AVX2 else None,
        target=1 / 1.3,
        share_avx2=1.0,
    )


def against_group_by(
    name: str, keys: NDArray[np.int64] | pa.Array, scale: Scale, target: float, stretch: float | None
) -> Row:
    """Time on the wall, two threads each, keys and values of 1 in columns: the fastest group-by against an update."""
    values = np.ones(len(keys), np.int64)
    peers = group_by(keys, values)
    contestants: dict[str, Callable[[], object]] = {**peers, "ours": updating(BEST, keys, values, threads=THREADS)}
    with_avx2(contestants, lambda tier: updating(tier, keys, values, threads=THREADS))
    best = race(name, contestants, scale.long_rounds, wall)
    fastest = min(peers, key=lambda peer: best[peer])
    avx2 = best.get("ours, AVX2 tier")
    return Row(
        name=name,
        peer=f"{fastest}, exact group-by",
        unit="ms",
        theirs=1e3 * best[fastest],
        ours=1e3 * best["ours"],
        avx2=None if avx2 is None else 1e3 * avx2,
        target=target,
        stretch=stretch,
    )


def power(number: int) -> str:
    """10⁷ for 10**7."""
    return "10" + f"{math.log10(number):.0f}".translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def integer_columns(scale: Scale) -> Iterator[Row]:
    rows, keys, many = scale.rows, scale.keys, f"{power(scale.rows)} integers"
    zipf = f"{many}, Zipf(1.1) over {power(keys)}"
    yield against_group_by(zipf, zipf_keys(rows, keys), scale, 1 / 0.8, 1 / 0.5)
    yield against_group_by(f"{many}, uniform over 1,000", uniform_keys(rows, 1_000), scale, 1 / 0.6, 1 / 0.3)
    yield against_group_by(f"{many}, all distinct", distinct_keys(rows), scale, 1 / 1.2, 1 / 0.7)


def text_from_arrow(scale: Scale) -> Row:
    name = f"{power(scale.rows)} texts of 15 bytes, Zipf(1.1)"
    return against_group_by(name, text_column(scale.rows, scale.keys), scale, 1 / 0.8, None)


def python_loops(scale: Scale) -> Iterator[Row]:
    """CPU time of one thread, a Python list of text: one call of ours against a loop over each of theirs.

    Last, what one should not do: ours in the same loop, a call for each item.
    """
    items = text_column(scale.items, scale.keys).to_pylist()
    few = items[: max(scale.items // 100, 1)]
    peers = loops(items)

    def one_by_one() -> object:
        sketch = Sketch(0.5, SIZE, SECRET)
        for item in few:
            sketch.update([item])
        return sketch

    contestants: dict[str, Callable[[], object]] = {
        **peers,
        "ours": updating(BEST, items),
        "ours, in a loop": one_by_one,
    }
    with_avx2(contestants, lambda tier: updating(tier, items))
    best = race("Python lists", contestants, max(scale.long_rounds // 2, 1), cpu_of_this_thread)
    per, avx2 = 1e9 / len(items), best.get("ours, AVX2 tier")
    for peer in peers:
        yield Row(
            name="an item of a Python list, one thread",
            peer=f"{peer}, loop",
            unit="ns",
            theirs=per * best[peer],
            ours=per * best["ours"],
            avx2=None if avx2 is None else per * avx2,
        )
    yield Row(
        name="an item of a Python list, a call each",
        peer="datasketches, HLL, loop",
        unit="ns",
        theirs=per * best["datasketches, HLL"],
        ours=1e9 / len(few) * best["ours, in a loop"],
    )


def opening(scale: Scale) -> Row:
    """The median over orders p never used before: the table of X has to be made for each."""
    taken = []
    for p in np.random.default_rng(6).uniform(0.05, 1.0, scale.openings):
        progress(f"opening at p = {p:.4f}")
        start = time.perf_counter()
        Sketch(float(p), SIZE, SECRET)
        taken.append(time.perf_counter() - start)
    return Row(
        name="opening a sketch at a new p, median",
        peer="the 100 ms allowed",
        unit="ms",
        theirs=100.0,
        ours=1e3 * statistics.median(taken),
        target=1.0,
    )


def importing(scale: Scale) -> Row:
    progress("import")
    import_time.measure()
    taken = [sum(import_time.measure()) for _ in range(max(scale.rounds // 2, 3))]
    return Row(
        name="import stablesketch, numpy included",
        peer="the 300 ms allowed",
        unit="ms",
        theirs=300.0,
        ours=1e3 * min(taken),
        target=1.0,
    )
