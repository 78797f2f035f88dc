"""Collectors whose secrets are numbered, so that no outcome of an audit ever changes, and plans that are broken."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import stablesketch as ss
from stablesketch.audit.streams import StreamPairs, neighbours_of
from stablesketch.plan.plan import altered

Change = Callable[[ss.Plan], ss.Plan]
Opener = Callable[[ss.Plan], ss.Collector]


def secret(number: int) -> ss.Secret:
    return ss.Secret.from_bytes(number.to_bytes(32, "little"))


def opener(salt: int, change: Change = lambda plan: plan) -> Opener:
    """Collectors of the changed plan, under secrets that come out the same each time."""
    numbers = itertools.count(salt << 64)
    return lambda plan: change(plan).open(secret(next(numbers)))


def in_turn(secrets: int) -> Opener:
    """The same few secrets again and again; each anew, for a release destroys it."""
    numbers = itertools.cycle(range(secrets))
    return lambda plan: plan.open(secret(next(numbers)))


def worst_streams(plan: ss.Plan) -> tuple[StreamPairs, StreamPairs]:
    """The first neighbours that an audit tries, as (keys, values) each."""
    worst = neighbours_of(plan)[0]
    return worst.first[0], worst.second[0]


def quieter(factor: float) -> Change:
    """Less noise on the estimate; of buckets, on the sum and on the norm."""
    return lambda plan: altered(plan, noise=factor * plan.noise)


def caught(plan: ss.Plan, trials: int, opened: Opener) -> ss.AuditReport:
    """What the audit found, which must be something."""
    report = ss.audit(plan, trials, open_collector=opened, progress=False)
    assert not report.passed, str(report)
    return report


def passed(plan: ss.Plan, trials: int, opened: Opener) -> ss.AuditReport:
    """What the audit found, which must be nothing. False alarm: at most 1% under other secrets."""
    report = ss.audit(plan, trials, open_collector=opened, progress=False)
    assert report.passed, str(report)
    assert report.strongest_epsilon <= plan.epsilon
    return report
