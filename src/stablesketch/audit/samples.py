"""The statistics of an audit: whether two samples of outputs contradict a claimed privacy curve.

A mechanism has the curve δ(ε) if for all neighbours A and B, all sets E of outputs and all ε >= 0

    P_A(E) - e^ε P_B(E) <= δ(ε)        and the same with A and B exchanged.

An output is everything that a release publishes: one number or several. Given many outputs on A and on B, a part of
them trains scores (scores.py: every number, and functions of all of them together), picks events E of each score
(events.py), and decides which events and which ε come closest to contradicting the claim. The rest is counted:

- for the most promising events, each at its most promising ε, P_A(E) - e^ε P_B(E) is tested directly (difference.py);
- a lower limit of P(E) on one side and an upper limit of P'(E) on the other are computed, exact at any sample size
  (privacy/binomial.py). Then every ε may be tested, even one chosen afterwards: if lower - e^ε upper > δ(ε), the claim
  is false.

Each half gets half of the failure probability 1 - confidence, divided evenly among its tests. By the union bound all
hold at once with the stated confidence. So a failure is evidence, wrong at most once in 1/(1 - confidence) audits of a
sound mechanism. Passing is not a proof: it says that no violation was large enough to be seen in this many trials, in
events of this kind, on these neighbours. How large that is, is measured too: the same tests are applied to weaker
claims, and the strongest claim that they still refute is reported (`catches`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.arrays import Array
from ..numbers.checked import checked_real
from .judged import ClaimedCurve, Judged
from .report import AuditedNeighbours, AuditReport, severity

LEAST_TRIALS = 100
TRIALS, CONFIDENCE = 3_000, 0.99  # where nothing else is asked for


def audit_samples(
    first: ArrayLike,
    second: ArrayLike,
    claimed: ClaimedCurve,
    *,
    delta: float,
    confidence: float = CONFIDENCE,
    epsilons: Sequence[float] | None = None,
    names: Sequence[str] = ("value",),
    weaker: Callable[[float], ClaimedCurve] | None = None,
    neighbours: str = "",
) -> AuditReport:
    """Tests the claimed curve on the outputs of one mechanism for two neighbours.

    `first` and `second` are equally many independent outputs, as real numbers (±∞ can stand for a refusal). If `names`
    has several names, each output is a row with one number for each name. `claimed(ε)` is the claimed δ. `delta` is the
    δ at which the strongest refuted ε is stated. ε = 0 is always tested, and so are `epsilons`: by default, 16 values
    up to the largest at which the samples can contradict anything. `weaker(c)` is the curve for neighbours that differ
    c times as much; with it, the report says what would have been caught. `neighbours` describes the two data sets.
    """
    samples = _sample("first", first, len(names)), _sample("second", second, len(names))
    trials = len(samples[0])
    if len(samples[1]) != trials:
        raise ArgumentError(
            "second", len(samples[1]), f"must have as many outputs as the first sample, {trials}",
            "Pass equally many outputs for both",
        )  # fmt: skip
    delta = _within("delta", delta, 0.0, 1.0, "Pass the δ of the claim")
    confidence = audit_confidence(confidence)
    way_out = "Pass numbers of 0 or more"
    given = None if epsilons is None else [_within("epsilons", each, 0.0, math.inf, way_out) for each in epsilons]
    judged = Judged(samples, names, cache(lambda epsilon: _claim(claimed, epsilon)), delta, confidence, given)
    findings = [replace(finding, neighbours=neighbours) for finding in judged.findings()]
    passed, strongest = not any(finding.refutes for finding in findings), max(t.refuted(delta) for t in judged.tests)
    return AuditReport(
        passed=passed,
        strongest_epsilon=strongest,
        at_delta=delta,
        confidence=confidence,
        trials=trials,
        events=len(judged.tests) + len(judged.direct),
        worst=max(findings, key=severity),
        numbers=tuple(names),
        catches=None if weaker is None else judged.catches(weaker),
        neighbours=(AuditedNeighbours(neighbours, trials, passed, strongest),) if neighbours else (),
    )


def _sample(name: str, values: ArrayLike, width: int) -> Array:
    array = np.asarray(values)
    if width == 1 and array.ndim == 1:
        array = array[:, None]
    if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != width:
        raise ArgumentTypeError(
            name, values,
            f"must hold {width} real number(s) for each trial (it is {np.ndim(values)}-dimensional {array.dtype})",
            "Pass a list of numbers, one for each trial, or a row for each trial with one number for each name",
        )  # fmt: skip
    if len(array) < LEAST_TRIALS:
        raise ArgumentError(name, len(array), f"must have at least {LEAST_TRIALS} outputs", "Run more trials")
    floats = array.astype(np.float64)
    if np.isnan(floats).any():
        raise ArgumentError(name, values, "must not contain NaN", "Use infinity for a refused release")
    return floats


def _within(name: str, value: float, low: float, high: float, way_out: str) -> float:
    number = checked_real(name, value, way_out)
    if not low <= number < high:
        raise ArgumentError(name, value, f"must be at least {low:g} and below {high:g}", way_out)
    return number


def audit_confidence(confidence: float) -> float:
    found = _within("confidence", confidence, 0.5, 1.0, f"Pass a number such as {CONFIDENCE}")
    if found == 0.5:
        raise ArgumentError("confidence", found, "must be above 0.5", f"Pass a number such as {CONFIDENCE}")
    return found


def _claim(claimed: Callable[[float], float], epsilon: float) -> float:
    bound = float(claimed(epsilon))
    if not bound >= 0.0:
        raise ArgumentError("claimed", bound, f"must be a δ of 0 or more at ε = {epsilon:g}", "Check the claimed curve")
    return bound
