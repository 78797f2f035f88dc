"""The statistics of an audit: whether two samples of outputs contradict a claimed privacy curve.

A mechanism has the curve δ(ε) if for all neighbours A and B, all sets E of outputs and all ε >= 0

    P_A(E) - e^ε P_B(E) <= δ(ε)        and the same with A and B exchanged.

An output is all that a release publishes: one number or several. Given many outputs on A and on B, a part of them
trains scores (audit_scores.py: every number, and functions of all together), picks events E of each score
(audit_events.py), and says which events and which ε come nearest to contradicting the claim. The rest is counted:

- for the most promising events, each at the ε that promised most, P_A(E) - e^ε P_B(E) is tested directly
  (audit_difference.py);
- of P(E) on one side a lower, of P'(E) on the other an upper limit is computed, exact at any sample size (binomial.py).
  Then every ε may be looked at, also one chosen after looking: if lower - e^ε upper > δ(ε), the claim is false.

Either half has (1 - confidence)/2 of the chances to fail, shared out evenly among its tests. By the union bound all
hold at once with the stated confidence. So a failure is evidence, wrong at most once in 1/(1 - confidence) audits of a
sound mechanism. Passing is not a proof: it says that no violation was large enough to be seen in so many trials, in
events of this kind, on these neighbours. How large that is, is measured too: the same tests are held against weaker
claims, and the strongest that they still refute is reported (`catches`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import ArgumentError, ArgumentTypeError
from .audit_difference import DifferenceTest
from .audit_events import Event, pick_events, tail_events
from .audit_report import AuditedNeighbours, AuditFinding, AuditReport, severity
from .audit_scores import Score, make_scores
from .binomial import lower_limit, upper_limit

__all__ = ["LEAST_TRIALS", "AuditFinding", "AuditReport", "audit_samples", "checked_confidence"]

Indices = NDArray[np.intp]
Curve = Callable[[float], float]

LEAST_TRIALS = 100
# The parts of the trials that train scores and pick events, and that say which of these are the most promising: an
# event that was fitted to some outputs promises too much on them. Both need few; the tests want all they can get.
_TRAINING, _CHOOSING = 0.2, 0.1
# Values of ε to look at unless told: these parts of the largest at which the samples say anything.
_FRACTIONS = tuple(i / 16 for i in range(16))
# Events that are tested directly, and events in either direction whose limits state the strongest refuted ε.
_DIRECT = 6
_LIMITS = 8
_SHARES = 20


def audit_samples(
    first: ArrayLike,
    second: ArrayLike,
    claimed: Curve,
    *,
    delta: float,
    confidence: float = 0.99,
    epsilons: Sequence[float] | None = None,
    names: Sequence[str] = ("value",),
    weaker: Callable[[float], Curve] | None = None,
    neighbours: str = "",
) -> AuditReport:
    """Test the claimed curve on the outputs of one mechanism for two neighbours.

    `first` and `second` are as many independent outputs each, as real numbers (±∞ may stand for a refusal); where
    `names` has several names, rows of as many numbers. `claimed(ε)` is the claimed δ. `delta` is that at which the
    strongest refuted ε is stated. ε = 0 is always tested, and `epsilons`; by default 16 values up to the largest at
    which the samples can contradict anything. `weaker(c)` is the curve that would be claimed if neighbours differed c
    times as much; with it the report says what was caught. `neighbours` says in words what the two data sets are.
    """
    samples = _sample("first", first, len(names)), _sample("second", second, len(names))
    trials = len(samples[0])
    if len(samples[1]) != trials:
        raise ArgumentError(
            "second", len(samples[1]), f"the first sample has {trials} outputs", "Pass as many of each neighbour"
        )
    delta = _within("delta", delta, 0.0, 1.0, "Pass the δ of the claim")
    confidence = checked_confidence(confidence)
    given = None if epsilons is None else [_epsilon(epsilon) for epsilon in epsilons]
    judged = _Judged.of(samples, names, cache(lambda epsilon: _claim(claimed, epsilon)), delta, confidence, given)
    findings = [replace(finding, neighbours=neighbours) for finding in judged.findings(judged.claim)]
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


@dataclass(frozen=True, eq=False)
class _Candidate:
    """An event of a score, in one direction, and its shares in outputs that did not pick it."""

    score: Score
    event: Event
    over: int
    shares: tuple[float, float]

    @property
    def direction(self) -> str:
        return ("first over second", "second over first")[self.over]

    def __str__(self) -> str:
        return self.event.of(self.score.name)

    def counts(self, scored: tuple[Array, Array]) -> tuple[int, int]:
        """How often it came on the side that it should be likely on, and on the other."""
        return self.event.count(scored[self.over]), self.event.count(scored[1 - self.over])

    def promise(self, epsilon: float, claim: float, trials: int) -> float:
        """By how many standard errors of so many trials it would contradict the claim at ε."""
        over, under = self.shares
        factor = math.exp(min(epsilon, 300.0))
        variance = over * (1.0 - over) + factor**2 * under * (1.0 - under) + (1.0 + factor**2) / trials
        return (over - factor * under - claim) / math.sqrt(variance / trials)

    def log_ratio(self, delta: float, trials: int) -> float:
        """The ε that it would refute at δ, marked down by some standard errors."""
        over, under = self.shares
        low = over - delta - 3.0 * math.sqrt((over * (1.0 - over) + 1.0 / trials) / trials)
        high = under + 3.0 * math.sqrt((under * (1.0 - under) + 1.0 / trials) / trials)
        return math.log(low / high) if low > 0.0 else -math.inf


@dataclass(frozen=True)
class _Test:
    """An event with a lower limit of its probability on one side and an upper limit of that on the other."""

    event: str
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


@dataclass(frozen=True, eq=False)
class _Judged:
    """The counts of the events that were picked, ready to be held against a claim."""

    claim: Curve
    tests: list[_Test]
    direct: list[tuple[_Candidate, DifferenceTest]]
    tried: list[float]

    @classmethod
    def of(
        cls, samples: tuple[Array, Array], names: Sequence[str], claim: Curve, delta: float, confidence: float,
        epsilons: Sequence[float] | None,
    ) -> _Judged:  # fmt: skip
        """Scores trained and events picked on a part of the trials, counted in the rest.

        The trials are shuffled, with a fixed seed, so that samples which were sorted or have a trend are split fairly.
        """
        order = np.random.default_rng(0x5EED).permutation(len(samples[0]))
        ends = [int(part * len(order)) for part in (_TRAINING, _TRAINING + _CHOOSING)]
        training, choosing, judging = np.split(order, ends)
        scores = make_scores(names, samples[0][training], samples[1][training])
        candidates = [
            each for score in scores for each in _candidates(score, samples, training, choosing, len(judging), delta)
        ]
        scored = {score.name: (score.of(samples[0][judging]), score.of(samples[1][judging])) for score in scores}

        def counts(candidate: _Candidate) -> tuple[int, int]:
            return candidate.counts(scored[candidate.score.name])

        failure = 0.5 * (1.0 - confidence)
        limited = _for_limits(candidates, delta, len(judging))
        share = failure / (2 * len(limited))
        tests = [_limits(each, counts(each), len(judging), share) for each in limited]
        # No ε above ln(lower/upper) can be contradicted, whatever is claimed.
        reach = max(test.refuted(0.0) for test in tests)
        tried = [0.0, *epsilons] if epsilons is not None else [reach * part for part in _FRACTIONS]
        # Which ε an event is tested at may depend on the training alone, so these are not `tried`.
        hoped = max(0.0, *(each.log_ratio(0.0, len(judging)) for each in candidates))
        grid = sorted({0.0, *epsilons}) if epsilons is not None else [hoped * part for part in _FRACTIONS]
        promising = _promising(candidates, grid, claim, len(judging))
        direct = [
            (each, DifferenceTest(counts(each), len(judging), epsilon, failure / len(promising)))
            for each, epsilon in promising
        ]
        return cls(claim, tests, direct, sorted(set(tried)))

    def findings(self, claim: Curve) -> list[AuditFinding]:
        """What limits and direct tests say of a claim; the direct test that is least likely by chance is among them."""
        found = []
        for epsilon in self.tried:
            test = max(self.tests, key=lambda test: test.observed(epsilon))
            found.append(AuditFinding(test.event, test.direction, epsilon, test.observed(epsilon), claim(epsilon)))
        event, least = min(self.direct, key=lambda pair: pair[1].log_p(claim(pair[1].epsilon)))
        found.append(AuditFinding(str(event), event.direction, least.epsilon, least.limit(), claim(least.epsilon)))
        return found

    def _refutes(self, claim: Curve) -> bool:
        if any(test.observed(epsilon) > claim(epsilon) for epsilon in self.tried for test in self.tests):
            return True
        return any(test.excludes(claim(test.epsilon)) for _, test in self.direct)

    def catches(self, weaker: Callable[[float], Curve]) -> float:
        """The largest share, to a twentieth, at which the weaker claim is refuted; 0 if none is."""
        low, high = 0, _SHARES
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._refutes(cache(weaker(middle / _SHARES))) else (low, middle)
        return low / _SHARES


def _candidates(
    score: Score, samples: tuple[Array, Array], training: Indices, choosing: Indices, held_out: int, delta: float
) -> Iterator[_Candidate]:
    values = score.of(samples[0][training]), score.of(samples[1][training])
    fresh = score.of(samples[0][choosing]), score.of(samples[1][choosing])
    tails = tail_events(np.concatenate(values))
    for over in (0, 1):
        for event in (*pick_events(values[over], values[1 - over], held_out, delta), *tails):
            shares = [event.count(fresh[side]) / len(choosing) for side in (over, 1 - over)]
            yield _Candidate(score, event, over, (shares[0], shares[1]))


def _for_limits(candidates: Sequence[_Candidate], delta: float, trials: int) -> list[_Candidate]:
    """In either direction the events that promise the largest ε at δ."""
    found: list[_Candidate] = []
    for over in (0, 1):
        own = [each for each in candidates if each.over == over]
        found += sorted(own, key=lambda each: each.log_ratio(delta, trials), reverse=True)[:_LIMITS]
    return found


def _promising(
    candidates: Sequence[_Candidate], grid: Sequence[float], claim: Curve, trials: int
) -> list[tuple[_Candidate, float]]:
    """The events that promise most to contradict the claim, each at the ε where it does."""
    claims = [claim(epsilon) for epsilon in grid]
    ranked = []
    for each in candidates:
        promises = [each.promise(epsilon, bound, trials) for epsilon, bound in zip(grid, claims, strict=True)]
        best = int(np.argmax(promises))
        ranked.append((promises[best], each, grid[best]))
    ranked.sort(key=lambda item: item[0], reverse=True)
    return [(each, epsilon) for _, each, epsilon in ranked[:_DIRECT]]


def _limits(candidate: _Candidate, counts: tuple[int, int], trials: int, failure: float) -> _Test:
    lower, upper = lower_limit(counts[0], trials, failure), upper_limit(counts[1], trials, failure)
    return _Test(str(candidate), candidate.direction, lower, upper)


def _sample(name: str, values: ArrayLike, width: int) -> Array:
    array = np.asarray(values)
    if width == 1 and array.ndim == 1:
        array = array[:, None]
    if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != width:
        raise ArgumentTypeError(
            name, values, f"{np.ndim(values)}-dimensional {array.dtype} is no sample of {width} number(s) a trial",
            "Pass a list of numbers, one a trial, or rows of one for each name",
        )  # fmt: skip
    if len(array) < LEAST_TRIALS:
        raise ArgumentError(name, len(array), "too few outputs to tell anything", f"Make {LEAST_TRIALS} trials or more")
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


def checked_confidence(confidence: float) -> float:
    """The confidence of an audit, between 0.5 and 1."""
    found = _within("confidence", confidence, 0.5, 1.0, "Pass a number such as 0.99")
    if found == 0.5:
        raise ArgumentError("confidence", found, "it must be above 0.5", "Pass a number such as 0.99")
    return found


def _epsilon(value: float) -> float:
    return _within("epsilons", value, 0.0, math.inf, "Pass numbers from 0 up")


def _claim(claimed: Callable[[float], float], epsilon: float) -> float:
    bound = float(claimed(epsilon))
    if not bound >= 0.0:
        raise ArgumentError("claimed", bound, f"no δ to claim at ε = {epsilon:g}", "A δ is a number from 0 up")
    return bound
