"""`audit`: runs the real release path on neighbours of a plan and tests the whole claimed curve.

The first neighbours are the two streams that attain the sensitivity (privacy/neighbours.py), so they are as easy to
tell apart as any. If their releases do not contradict the curve, those of no other pair would by more than sampling
error. If an estimate gets noise, they are the pair whose own spread hides the difference least: the empty stream and c
new keys. Other pairs follow, with fewer trials, for faults that do not show there (streams.py).

The audit tests every published number (the value, its limits, the points of a profile), each alone and all of them
together. A release that is less private than claimed (a known seed, a missing floor, a wrong theorem) is caught with
the stated confidence if it is far enough from the claim, and the report says how far that is. A sound release fails
with probability at most 1 - confidence: half of this is for the first pair, half is shared by the others. Passing does
not prove the claim; the proofs do.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache, partial

from ..collector import Collector
from ..errors import ArgumentTypeError
from ..numbers.checked import checked_whole
from ..plan import Plan
from ..plan.mechanism import mechanism_of
from ..statistic.published import Release
from .report import AuditReport, joined_reports
from .samples import CONFIDENCE, LEAST_TRIALS, TRIALS, audit_confidence, audit_samples
from .streams import Neighbours, neighbours_of


def audit(
    plan: Plan,
    trials: int = TRIALS,
    *,
    confidence: float = CONFIDENCE,
    open_collector: Callable[[Plan], Collector] | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Tests the claim of `plan` on releases of neighbouring streams, in both directions, including δ(0).

    Each of the two worst neighbours is released `trials` times; other pairs share half as many trials.

    `open_collector` replaces `plan.open`, to audit a collector that is made in another way. With `progress` (the
    default on a terminal), a line on standard error shows the progress.

    Raises:
        ArgumentError: too few trials, or the worst neighbours are too long to be streamed that often.
    """
    if not isinstance(plan, Plan):
        raise ArgumentTypeError("plan", plan, "must be a Plan", "Pass the result of ss.plan(...)")
    trials = checked_whole("trials", trials, f"Pass {TRIALS} or more", least=LEAST_TRIALS)
    confidence = audit_confidence(confidence)
    worst, *others = neighbours_of(plan)
    others = others[: trials // (2 * LEAST_TRIALS)]  # together they get half as many trials
    opened = Plan.open if open_collector is None else open_collector
    shown = _Progress(trials + trials // 2 if others else trials, sys.stderr.isatty() if progress is None else progress)
    claimed_curve = mechanism_of(plan).claimed_curve
    curve = cache(claimed_curve(plan))
    reports = []
    for neighbours in (worst, *others):
        first = neighbours is worst
        share = 1.0 if not others else 0.5 if first else 0.5 / len(others)
        names, samples = _outputs(
            neighbours, trials if first else trials // (2 * len(others)), partial(opened, plan), shown
        )
        reports.append(
            audit_samples(
                samples[0],
                samples[1],
                curve,
                delta=plan.delta,
                confidence=1.0 - share * (1.0 - confidence),
                names=names,
                weaker=partial(claimed_curve, plan) if first else None,
                neighbours=neighbours.name,
            )
        )
    shown.end()
    return joined_reports(reports, confidence, plan.epsilon)


def _outputs(
    neighbours: Neighbours, trials: int, opened: Callable[[], Collector], shown: _Progress
) -> tuple[tuple[str, ...], tuple[list[list[float]], list[list[float]]]]:
    """The names of the published numbers, and this many outputs of each neighbour."""
    names: tuple[str, ...] = ()
    samples: tuple[list[list[float]], list[list[float]]] = ([], [])
    for _ in range(trials):
        for streams, sample in zip((neighbours.first, neighbours.second), samples, strict=True):
            numbers: dict[str, float] = {}
            for group, (keys, values) in enumerate(streams, 1):
                collector = opened()
                collector.update(keys, values)
                of = f" of group {group}" if len(streams) > 1 else ""
                numbers |= {f"{name}{of}": number for name, number in published(collector.release()).items()}
            names = tuple(numbers)
            sample.append(list(numbers.values()))
        shown.advance()
    return names, samples


class _Progress:
    def __init__(self, trials: int, wanted: bool) -> None:
        self._trials, self._wanted, self._done, self._began = trials, wanted, 0, time.monotonic()

    def advance(self) -> None:
        self._done += 1
        if self._wanted and self._done % 16 == 0:
            left = (time.monotonic() - self._began) / self._done * max(self._trials - self._done, 0)
            text = f"\raudit: {self._done:,} of {self._trials:,} trials, {left:.0f} s left   "
            print(text, end="", file=sys.stderr)

    def end(self) -> None:
        if self._wanted:
            print(f"\raudit: {self._done:,} trials                        ", file=sys.stderr)


def published(release: Release) -> dict[str, float]:
    """Every number of a release that depends on the data, by name."""
    found = {"value": release.value, "low": release.low, "high": release.high}
    for point in release.points:
        at = f"order {point.order:g}"
        found |= {f"value at {at}": point.value, f"low at {at}": point.low, f"high at {at}": point.high}
        if point.band_low is not None and point.band_high is not None:
            found |= {f"band at {at}, low": point.band_low, f"band at {at}, high": point.band_high}
    return found if release.total is None else {**found, "total": release.total.value}
