"""The findings of an audit, as numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class AuditFinding:
    """One inequality, and what the samples say about it.

    With the audit's confidence, P(event) - e^epsilon P'(event) is at least `observed`, where the claim is at most
    `claimed`; P belongs to the first sample in the direction "first over second", and to the second in the other.
    `neighbours` says which two data sets the samples are of.
    """

    event: str
    direction: str
    epsilon: float
    observed: float
    claimed: float
    neighbours: str = ""

    @property
    def refutes(self) -> bool:
        """Whether the claim is false here, if the limits hold."""
        return self.observed > self.claimed


@dataclass(frozen=True)
class AuditedNeighbours:
    """Two data sets that were compared: the number of releases of each."""

    name: str
    trials: int
    passed: bool
    strongest_epsilon: float


@dataclass(frozen=True)
class AuditReport:
    """The result of an audit.

    `strongest_epsilon`: with the stated confidence the mechanism is not (ε, at_delta)-private for any ε below this; 0
    if nothing can be refuted. `events` were judged on `trials` outputs for each neighbour, some of which picked them.
    `worst` is the inequality that comes nearest to being broken, or is broken most, by observed/claimed. `numbers` are
    the names of what was published and looked at. `neighbours` are the data sets that were tried; `trials` and
    `numbers` are of the first of them. `claimed_epsilon` is the ε of the claim at `at_delta`, where it is known.

    `catches` is a share c: the same outputs refute a claim of c times the change between neighbours. So noise, or a
    floor, of less than about c of what the claim needs would have been noticed; more than that would not. 0 if only
    outright leaks would have been, None if it was not asked.
    """

    passed: bool
    strongest_epsilon: float
    at_delta: float
    confidence: float
    trials: int
    events: int
    worst: AuditFinding
    numbers: tuple[str, ...] = ("value",)
    catches: float | None = None
    neighbours: tuple[AuditedNeighbours, ...] = ()
    claimed_epsilon: float | None = None

    def __str__(self) -> str:
        return "\n".join([self._verdict(), *(f"{name:<16} {text}" for name, text in self._rows())])

    def _verdict(self) -> str:
        known = self.claimed_epsilon is not None
        claim = f"the claim of ε = {self.claimed_epsilon:.4g} at δ = {self.at_delta:.3g}" if known else "the claim"
        return f"Passed: nothing contradicts {claim}." if self.passed else f"FAILED: the releases contradict {claim}."

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Name and text of each line; a line without a name goes on with the one before."""
        for number, tried in enumerate(self.neighbours):
            told = "" if tried.passed else ": FAILED"
            yield "" if number else "data compared", f"{tried.name} ({tried.trials:,} releases of each){told}"
        if not self.neighbours:
            yield "data compared", f"{self.trials:,} releases of each of two data sets"
        yield "numbers compared", self._named()
        sure = f"{100.0 * self.confidence:.6g}% confidence"
        if self.strongest_epsilon > 0.0:
            yield "measured", f"ε is at least {self.strongest_epsilon:.4g} at δ = {self.at_delta:.3g} ({sure})"
        else:
            yield "measured", f"no difference between the data sets ({sure})"
        if self.worst.observed > 0.0:
            yield from self._closest()
        yield from self._power()
        yield "false alarms", f"at most 1 in {1.0 / (1.0 - self.confidence):,.0f} audits of a correct mechanism fails"

    def _closest(self) -> Iterator[tuple[str, str]]:
        """The inequality that comes nearest to being broken, or is."""
        worst, side = self.worst, "first" if self.worst.direction.startswith("first") else "second"
        bound = f"δ is at least {worst.observed:.3g}; the claim is at most {worst.claimed:.3g}"
        yield "closest to limit" if self.passed else "evidence", f"at ε = {worst.epsilon:.4g}, {bound}"
        yield "", f"seen in releases with {worst.event}, likelier on the {side} data set"
        if len(self.neighbours) > 1:
            yield "", f"data: {worst.neighbours}"

    def _named(self) -> str:
        more = f" and {len(self.numbers) - 3} more" if len(self.numbers) > 3 else ""
        together = ", each alone and all together" if len(self.numbers) > 1 else ""
        return ", ".join(self.numbers[:3]) + more + together

    def _power(self) -> Iterator[tuple[str, str]]:
        """What this many trials can detect, and what not."""
        if self.catches is None or not self.passed:
            return
        if self.catches > 0.0:
            yield "would catch", f"noise, or a floor, below about {self.catches:.2g} of what the claim needs"
            yield "would miss", "smaller faults, and faults that show only on other data"
        else:
            yield "would catch", "outright leaks only"
            yield "would miss", "noise that is too small (run more trials), and faults that show only on other data"


def joined(reports: Sequence[AuditReport], confidence: float, claimed_epsilon: float) -> AuditReport:
    """One report of audits on several pairs of neighbours, the first of which has the most trials.

    `confidence` is that of all together: the chances that one of them fails by accident add up to 1 - confidence.
    """
    findings = [report.worst for report in reports]
    return replace(
        reports[0],
        passed=all(report.passed for report in reports),
        strongest_epsilon=max(report.strongest_epsilon for report in reports),
        confidence=confidence,
        events=sum(report.events for report in reports),
        worst=max(findings, key=severity),
        neighbours=tuple(each for report in reports for each in report.neighbours),
        claimed_epsilon=claimed_epsilon,
    )


def severity(finding: AuditFinding) -> tuple[float, float]:
    """The order of findings: how near the claim is to being broken, and then how much was observed."""
    if finding.observed == 0.0:
        return 0.0, 0.0
    return (finding.observed / finding.claimed if finding.claimed > 0.0 else math.inf), finding.observed
