"""What a sketch estimates, none of it private: F_p, by the estimator for its law; Hill numbers and entropies from that.

A sketch of order p estimates F_p and knows the total N exactly. So it estimates D_p = (F_p/N^p)^{1/(1-p)} and Rényi's
entropy ln D_p. Both increase with F_p for p < 1 and decrease with it for p > 1, so the limits of F_p give theirs.
Relative errors of F_p grow by 1/|1-p|. Values are whole numbers of 1 or more, so there are at most N keys:
1 <= D_p <= N.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .._native import Entries
from ..errors import ArgumentError, NegativeTotal
from ..numbers.arrays import Array
from ..numbers.elementary import exp
from .entry_law import EntryLaw
from .entry_values import integer_entries, log_magnitudes, logs_of
from .estimators import DEFAULT_METHOD, Estimate, checked_confidence, estimate, log_estimates, norm, one_sided

BEST = "best"

_NOT_POSITIVE = (
    "an entry of this one-sided sketch is not positive: a key was deleted more often than it was added. "
    'Send the missing updates, or sketch signed totals with law="symmetric".'
)


def owed(pairs: int, total: int) -> NegativeTotal:
    return NegativeTotal(
        f"the net stream has {pairs} pairs of total {total}, so more was deleted than was added. "
        "Send the missing updates, or delete only what was added before."
    )


def moment_estimate(
    law: EntryLaw, entries: Entries, pairs: int, total: int, method: str, confidence: float
) -> Estimate:
    """Like `Sketch.estimate`, for a stream of this many pairs and this total."""
    if entries.buckets > 1:
        return _in_buckets(law, entries, pairs, total, method, confidence)
    values = integer_entries(entries)
    empty = not any(values)
    if pairs < 0 or total < 0 or (not empty and total == 0):
        raise owed(pairs, total)
    logs, signs = log_magnitudes(entries)
    if law.kind == "one-sided":
        if not empty and min(values) <= 0:
            raise NegativeTotal(_NOT_POSITIVE)
        return one_sided.estimate(None if empty else logs, entries.size, law.p, method, confidence)
    if law.p > 1.0:
        return norm.estimate([math.ldexp(value, -entries.resolution) for value in values], law.p, method, confidence)
    if method == BEST:
        method = DEFAULT_METHOD
    if empty and total == 0:
        log_estimates(np.zeros(entries.size), np.ones(entries.size), law.p, method)  # refuses a wrong method
        return Estimate(0.0, 0.0, 0.0, checked_confidence(confidence), method)
    return estimate(logs, signs, law.p, method, confidence)


def _in_buckets(law: EntryLaw, entries: Entries, pairs: int, total: int, method: str, confidence: float) -> Estimate:
    fractions = entries.split()[0].reshape(entries.buckets, -1)
    occupied = (fractions != 0.0).any(axis=1)
    if pairs < 0 or total < 0 or (total == 0 and occupied.any()):
        raise owed(pairs, total)
    if (fractions[occupied] <= 0.0).any():
        raise NegativeTotal(_NOT_POSITIVE)
    per_key = entries.size // entries.buckets
    return one_sided.estimate_in_buckets(bucket_moments(law, entries), per_key, law.p, method, confidence)


def bucket_moments(law: EntryLaw, entries: Entries) -> Array:
    """F_hat of each bucket, exactly 0 for an empty one. No error and no branch depends on the entries."""
    logs = one_sided.log_estimates(logs_of(entries).reshape(entries.buckets, -1), law.p)
    return exp(logs)


def check_order(order: float | None, own: float) -> None:
    """Refuses any order but the sketch's own: at order 1, a sketch of a moment knows only the total."""
    if order is not None and order != own:
        raise ArgumentError(
            "order", order, f"must be {own:g}, the order of this sketch",
            "Leave it out, or create a sketch of that order: ss.Sketch(p=order, ...), or ss.EntropySketch(...) for "
            "order 1",
        )  # fmt: skip


def entropy_of_moment(moment: Estimate, p: float, total: int) -> Estimate:
    """ln D_p in nats; nan for an empty stream."""
    if p == 1.0:
        raise ArgumentError(
            "order", p, "must not be 1",
            "Use ss.EntropySketch(...)",
            because="the moment of order 1 is the total and says nothing about diversity",
        )  # fmt: skip
    if total == 0:
        return replace(moment, value=math.nan, low=math.nan, high=math.nan, of="H")
    log_total = math.log(total)

    def at(f: float) -> float:
        log = math.log(f) if f > 0.0 else -math.inf
        return min(max((log - p * log_total) / (1.0 - p), 0.0), log_total)

    low, high = sorted((at(moment.low), at(moment.high)))
    return replace(moment, value=at(moment.value), low=low, high=high, of="H")


def hill_of_entropy(entropy: Estimate) -> Estimate:
    """D = e^H."""
    value, low, high = map(math.exp, (entropy.value, entropy.low, entropy.high))
    return replace(entropy, value=value, low=low, high=high, of="D")
