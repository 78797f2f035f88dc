"""The findings of an audit, as numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class AuditFinding:
    """One inequality, and what the samples say about it.

    With the audit's confidence, P(event) - e^epsilon P'(event) is at least `observed`; the claim is at most `claimed`.
    P belongs to the first sample in the direction "first over second", and to the second sample in the other.
    `neighbours` describes the two data sets that the samples come from.
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

    `strongest_epsilon`: with the stated confidence, the mechanism is not (ε, at_delta)-private for any ε below this; 0
    if nothing can be refuted. `events` is the number of events judged, on `trials` outputs for each neighbour; a part
    of these picked the events. `worst` is the inequality that comes closest to being violated, or is violated most, by
    observed/claimed. `numbers` are the names of the published numbers that were tested. `neighbours` are the data sets
    that were compared; `trials` and `numbers` belong to the first of them. `claimed_epsilon` is the ε of the claim at
    `at_delta`, if known.

    `catches` is a share c: the same outputs refute a claim for c times the change between neighbours. So the audit
    would have noticed noise, or a floor, below about c of what the claim needs, but not more than that. 0 if it would
    have noticed only outright leaks; None if it was not asked.
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
        """The name and text of each line; a line without a name continues the one before."""
        for number, tried in enumerate(self.neighbours):
            failed = "" if tried.passed else ": FAILED"
            yield "" if number else "data compared", f"{tried.name} ({tried.trials:,} releases of each){failed}"
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
        """The inequality that is violated, or comes closest to it."""
        worst, side = self.worst, "first" if self.worst.direction.startswith("first") else "second"
        bound = f"δ is at least {worst.observed:.3g}; the claim is at most {worst.claimed:.3g}"
        yield "closest to limit" if self.passed else "evidence", f"at ε = {worst.epsilon:.4g}, {bound}"
        yield "", f"seen in releases with {worst.event}, more likely on the {side} data set"
        if len(self.neighbours) > 1:
            yield "", f"data: {worst.neighbours}"

    def _named(self) -> str:
        more = f" and {len(self.numbers) - 3} more" if len(self.numbers) > 3 else ""
        together = ", each alone and all together" if len(self.numbers) > 1 else ""
        return ", ".join(self.numbers[:3]) + more + together

    def _power(self) -> Iterator[tuple[str, str]]:
        """What this many trials can and cannot detect."""
        if self.catches is None or not self.passed:
            return
        if self.catches > 0.0:
            yield "would catch", f"noise, or a floor, below about {self.catches:.2g} of what the claim needs"
            yield "would miss", "smaller faults, and faults that show only on other data"
        else:
            yield "would catch", "outright leaks only"
            yield "would miss", "noise that is too small (run more trials), and faults that show only on other data"


def joined_reports(reports: Sequence[AuditReport], confidence: float, claimed_epsilon: float) -> AuditReport:
    """One report for audits of several pairs of neighbours; the first pair has the most trials.

    `confidence` is for all of them together: their probabilities of failing by chance add up to 1 - confidence.
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
    """The order of findings: by how close the claim is to being violated, then by how much was observed."""
    if finding.observed == 0.0:
        return 0.0, 0.0
    return (finding.observed / finding.claimed if finding.claimed > 0.0 else math.inf), finding.observed
