"""Events picked on a part of the outputs, counted in the rest, and what they say about a claim (samples.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..numbers.arrays import Array
from ..numbers.search import last_whole
from ..privacy.binomial import lower_limit, upper_limit
from .difference import DifferenceTest
from .events import Event, Indices, pick_events, tail_events
from .report import AuditFinding
from .scores import Score, make_scores

ClaimedCurve = Callable[[float], float]

# The parts of the trials that train scores and pick events, and that rank the picked events: an event that was fitted
# to some outputs looks too good on them. Both need few trials; the tests get all the others.
_TRAINING, _CHOOSING = 0.2, 0.1
# Values of ε to test by default: these parts of the largest ε that the samples say anything about.
_FRACTIONS = tuple(i / 16 for i in range(16))
# The number of events tested directly, and of events in either direction whose limits give the strongest refuted ε.
_DIRECT = 6
_LIMITS = 8
_SHARES = 20


@dataclass(frozen=True, eq=False)
class _Candidate:
    """An event of a score, in one direction, and its shares among outputs that were not used to pick it."""

    score: Score
    event: Event
    over: int
    shares: tuple[float, float]

    @property
    def direction(self) -> str:
        return ("first over second", "second over first")[self.over]

    def __str__(self) -> str:
        return self.event.of(self.score.name)

    def promise(self, epsilon: float, claim: float, trials: int) -> float:
        """The number of standard errors, at this many trials, by which it would contradict the claim at ε."""
        over, under = self.shares
        factor = math.exp(min(epsilon, 300.0))
        variance = over * (1.0 - over) + factor**2 * under * (1.0 - under) + (1.0 + factor**2) / trials
        return (over - factor * under - claim) / math.sqrt(variance / trials)

    def log_ratio(self, delta: float, trials: int) -> float:
        """The ε that it would refute at δ, marked down by a few standard errors."""
        over, under = self.shares
        low = over - delta - 3.0 * math.sqrt((over * (1.0 - over) + 1.0 / trials) / trials)
        high = under + 3.0 * math.sqrt((under * (1.0 - under) + 1.0 / trials) / trials)
        return math.log(low / high) if low > 0.0 else -math.inf


@dataclass(frozen=True, eq=False)
class _Test:
    """An event with a lower limit of its probability on one side and an upper limit on the other."""

    candidate: _Candidate
    lower: float
    upper: float

    def observed(self, epsilon: float) -> float:
        """A lower limit of δ(ε); 0 means that nothing is known."""
        if self.lower <= 0.0 or epsilon >= math.log(self.lower / self.upper):
            return 0.0
        return self.lower - math.exp(epsilon) * self.upper

    def refuted(self, delta: float) -> float:
        """The mechanism is not (ε, delta)-private for ε below this: lower - e^ε upper > delta."""
        return max(math.log((self.lower - delta) / self.upper), 0.0) if self.lower > delta else 0.0


class Judged:
    """The counts of the picked events, ready to be compared with a claim."""

    def __init__(
        self, samples: tuple[Array, Array], names: Sequence[str], claim: ClaimedCurve, delta: float, confidence: float,
        epsilons: Sequence[float] | None,
    ) -> None:  # fmt: skip
        """Trains scores and picks events on a part of the trials, and counts them in the rest.

        The trials are shuffled with a fixed seed, so that samples that were sorted or have a trend are split fairly.
        """
        order = np.random.default_rng(0x5EED).permutation(len(samples[0]))
        ends = [int(part * len(order)) for part in (_TRAINING, _TRAINING + _CHOOSING)]
        training, choosing, judging = np.split(order, ends)
        scores = make_scores(names, samples[0][training], samples[1][training])
        candidates = [
            each for score in scores for each in _candidates(score, samples, training, choosing, len(judging), delta)
        ]
        scored = {score.name: (score.of(samples[0][judging]), score.of(samples[1][judging])) for score in scores}

        def counts(each: _Candidate) -> tuple[int, int]:
            """How often the event occurred on the side where it should be likely, and on the other."""
            sides = scored[each.score.name]
            return each.event.count(sides[each.over]), each.event.count(sides[1 - each.over])

        failure = 0.5 * (1.0 - confidence)
        limited = _for_limits(candidates, delta, len(judging))
        share = failure / (2 * len(limited))
        tests = []
        for each in limited:
            first, second = counts(each)
            lower, upper = lower_limit(first, len(judging), share), upper_limit(second, len(judging), share)
            tests.append(_Test(each, lower, upper))
        # No ε above ln(lower/upper) can be contradicted, whatever is claimed.
        reach = max(test.refuted(0.0) for test in tests)
        tried = [0.0, *epsilons] if epsilons is not None else [reach * part for part in _FRACTIONS]
        # The ε at which an event is tested may depend only on the training, so these are not `tried`.
        hoped = max(0.0, *(each.log_ratio(0.0, len(judging)) for each in candidates))
        grid = sorted({0.0, *epsilons}) if epsilons is not None else [hoped * part for part in _FRACTIONS]
        promising = _promising(candidates, grid, claim, len(judging))
        direct = [
            (each, DifferenceTest(counts(each), len(judging), epsilon, failure / len(promising)))
            for each, epsilon in promising
        ]
        self.claim, self.tests, self.direct, self.tried = claim, tests, direct, sorted(set(tried))

    def findings(self) -> list[AuditFinding]:
        """What limits and direct tests say about a claim, including the direct test that is least likely to be due to
        chance.
        """
        found = []
        for epsilon in self.tried:
            test = max(self.tests, key=lambda test: test.observed(epsilon))
            found.append(self._finding(test.candidate, epsilon, test.observed(epsilon)))
        event, least = min(self.direct, key=lambda pair: pair[1].log_p(self.claim(pair[1].epsilon)))
        return [*found, self._finding(event, least.epsilon, least.limit())]

    def _finding(self, event: _Candidate, epsilon: float, observed: float) -> AuditFinding:
        return AuditFinding(str(event), event.direction, epsilon, observed, self.claim(epsilon))

    def _refutes(self, claim: ClaimedCurve) -> bool:
        if any(test.observed(epsilon) > claim(epsilon) for epsilon in self.tried for test in self.tests):
            return True
        return any(test.excludes(claim(test.epsilon)) for _, test in self.direct)

    def catches(self, weaker: Callable[[float], ClaimedCurve]) -> float:
        """The largest share, to a twentieth, at which the weaker claim is refuted; 0 if none is."""
        return last_whole(lambda part: self._refutes(cache(weaker(part / _SHARES))), 0, _SHARES) / _SHARES


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
    """The events likely to refute the largest ε at δ, in either direction."""
    found: list[_Candidate] = []
    for over in (0, 1):
        own = [each for each in candidates if each.over == over]
        found += sorted(own, key=lambda each: each.log_ratio(delta, trials), reverse=True)[:_LIMITS]
    return found


def _promising(
    candidates: Sequence[_Candidate], grid: Sequence[float], claim: ClaimedCurve, trials: int
) -> list[tuple[_Candidate, float]]:
    """The events most likely to contradict the claim, each at its best ε."""
    claims = [claim(epsilon) for epsilon in grid]
    ranked = []
    for each in candidates:
        promises = [each.promise(epsilon, bound, trials) for epsilon, bound in zip(grid, claims, strict=True)]
        best = int(np.argmax(promises))
        ranked.append((promises[best], each, grid[best]))
    ranked.sort(key=lambda item: item[0], reverse=True)
    return [(each, epsilon) for _, each, epsilon in ranked[:_DIRECT]]
