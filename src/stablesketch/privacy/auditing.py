"""The statistics of an audit: whether two samples of outputs contradict a claimed privacy curve.

A mechanism has the curve δ(ε) if for all neighbours A and B, all sets E of outputs and all ε >= 0

    P_A(E) - e^ε P_B(E) <= δ(ε)        and the same with A and B exchanged.

Given many outputs on A and on B, a part of them picks events E (audit_events.py) and the rest is counted. Of P(E) on
one side a lower, of P'(E) on the other an upper limit is computed, exact at any sample size (binomial.py), each
failing with a chance of at most (1 - confidence)/(their number). By the union bound all hold at once with the stated
confidence, and then every ε may be looked at, also one chosen after looking: if lower - e^ε upper > δ(ε), the claim
is false.

So a failure is evidence, wrong at most once in 1/(1 - confidence) audits of a sound mechanism. Passing is not a
proof: it says that no violation was large enough to be seen in so many trials, in events of this kind, on these
neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ArgumentError, ArgumentTypeError
from .audit_events import Event, pick_events
from .binomial import lower_limit, upper_limit

__all__ = ["AuditFinding", "AuditReport", "audit_samples"]

Floats = NDArray[np.float64]

_LEAST_TRIALS = 100
# The part of the trials that picks the events. The events are simple and need few; the limits want all they can get.
_TRAINING = 0.25
# Values of ε to look at unless told: these parts of the largest at which the samples say anything.
_FRACTIONS = tuple(i / 16 for i in range(16))


@dataclass(frozen=True)
class AuditFinding:
    """One inequality and what the samples say of it.

    With the audit's confidence, P(event) - e^epsilon P'(event) is at least `observed`, where the claim is at most
    `claimed`; P belongs to the first sample in the direction "first over second", and to the second in the other.
    """

    event: str
    direction: str
    epsilon: float
    observed: float
    claimed: float

    @property
    def refutes(self) -> bool:
        """Whether the claim is false here, if the limits hold."""
        return self.observed > self.claimed


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    `strongest_epsilon`: with the stated confidence the mechanism is not (ε, at_delta)-private for any ε below this; 0
    if nothing can be refuted. `events` were judged, in either direction, on `trials` outputs for each neighbour, some
    of which picked them. `worst` is the inequality that comes nearest to being broken, or is broken most, by
    observed/claimed.
    """

    passed: bool
    strongest_epsilon: float
    at_delta: float
    confidence: float
    trials: int
    events: int
    worst: AuditFinding

    def __str__(self) -> str:
        verdict = "passed: no violation found" if self.passed else "FAILED: the claimed privacy is refuted"
        relation = "<=" if self.worst.observed <= self.worst.claimed else "> "
        return "\n".join(
            [
                f"audit            {verdict}",
                f"trials           {self.trials:,} outputs for each neighbour, {self.events} events",
                f"confidence       {self.confidence:.6g}",
                f"refuted          ε below {self.strongest_epsilon:.4g} at δ = {self.at_delta:.3g}",
                f"worst at ε       {self.worst.epsilon:.4g}: δ at least {self.worst.observed:.3g} "
                f"{relation} {self.worst.claimed:.3g} claimed",
                f"worst event      {self.worst.event} ({self.worst.direction})",
            ]
        )


