"""Nanoseconds per variate, one-sided and symmetric, measured in one run: python benchmarks/one_sided.py

Distinct keys, 200 entries, one thread, thread time, the best of several turns that alternate between the two laws.
"""

from __future__ import annotations

import time

import numpy as np

from stablesketch._native import Accumulator, tier_names
from stablesketch.sketch.entry_law import EntryLaw

SIZE, TURNS = 200, 9
KEYS = {"avx512": 60_000, "avx2": 20_000, "plain": 3_000}
ORDERS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


def nanoseconds(law: EntryLaw, tier: str, keys: np.ndarray) -> float:
    accumulator = Accumulator(law, SIZE, bytes(range(16)), 0, 0, tier)
    start = time.thread_time()
    accumulator.add(keys, None, False)
    return 1e9 * (time.thread_time() - start) / (len(keys) * SIZE)


def main() -> None:
    print("tier    p     symmetric  one-sided  ratio")
    for tier in tier_names():
        keys = np.random.default_rng(1).integers(0, 2**64, KEYS[tier], dtype=np.uint64)
        for p in ORDERS:
            laws = EntryLaw("symmetric", p), EntryLaw("one-sided", p)
            turns = [[nanoseconds(law, tier, keys) for law in laws] for _ in range(TURNS)]
            symmetric, one_sided = map(min, zip(*turns, strict=True))
            print(f"{tier:7} {p:<5} {symmetric:9.2f}  {one_sided:9.2f}  {one_sided / symmetric:.2f}")


if __name__ == "__main__":
    main()
