"""The streams of the benchmark: columns of keys, the same ones for every contestant."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

__all__ = ["distinct_keys", "distinct_texts", "text_column", "uniform_keys", "zipf_keys"]

Keys = NDArray[np.int64]
_SPREAD = 0x2545F4914F6CDD1D  # odd, so that multiplying by it modulo 2^64 is one to one


def _identities(ranks: NDArray[np.int64], rng: np.random.Generator, count: int) -> Keys:
    """Ranks 0..count-1 as keys all over the 64 bits, with nothing of the rank left in their order."""
    with np.errstate(over="ignore"):
        names = rng.permutation(count).astype(np.int64) * np.int64(_SPREAD)
    chosen: Keys = names[ranks]
    return chosen


def _zipf_ranks(rows: int, keys: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """P(rank k) proportional to (k + 1)^-1.1, k = 0..keys-1."""
    cumulative = np.cumsum(np.arange(1.0, keys + 1.0) ** -1.1)
    ranks: NDArray[np.int64] = np.searchsorted(cumulative, cumulative[-1] * rng.random(rows)).astype(np.int64)
    return ranks


def zipf_keys(rows: int, keys: int) -> Keys:
    rng = np.random.default_rng(1)
    return _identities(_zipf_ranks(rows, keys, rng), rng, keys)


def uniform_keys(rows: int, keys: int) -> Keys:
    rng = np.random.default_rng(2)
    return _identities(rng.integers(0, keys, rows), rng, keys)


def distinct_keys(rows: int) -> Keys:
    rng = np.random.default_rng(3)
    return _identities(np.arange(rows), rng, rows)


def text_column(rows: int, keys: int) -> pa.Array:
    """Zipf again, as text of 15 bytes: user- and ten digits."""
    rng = np.random.default_rng(4)
    names = pa.array([f"user-{number:010d}" for number in (7_919 * rng.permutation(keys)).tolist()])
    return names.take(pa.array(_zipf_ranks(rows, keys, rng)))


def distinct_texts(rows: int) -> pa.Array:
    """The same texts, each of them once."""
    numbers = pa.array(7_919 * np.random.default_rng(8).permutation(rows))
    digits = compute.utf8_lpad(numbers.cast(pa.string()), 10, "0")
    return compute.binary_join_element_wise(pa.scalar("user-"), digits, "")