def audit_samples(
    first: ArrayLike,
    second: ArrayLike,
    claimed: Callable[[float], float],
    *,
    delta: float,
    confidence: float = 0.99,
    epsilons: Sequence[float] | None = None,
) -> AuditReport:
    """Test the claimed curve on the outputs of one mechanism for two neighbours.

    `first` and `second` are as many independent outputs each, as real numbers (±∞ may stand for a refusal).
    `claimed(ε)` is the claimed δ. `delta` is that at which the strongest refuted ε is stated. ε = 0 is always tested,
    and `epsilons`; by default 16 values up to the largest at which the samples can contradict anything.
    """
    samples = _sample("first", first), _sample("second", second)
    trials = len(samples[0])
    if len(samples[1]) != trials:
        raise ArgumentError(
            "second", len(samples[1]), f"the first sample has {trials} outputs", "Pass as many of each neighbour"
        )
    delta = _within("delta", delta, 0.0, 1.0, "Pass the δ of the claim")
    confidence = _within("confidence", confidence, 0.5, 1.0, "Pass a number such as 0.99")
    if confidence == 0.5:
        raise ArgumentError("confidence", confidence, "it must be above 0.5", "Pass a number such as 0.99")
    tests = _limits(samples, delta, confidence)
    # No ε above ln(lower/upper) can be contradicted, whatever is claimed.
    reach = max(test.refuted(0.0) for test in tests)
    tried = [0.0, *(_epsilon(e) for e in epsilons)] if epsilons is not None else [reach * part for part in _FRACTIONS]
    findings = []
    for epsilon in sorted(set(tried)):
        bound = _claim(claimed, epsilon)
        test = max(tests, key=lambda test: test.observed(epsilon))
        findings.append(AuditFinding(str(test.event), test.direction, epsilon, test.observed(epsilon), bound))
    return AuditReport(
        passed=not any(finding.refutes for finding in findings),
        strongest_epsilon=max(test.refuted(delta) for test in tests),
        at_delta=delta,
        confidence=confidence,
        trials=trials,
        events=len(tests),
        worst=max(findings, key=_severity),
    )


@dataclass(frozen=True)
class _Test:
    """An event with a lower limit of its probability on one side and an upper limit of that on the other."""

    event: Event
    direction: str
    lower: float
    upper: float

    def observed(self, epsilon: float) -> float:
        """A lower limit of δ(ε): 0 says nothing."""
        if self.lower <= 0.0 or epsilon >= math.log(self.lower / self.upper):
            return 0.0
        return self.lower - math.exp(epsilon) * self.upper

    def refuted(self, delta: float) -> float:
        """The mechanism is not (ε, delta)-private for ε below this: lower - e^ε upper > delta."""
        return max(math.log((self.lower - delta) / self.upper), 0.0) if self.lower > delta else 0.0


def _limits(samples: tuple[Floats, Floats], delta: float, confidence: float) -> list[_Test]:
    """Events for both directions, picked on a part of the trials, with limits from the rest that hold all at once.

    The trials are shuffled, with a fixed seed, so that samples which were sorted or have a trend are split fairly.
    """
    order = np.random.default_rng(0x5EED).permutation(len(samples[0]))
    training, judging = np.split(order, [int(_TRAINING * len(order))])
    events: list[tuple[Event, int]] = []
    for over in (0, 1):
        picked = pick_events(samples[over][training], samples[1 - over][training], len(judging), delta)
        events += [(event, over) for event in picked]
    failure = (1.0 - confidence) / (2 * len(events))
    tests = []
    for event, over in events:
        counts = [event.count(samples[side][judging]) for side in (over, 1 - over)]
        lower = lower_limit(counts[0], len(judging), failure)
        upper = upper_limit(counts[1], len(judging), failure)
        tests.append(_Test(event, ("first over second", "second over first")[over], lower, upper))
    return tests


def _severity(finding: AuditFinding) -> float:
    if finding.observed == 0.0:
        return 0.0
    return finding.observed / finding.claimed if finding.claimed > 0.0 else math.inf


def _sample(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        raise ArgumentTypeError(
            name, values, f"{array.ndim}-dimensional {array.dtype} is no sample", "Pass a list of numbers, one a trial"
        )
    if len(array) < _LEAST_TRIALS:
        raise ArgumentError(
            name, len(array), "too few outputs to tell anything", f"Make {_LEAST_TRIALS} trials or more"
        )
    floats = array.astype(np.float64)
    if np.isnan(floats).any():
        raise ArgumentError(name, values, "some outputs are NaN", "Let ∞ stand for a refusal")
    return floats


def _within(name: str, value: float, low: float, high: float, way_out: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentTypeError(name, value, "a real number is needed", way_out)
    if not low <= value < high:
        raise ArgumentError(name, value, f"it must be at least {low:g} and below {high:g}", way_out)
    return float(value)


def _epsilon(value: float) -> float:
    return _within("epsilons", value, 0.0, math.inf, "Pass numbers from 0 up")


def _claim(claimed: Callable[[float], float], epsilon: float) -> float:
    bound = float(claimed(epsilon))
    if not bound >= 0.0:
        raise ArgumentError("claimed", bound, f"no δ to claim at ε = {epsilon:g}", "A δ is a number from 0 up")
    return bound
