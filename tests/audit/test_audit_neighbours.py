"""The neighbours that an audit tries are neighbours, and faults that do not show on the first pair show on another.

Secrets are numbered, so no outcome ever changes.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from audit_helpers import caught, opener, quieter, secret, worst_streams

import stablesketch as ss
from stablesketch.audit.streams import StreamPairs, neighbours_of
from stablesketch.plan.plan import altered

TABLE = ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6, pairs_per_person=3, groups=2), mechanism="exact")
EXACT = ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6), mechanism="exact")
NORM = ss.plan(ss.Moment(2.0), ss.Privacy(4.0, 1e-6, pairs_per_person=3), size=40)
PLANS = [
    TABLE,
    ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6, pairs_per_person=3, groups=3), size=20),
    EXACT,
    NORM,
    ss.plan(ss.Moment(2.0), ss.Privacy(4.0, 1e-6, 0, 5, "replace", 2), size=20),
    ss.plan(
        ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 50, total=60, max_value=9, relation="replace"), size=20, mechanism="bare",
    ),
    ss.plan(ss.Hill(0.5), ss.Privacy(2.0, 1e-6, 20, max_value=4, relation="replace"), size=20, mechanism="bare"),
    ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-6)),
    ss.plan(
        ss.Atkinson(0.5), ss.Privacy(4.0, 1e-6, 30, max_value=9, total=150, unit="key", relation="replace"),
        size=20, mechanism="bare",
    ),
]  # fmt: skip


def counted(streams: tuple[StreamPairs, ...]) -> Counter[tuple[int, int, int]]:
    """How often each (group, key, value) comes."""
    return Counter(
        (group, key, value)
        for group, stream in enumerate(streams)
        for key, value in zip(*(column.tolist() for column in stream), strict=True)
    )


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.statistic}, {plan.mechanism}, {plan.privacy.relation}")
def test_all_of_them_are_neighbours_and_keep_what_is_promised(plan: ss.Plan) -> None:
    privacy, tried = plan.privacy, neighbours_of(plan)
    assert len({each.name for each in tried}) == len(tried) >= 2
    for each in tried:
        assert len(each.first) == len(each.second) <= privacy.copies
        first, second = counted(each.first), counted(each.second)
        more, less = (first - second).total(), (second - first).total()
        assert 0 < more <= privacy.pairs_per_person
        assert less == (0 if privacy.relation == "add_remove" else more)
        for keys, values in (*each.first, *each.second):
            assert len(keys) == len(values) >= privacy.pairs
            assert values.sum() >= privacy.total
            assert values.min(initial=1) >= 1
            assert values.max(initial=1) <= privacy.max_value
            assert privacy.unit == "pair" or len(np.unique(keys)) == len(keys)


def test_norms_are_tried_where_they_change_most() -> None:
    """All pairs of a person on one key: by c. On keys of their own it would be c^(1/p)."""
    norms = []
    for keys, values in worst_streams(NORM):
        totals = np.bincount(keys, weights=values) if len(keys) else np.zeros(1)
        norms.append(float(np.sqrt((totals**2).sum())))
    assert norms[0] - norms[1] == 3.0


def test_two_groups_under_one_secret_are_caught() -> None:
    """Their noise is the same. No group shows that by itself; the two together do."""
    numbers = itertools.count()

    def opened(plan: ss.Plan) -> ss.Collector:
        return plan.open(secret(next(numbers) // 2))

    report = ss.audit(TABLE, 200, open_collector=opened, progress=False)
    assert not report.passed
    failed = [tried.name for tried in report.neighbours if not tried.passed]
    assert failed == ["with and without 3 pairs of one person on new keys, spread over 2 groups, in an empty stream"]
    assert f"{failed[0]} (100 releases of each): FAILED" in str(report)
    assert report.worst.neighbours == failed[0]
    assert "FAILED: the releases contradict the claim of ε = 2 at δ = 0." in str(report)


class QuietWhenLong:
    """A collector that forgets its noise beyond 60 pairs."""

    def __init__(self, plan: ss.Plan, own: ss.Secret) -> None:
        self._plan, self._secret = plan, own

    def update(self, keys: Any, values: Any) -> None:
        plan = self._plan
        if len(keys) > 60:
            plan = altered(plan, privacy=dataclasses.replace(plan.privacy, epsilon=50.0))
        self._collector = plan.open(self._secret)
        self._collector.update(keys, values)

    def release(self) -> ss.Release:
        return self._collector.release()


def test_a_fault_of_long_streams_is_caught() -> None:
    numbers = itertools.count()
    report = ss.audit(
        EXACT, 300, open_collector=lambda plan: QuietWhenLong(plan, secret(next(numbers))), progress=False  # type: ignore[arg-type, return-value]
    )  # fmt: skip
    assert [tried.passed for tried in report.neighbours] == [True, False]
    assert "beside 100 or more other keys" in report.worst.neighbours


def test_a_third_of_the_noise_on_a_norm_is_caught() -> None:
    caught(NORM, 300, opener(0, quieter(1.0 / 3.0)))


def test_a_short_audit_tries_fewer_of_them() -> None:
    """Each pair needs a hundred trials to say anything, and all others together have half of those of the first."""
    opened = opener(0)
    for trials, each in ((100, [100]), (200, [200, 100])):
        report = ss.audit(EXACT, trials, open_collector=opened, progress=False)
        assert [tried.trials for tried in report.neighbours] == each
        assert report.passed
