"""`Belief`: the result of a mechanism, ready to be published or used in further computation.

It is a public function of what was released, so computing with it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..._native import mixture_below, mixture_passed
from ...numbers.arrays import Array
from ...sketch.estimators.noisy_interval import logit
from ...statistic.published import NoisyTotal

_REACH = 6.5  # deviations
_NODES = 241  # for the measurement that matters most; its belief is treated as continuous
_APART = 4  # every other measurement uses one in this many of these nodes
_PLACES = 121
_FEW = 8  # quantiles that are found one by one; more are read from a table

_Mixed = tuple[Array, Array, NDArray[np.int32], Array, Array, float, Array]


@dataclass(frozen=True)
class Belief:
    """An estimate with its limits, and `quantiles`: where the truth is believed to be, at given probabilities.

    The belief is fiducial. Estimate and truth differ by a pivot whose law does not depend on the truth, so the
    quantiles of the pivot, subtracted from the estimate, contain the truth with their stated probability. `total` is
    the noisy total that was released for it, if any.
    """

    value: float
    low: float
    high: float
    quantiles: Callable[[Array], Array]
    total: NoisyTotal | None = None

    def within(self, least: float, most: float) -> Belief:
        """The belief restricted to the range known in advance, with the value between its limits."""
        return Belief(*in_order(self.value, self.low, self.high, least, most), self.quantiles, self.total)

    def at(self, confidence: float) -> Belief:
        """The belief with limits of another confidence, from the quantiles."""
        low, high = self.quantiles(np.array([0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)])).tolist()
        return replace(self, low=low, high=high)


def in_order(value: float, low: float, high: float, least: float, most: float) -> tuple[float, float, float]:
    """(value, low, high) with least <= low <= value <= high <= most: each moved no further than necessary.

    Limits lose nothing by this. A value near the end of the range becomes biased. An interval that lies outside the
    range keeps its length: cut off, it would be one point, as if the end of the range were the truth for certain.
    """
    if high < least:
        low, high = least, least + (high - low)
    elif low > most:
        low, high = most - (high - low), most
    low = min(max(low, least), most)
    high = max(min(high, most), low)
    return min(max(value, low), high), low, high


def belief(function: Callable[[tuple[Array, ...]], Array], inputs: Sequence[Belief], confidence: float) -> Belief:
    """A function of independent measurements, with the belief about it: limits are its quantiles.

    P(function <= v) = E P(function <= v | all but one). The inner probability is the normal probability of v's position
    among the values along the measurement that matters most. Its mean is taken over a grid of the others, with normal
    weights. As these matter less, it is smooth there and a few nodes are enough: limits are correct to 1e-3 of their
    distance. Where the function jumps or turns, as in streams smaller than the noise, there are more nodes, and limits
    are correct to 1e-2.
    """
    value = float(function(tuple(np.array(each.value) for each in inputs)))
    nodes = _levels(_NODES)
    every = [each.quantiles(nodes.probability) for each in inputs]
    most, apart = _matters_most(function, every)
    others = _levels((_NODES - 1) // apart + 1)
    # Each measurement has its own axis; the one that matters most has the last.
    axes = [*(i for i in range(len(inputs)) if i != most), most]
    shapes = np.eye(len(inputs), dtype=np.intp)[np.argsort(axes)] * -2 + 1  # -1 means the whole length
    at = tuple(
        (own if i == most else own[::apart]).reshape(shape)
        for i, (own, shape) in enumerate(zip(every, shapes, strict=True))
    )
    along = np.broadcast_to(function(at), tuple(at[i].size for i in axes)).reshape(-1, _NODES)
    weights = np.ones(1)
    for _ in inputs[1:]:
        weights = np.multiply.outer(weights, others.weight).ravel()
    falls = along[:, 0] > along[:, -1]
    if falls.any():
        along = np.where(falls[:, np.newaxis], along[:, ::-1], along)
    rising, scores, kind = _rising(np.ascontiguousarray(along))
    places = _places(along, weights, rising)
    mixed = (rising, scores, kind, weights, nodes.probability, _REACH, places)
    total = float(weights.sum())

    def quantiles(probability: Array) -> Array:
        score = _score_of(probability)
        if probability.size > _FEW or places.size < 2:
            reached = np.maximum.accumulate(_score_of(mixture_below(*mixed) / total))
            return np.asarray(np.interp(score, reached, places), dtype=np.float64)
        return np.array(
            [_passed(mixed, total, *each) for each in zip(probability.tolist(), score.tolist(), strict=True)]
        )

    low, high = quantiles(np.array([0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)])).tolist()
    return Belief(value, low, high, quantiles)


@dataclass(frozen=True)
class _Levels:
    """Nodes of a belief: normal scores, their probabilities with logits, and weights."""

    score: Array
    probability: Array
    logit: Array
    weight: Array


@lru_cache(maxsize=4)
def _levels(count: int) -> _Levels:
    score = np.linspace(-_REACH, _REACH, count)
    normal = NormalDist()
    probability = np.array([normal.cdf(each) for each in score.tolist()])
    return _Levels(score, probability, logit(probability), np.exp(-0.5 * score**2))


def _score_of(probability: Array) -> Array:
    """The normal score, limited to the range of the nodes."""
    fine = _levels(4 * _NODES)
    return np.asarray(np.interp(logit(probability), fine.logit, fine.score), dtype=np.float64)


def _rising(along: Array) -> tuple[Array, Array, NDArray[np.int32]]:
    """Every row in increasing order, the scores of P(function <= value) there, and which scores belong to each row: for
    most rows, those of the nodes."""
    nodes = _levels(_NODES)
    kind = np.zeros(len(along), np.int32)
    rises = along[:, 1:] >= along[:, :-1]
    if rises.all():
        return along, nodes.score[np.newaxis], kind
    along, scores = along.copy(), [nodes.score]
    for row in np.flatnonzero(~rises.all(axis=1)).tolist():
        order = np.argsort(along[row], kind="stable")
        along[row], weight = along[row, order], nodes.weight[order]
        below = np.cumsum(weight)
        kind[row] = len(scores)
        scores.append(_score_of((below - 0.5 * weight) / below[-1]))
    return along, np.stack(scores), kind


def _passed(mixed: _Mixed, total: float, probability: float, score: float) -> float:
    """One quantile, computed without a table."""
    low, *below = mixture_passed(*mixed, probability * total)
    first, last = _score_of(np.array(below) / total).tolist()
    return float(np.interp(score, (first, max(first, last)), mixed[-1][low : low + 2]))


def _matters_most(function: Callable[[tuple[Array, ...]], Array], every: Sequence[Array]) -> tuple[int, int]:
    """Which measurement moves the function most, with the others at the middle of their beliefs; and how far apart the
    nodes of the others can be.
    """
    middle = _NODES // 2
    held = [each[middle : middle + 1] for each in every]

    def along(i: int, own: Array) -> Array:
        return np.asarray(function((*held[:i], own, *held[i + 1 :])), dtype=np.float64)

    moved = [float(np.ptp(along(i, each[middle - 24 : middle + 25 : 48]))) for i, each in enumerate(every)]
    most = int(np.argmax(moved))
    central = slice(middle - 60, middle + 61, _APART)
    held[most] = every[most][middle - 48 : middle + 49 : 48, np.newaxis]
    steps = [float(np.abs(np.diff(along(i, each[central]))).max()) for i, each in enumerate(every) if i != most]
    return most, _APART if max(steps, default=0.0) <= 0.25 * moved[most] else 1


def _places(along: Array, weights: Array, rising: Array) -> Array:
    """The values to tabulate: evenly spaced in probability, and evenly spaced between all but the farthest values.

    `rising` has the same rows, each in increasing order."""
    rows, columns = max(1, len(along) // 30), _NODES // 30
    some = along[::rows, ::columns].ravel()
    weight = np.multiply.outer(weights[::rows], _levels(_NODES).weight[::columns]).ravel()
    order = np.argsort(some)
    below = np.cumsum(weight[order])
    believed = np.interp(_levels(_PLACES).probability, (below - 0.5 * weight[order]) / below[-1], some[order])
    far = _PLACES // 4  # 3.3 deviations
    even = np.linspace(believed[far], believed[-1 - far], _PLACES)
    return np.unique(np.concatenate([believed, even, [rising[:, 0].min(), rising[:, -1].max()]]))


def moment_of(norm: Belief, p: float, spread: float, noise: float) -> Belief:
    """norm^p. If X = norm ξ + noise with E ξ = 1, Var ξ = spread and noise of this variance, then (X² - noise)/(1 +
    spread) is unbiased for F_2.
    """

    def power(at: Array) -> Array:
        return np.maximum(at, 0.0) ** p

    value = (math.pow(max(norm.value, 0.0), p) - noise) / (1.0 + spread)
    low, high = power(np.array([norm.low, norm.high])).tolist()
    return Belief(value, low, high, lambda at: power(norm.quantiles(at)))
