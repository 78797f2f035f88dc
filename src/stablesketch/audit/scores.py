"""What an audit tests: every published number by itself, and scores of all of them together.

A release may publish several numbers: a value, its limits, the points of a profile. The claim must hold for each of
them, and for every function of all of them together: two numbers may reveal as a pair what neither reveals alone. The
best function is the likelihood ratio of the two neighbours (Neyman and Pearson). Two estimates of it are trained on a
part of the trials and judged on the rest, so even a bad estimate does not make a false alarm more likely:

- *normal*: the ratio of two normal laws, each with the mean and the covariance of its neighbour's outputs;
- *nearest*: how many of the nearest training outputs come from the first neighbour. It detects thin curves and single
  points, which appear if one of several noises is missing.

Numbers are first centred and scaled by arsinh, so that heavy tails do not hide the middle, and made uncorrelated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..numbers.arrays import Array

_RIDGE = 1e-6
_LEAST_SPREAD = 1e-10  # of an uncorrelated direction, relative to the widest; anything smaller is rounding
_MOST_TRAINING = 4_000
_ROWS = 512


@dataclass(frozen=True, eq=False)
class Score:
    """A number computed from the published ones. `of` takes a row for each trial."""

    name: str
    of: Callable[[Array], Array]


def make_scores(names: Sequence[str], first: Array, second: Array) -> list[Score]:
    """The scores for outputs with these names, trained on some rows of each neighbour."""
    kept = _different(np.concatenate([first, second]))
    scores = [Score(names[i], partial(_column, i)) for i in kept]
    if len(kept) > 1:
        seen = _Seen.of(np.concatenate([first, second])[:, kept])
        coordinates = [seen(part[:, kept]) for part in (first, second)]
        for name, made in (("normal score", _normal_score), ("nearest score", _nearest_score)):
            scores.append(Score(f"{name} of all", partial(_together, made(*coordinates), seen, kept)))
    return scores


def _column(number: int, rows: Array) -> Array:
    return rows[:, number]


def _together(score: Callable[[Array], Array], seen: _Seen, kept: Sequence[int], rows: Array) -> Array:
    return score(seen(rows[:, kept]))


def _different(rows: Array) -> list[int]:
    """The columns without those that are constant, or monotone in an earlier one: these show nothing more."""
    kept: list[int] = []
    for i in range(rows.shape[1]):
        if np.any(rows[:, i] != rows[0, i]) and not any(_follows(rows[:, i], rows[:, j]) for j in kept):
            kept.append(i)
    return kept or [0]


def _follows(column: Array, other: Array) -> bool:
    """Whether it is a monotone function of the other column."""
    order = np.argsort(other, kind="stable")
    before, after = column[order][:-1], column[order][1:]
    ties = other[order][:-1] == other[order][1:]
    return bool((np.all(before <= after) or np.all(before >= after)) and not np.any((before != after) & ties))


@dataclass(frozen=True, eq=False)
class _Seen:
    """Coordinates in which the training outputs of both neighbours together have variance 1 and no correlation."""

    low: Array
    high: Array
    centre: Array
    scale: Array
    turn: Array
    middle: Array

    @classmethod
    def of(cls, rows: Array) -> _Seen:
        finite = np.where(np.isfinite(rows), rows, np.nan)
        low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
        held = np.clip(rows, low, high)
        centre = np.median(held, axis=0)
        scale = np.median(np.abs(held - centre), axis=0)
        scale = np.where(scale > 0.0, scale, np.maximum(held.std(axis=0), 1e-300))
        bent = np.arcsinh((held - centre) / scale)
        spread, axes = np.linalg.eigh(np.atleast_2d(np.cov(bent, rowvar=False)))
        wide = spread > _LEAST_SPREAD * spread.max()
        return cls(low, high, centre, scale, axes[:, wide] / np.sqrt(spread[wide]), bent.mean(axis=0))

    def __call__(self, rows: Array) -> Array:
        bent = np.arcsinh((np.clip(rows, self.low, self.high) - self.centre) / self.scale)
        turned: Array = (bent - self.middle) @ self.turn
        return turned


def _normal_score(first: Array, second: Array) -> Callable[[Array], Array]:
    """ln N(x; first) - ln N(x; second), up to a constant."""
    laws = []
    for part in (first, second):
        covariance = np.atleast_2d(np.cov(part, rowvar=False)) + _RIDGE * np.eye(part.shape[1])
        laws.append((part.mean(axis=0), np.linalg.inv(covariance)))

    def score(rows: Array) -> Array:
        distances = [np.einsum("ij,jk,ik->i", rows - mean, inverse, rows - mean) for mean, inverse in laws]
        ratio: Array = 0.5 * (distances[1] - distances[0])
        return ratio

    return score


def _nearest_score(first: Array, second: Array) -> Callable[[Array], Array]:
    """The share of `first` among the nearest training outputs.

    A training output is one of its own neighbours, so its score is slightly too good. Other outputs decide which events
    are used (samples.py).
    """
    held = [part[:_MOST_TRAINING] for part in (first, second)]
    points = np.concatenate(held)
    is_first = np.arange(len(points)) < len(held[0])
    near = max(8, round(np.sqrt(len(points)) / 2.0))
    squares = np.einsum("ij,ij->i", points, points)

    def score(rows: Array) -> Array:
        shares = np.empty(len(rows))
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS]
            # The square of `some` is constant along a row and does not change the order.
            distance = squares - 2.0 * some @ points.T
            nearest = np.argpartition(distance, near, axis=1)[:, :near]
            shares[start : start + _ROWS] = is_first[nearest].mean(axis=1)
        return shares

    return score
