"""All small streams, their neighbours, and what a release of integers with noise does to a law: for brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.signal import lfilter

import stablesketch as ss

Stream = tuple[tuple[int, int], ...]


def streams(pairs: int, keys: int, most: int) -> Iterator[Stream]:
    """All multisets of pairs of these keys and values."""
    yield from itertools.combinations_with_replacement(itertools.product(range(keys), range(1, most + 1)), pairs)


def total(stream: Stream) -> int:
    return sum(value for _, value in stream)


def neighbours(relation: str, shared: Stream, changed: int, most: int) -> Iterator[tuple[Stream, Stream]]:
    """Streams that differ by up to `changed` pairs beyond what they share, of one length under replace."""
    if relation == "add_remove":
        yield from ((shared, shared + more) for count in range(1, changed + 1) for more in streams(count, 3, most))
    else:
        grown = [shared + more for more in streams(changed, 3, most)]
        yield from itertools.combinations(grown, 2)


def privacy(relation: str, changed: int = 1, most: int = 1, epsilon: float = 1.0, delta: float = 1e-9) -> ss.Privacy:
    return ss.Privacy(epsilon, delta, 0, most, relation, changed)  # type: ignore[arg-type]


def uniform_below(rng: np.random.Generator) -> Callable[[int], int]:
    """Uniform integers below n of any size."""

    def uniform(n: int) -> int:
        while True:
            drawn = int.from_bytes(rng.bytes((n.bit_length() + 7) // 8), "big") >> (-n.bit_length() % 8)
            if drawn < n:
                return drawn

    return uniform


def with_noise(law: np.ndarray, scale: float) -> np.ndarray:
    """A law on integers, with discrete Laplace noise added."""
    q = math.exp(-1.0 / scale)
    up = lfilter([1.0], [1.0, -q], law)
    down = lfilter([1.0], [1.0, -q], law[::-1])[::-1]
    out: np.ndarray = (up + down - law) * (1.0 - q) / (1.0 + q)
    return out
