"""The events that an audit tests, picked on a part of the sample that is not used to judge them.

An event is a set of outputs. A privacy claim bounds P(E) - e^ε P'(E) for all events; the sample can test a few. The
line is cut into cells at points taken from the training sample. Each cut is a cell of its own, so that a value that
occurs repeatedly (an outright leak, an output of few values) can be told apart from its neighbours. Three families of
unions of cells are searched, from rigid to flexible:

- half-lines, which are enough if the likelihood ratio is monotone;
- intervals and their complements, if it has one peak or trough;
- otherwise, the cells in the order of their estimated likelihood ratio, the best first (Neyman and Pearson).

The more flexible a family is, the more it mistakes noise for signal when the signal is weak, so each family contributes
its own best events. The choice does not affect the validity of the audit, only its strength.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..numbers.arrays import Array

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

_EVEN_CUTS = 32
_LEAST_TAIL = 8
_MOST_ATOMS = 64
# Standard errors by which a candidate is marked down: about as many as the limits on the other part will cost.
_CAUTION = 3.0
_FRACTIONS = (0.0, 1.0 / 3.0, 2.0 / 3.0)


@dataclass(frozen=True, eq=False)
class Event:
    """The outputs in the marked cells: cell 2i + 1 is cut i, and cell 2i lies between it and the previous cut."""

    cuts: Array
    mask: Mask

    def count(self, values: Array) -> int:
        return int(self.mask[_cell(self.cuts, values)].sum())

    def of(self, name: str) -> str:
        """The event in words, for a number of this name."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.mask, [False]])))
        parts = [self._interval(name, int(first), int(last) - 1) for first, last in edges.reshape(-1, 2)]
        return " or ".join(parts) if len(parts) <= 3 else f"{' or '.join(parts[:3])} or {len(parts) - 3} more intervals"

    def _interval(self, name: str, first: int, last: int) -> str:
        if first == last and first % 2:
            return f"{name} = {self.cuts[first // 2]:.6g}"
        low = f"{self.cuts[(first - 1) // 2]:.6g} {'<=' if first % 2 else '<'} " if first else ""
        high = f" {'<=' if last % 2 else '<'} {self.cuts[last // 2]:.6g}" if last < 2 * len(self.cuts) else ""
        return f"{low}{name}{high}"


def pick_events(over: Array, under: Array, held_out: int, delta: float) -> list[Event]:
    """Events for which P(E) - e^ε P'(E) is likely to be large, for several ε; `over` samples P and `under` P'.

    For ε = 0, a third and two thirds of the largest ε in sight, each family gives the event with the largest
    difference; for (ε, 0) and (ε, delta), the event with the largest ε. All are marked down by `_CAUTION` standard
    errors of a sample of size `held_out`.
    """
    cuts = _cuts(np.concatenate([over, under]))
    cells = 2 * len(cuts) + 1
    a, b = (np.bincount(_cell(cuts, part), minlength=cells) for part in (over, under))
    # Half a count more keeps the ratios of empty cells moderate.
    best_first = np.argsort(-(a + 0.5) / (b + 0.5), kind="stable")
    along = np.arange(cells)
    families = [
        _Runs(along, *_first_runs(cells)),
        _Runs(along, *np.triu_indices(cells, 1)),
        _Runs(best_first, *_first_runs(cells)),
    ]
    shares = [(runs.shares(a / len(over)), runs.shares(b / len(under))) for runs in families]
    ratios = [_log_ratio(*share, held_out, 0.0) for share in shares]
    largest = max(0.0, *(float(ratio.max()) for ratio in ratios))
    picked: dict[bytes, Event] = {}
    for runs, share, ratio in zip(families, shares, ratios, strict=True):
        scores = [_difference(*share, held_out, fraction * largest) for fraction in _FRACTIONS]
        for score in (*scores, ratio, _log_ratio(*share, held_out, delta)):
            mask = runs.mask(int(np.argmax(score)))
            picked.setdefault(mask.tobytes(), Event(cuts, mask))
    return list(picked.values())


def tail_events(pooled: Array) -> list[Event]:
    """Half-lines of smaller and smaller probability on either side, for rare events."""
    levels = [0.5, *_halved(0.5, 4.0 / len(pooled))]
    found = []
    for level in levels:
        low, high = np.quantile(pooled, [level, 1.0 - level], method="lower").tolist()
        found += [Event(np.array([low]), np.array([True, True, False]))]
        found += [Event(np.array([high]), np.array([False, False, True]))]
    return found


@dataclass(frozen=True, eq=False)
class _Runs:
    """Runs of cells, from start up to but not including end, in some order of the cells; and their complements."""

    order: Indices
    start: Indices
    end: Indices

    def shares(self, by_cell: Array) -> Array:
        """The shares of all runs, then those of their complements, from the share of each cell."""
        below = np.concatenate([[0.0], np.cumsum(by_cell[self.order])])
        inside = below[self.end] - below[self.start]
        both: Array = np.clip(np.concatenate([inside, 1.0 - inside]), 0.0, 1.0)
        return both

    def mask(self, number: int) -> Mask:
        """The cells of the run or complement at this position among the shares."""
        outside, number = divmod(number, len(self.start))
        mask = np.full(len(self.order), bool(outside))
        mask[self.order[self.start[number] : self.end[number]]] = not outside
        return mask


def _first_runs(cells: int) -> tuple[Indices, Indices]:
    return np.zeros(cells - 1, dtype=np.intp), np.arange(1, cells)


def _cuts(pooled: Array) -> Array:
    """Quantiles, evenly spaced in the middle and closer and closer to the ends in the tails, and frequent values."""
    n = len(pooled)
    middle = np.arange(1, _EVEN_CUTS) / _EVEN_CUTS
    tail = np.array(list(_halved(1.0 / _EVEN_CUTS, _LEAST_TAIL / n)))
    levels = np.concatenate([tail, middle, 1.0 - tail])
    values, repeats = np.unique(pooled, return_counts=True)
    often = repeats >= max(_LEAST_TAIL, n // 512)
    atoms = values[often][np.argsort(-repeats[often], kind="stable")][:_MOST_ATOMS]
    return np.unique(np.concatenate([np.quantile(pooled, levels, method="lower"), atoms]))


def _halved(level: float, least: float) -> Iterator[float]:
    level /= 2.0
    while level >= least:
        yield level
        level /= 2.0


def _cell(cuts: Array, values: Array) -> Indices:
    return np.searchsorted(cuts, values, side="left") + np.searchsorted(cuts, values, side="right")


def _difference(a: Array, b: Array, n: int, epsilon: float) -> Array:
    factor = np.exp(epsilon)
    difference: Array = a - factor * b - _CAUTION * (_deviation(a, n) + factor * _deviation(b, n))
    return difference


def _log_ratio(a: Array, b: Array, n: int, delta: float) -> Array:
    low = np.maximum(a - _CAUTION * _deviation(a, n) - delta, 1e-300)
    ratio: Array = np.log(low / (b + _CAUTION * _deviation(b, n)))
    return ratio


def _deviation(share: Array, n: int) -> Array:
    """The standard error of a share of n, never below that of one count."""
    deviation: Array = np.sqrt((share * (1.0 - share) + 1.0 / n) / n)
    return deviation
