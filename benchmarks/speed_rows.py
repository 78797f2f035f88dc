"""The comparisons, one function each, with the targets they were given."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

import import_time
from speed_group_by import group_by_rows
from speed_ours import AVX2, BEST, SECRET, SIZE, updating, with_avx2
from speed_peers import chambers_mallows_stuck, loops
from speed_race import Scale, cpu_of_this_thread, progress, race, wall
from speed_streams import distinct_keys, text_column
from speed_table import Row
from stablesketch import Sketch

__all__ = ["all_rows"]


def all_rows(scale: Scale) -> list[Row]:
    return [
        *per_variate(scale),
        two_threads(scale),
        larger_sketch(scale),
        *group_by_rows(scale),
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
        name="import all of stablesketch, numpy included",
        peer="the 300 ms allowed",
        unit="ms",
        theirs=300.0,
        ours=1e3 * min(taken),
        target=1.0,
    )
