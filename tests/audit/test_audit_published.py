"""The audit sees every number that a release publishes, and all of them together."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from audit_helpers import caught, opener, passed, worst_streams

import stablesketch as ss
from stablesketch.audit.plans import published
from stablesketch.audit.samples import audit_samples
from stablesketch.collector.releasing import released
from stablesketch.plan import Phantoms
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.plan.plan import altered
from stablesketch.statistic.published import Terms

PROFILE = ss.plan(ss.Profile([0, 0.5]), ss.Privacy(1.0, 1e-6, 3, relation="add_remove"), size=64, mechanism="bare")
HILL = ss.plan(ss.Hill(0.5), ss.Privacy(2.0, 1e-6, 20, max_value=4, relation="replace"), size=20, mechanism="bare")
# Of whole keys the worst neighbours are varied. Of pairs one key holds nearly everything, so a Hill number is about
# 1, the least it can be, and is moved there whatever the noise: what is not published cannot be seen.
HILL_OF_KEYS = ss.plan(
    ss.Hill(0.5), ss.Privacy(2.0, 1e-6, 20, max_value=4, relation="add_remove", unit="key"), size=20, mechanism="bare"
)


def changed_inputs(plan: ss.Plan, kind: type, change: Callable[[ss.Plan], ss.Plan]) -> ss.Plan:
    inputs = tuple(change(one) if isinstance(one.statistic, kind) else one for one in plan.inputs)
    return altered(plan, inputs=inputs)


def without_floor(plan: ss.Plan) -> ss.Plan:
    return changed_inputs(plan, ss.Moment, lambda one: altered(one, phantoms=Phantoms(0, 1)))


def without_noise(plan: ss.Plan) -> ss.Plan:
    loud = {"epsilon": 1e6}
    return changed_inputs(plan, ss.Total, lambda one: altered(one, privacy=dataclasses.replace(one.privacy, **loud)))


@pytest.mark.parametrize(
    "plan",
    [PROFILE, HILL, ss.plan(ss.Total(), ss.Privacy(1.0, 1e-6, 3, relation="replace"), mechanism="bare")],
    ids=lambda plan: plan.statistic.name,
)
def test_every_number_that_depends_on_the_data_is_looked_at(plan: ss.Plan) -> None:
    releases = []
    for key in ("ape", "bee"):
        collector = plan.open()
        collector.update([f"{key} {i}" for i in range(40)])
        releases.append(collector.release())
    one, other = (dataclasses.asdict(release) for release in releases)
    differing = {name for name in one if one[name] != other[name]}
    assert differing <= {"value", "low", "high", "points"}
    numbers = published(releases[0])
    assert [numbers[name] for name in ("value", "low", "high")] == [one["value"], one["low"], one["high"]]
    for point in releases[0].points:
        assert {point.value, point.low, point.high} <= set(numbers.values())
    assert len(numbers) == 3 + 5 * len(releases[0].points)  # with the band of all orders


def test_all_that_an_audit_sees_comes_from_the_secrets() -> None:
    """Registers and phantoms, entries, grids, noise: under the same secrets the same numbers."""
    exact = ss.plan(ss.Hill(1), ss.Privacy(1.0, 1e-6, 3, max_value=4), mechanism="exact")
    for plan in (PROFILE, HILL, exact):
        found = []
        for _ in range(2):
            opened = opener(4)
            for keys, values in worst_streams(plan) * 2:
                collector = opened(plan)
                collector.update(keys, values)
                found.append(published(collector.release()))
        assert found[:4] == found[4:]
        assert found[0] != found[2]  # the same stream, another secret


def test_a_floor_missing_at_another_order_than_the_first_is_caught() -> None:
    """The value of the profile is that of order 0, which has its noise; order 0.5 shows who was there."""
    report = caught(PROFILE, 200, opener(5, without_floor))
    assert report.strongest_epsilon > 1.5 * PROFILE.epsilon


@pytest.mark.slow
def test_noise_missing_on_a_total_behind_a_noisy_moment_is_caught() -> None:
    """Value and limits together give the total away, which none of them does alone."""
    caught(HILL_OF_KEYS, 1_000, opener(6, without_noise))


@pytest.mark.slow
@pytest.mark.parametrize("plan", [PROFILE, HILL], ids=lambda plan: plan.statistic.name)
def test_sound_plans_of_several_numbers_pass(plan: ss.Plan) -> None:
    passed(plan, 1_000, opener(7))


PROMISED = [
    ss.plan(
        ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 50, total=60, max_value=9, relation="replace"), size=20, mechanism="bare"
    ),
    ss.plan(
        ss.Moment(0.5),
        ss.Privacy(1.0, 1e-6, 0, total=1_000, max_value=9, relation="add_remove"),
        size=20,
        mechanism="bare",
    ),
    ss.plan(
        ss.Shannon(),
        ss.Privacy(4.0, 1e-6, 300, total=5_000, max_value=9, relation="replace"),
        size=20,
        mechanism="bare",
    ),
    ss.plan(
        ss.Hill(0.5), ss.Privacy(2.0, 1e-6, 20, max_value=4, total=100, relation="replace"), size=20, mechanism="bare"
    ),
    ss.plan(
        ss.Atkinson(0.5),
        ss.Privacy(4.0, 1e-6, 30, max_value=9, total=150, unit="key", relation="replace"),
        size=20,
        mechanism="bare",
    ),
]


@pytest.mark.parametrize("plan", PROMISED, ids=lambda plan: f"{plan.statistic}, {plan.privacy.relation}")
def test_a_promised_total_is_kept_by_both_neighbours(plan: ss.Plan) -> None:
    privacy = plan.privacy
    larger, smaller = worst_streams(plan)
    for keys, values in (larger, smaller):
        assert len(keys) == len(values) >= privacy.pairs
        assert values.sum() >= privacy.total
        assert values.min() >= 1
        assert values.max() <= privacy.max_value
        if privacy.unit == "key":
            assert len(set(keys.tolist())) == len(keys)
    pairs = [sorted(zip(*(part.tolist() for part in stream), strict=True)) for stream in (larger, smaller)]
    apart = [sum((Counter(one) - Counter(other)).values()) for one, other in (pairs, pairs[::-1])]
    assert max(apart) <= privacy.pairs_per_person
    for keys, values in (larger, smaller):  # and a release takes them
        collector = plan.open()
        collector.update(keys, values)
        collector.release()


def test_a_plan_with_a_promised_total_is_audited() -> None:
    """False alarm: at most 1%, and the secrets are the same each time."""
    report = ss.audit(PROMISED[0], 150, open_collector=opener(8), progress=False)
    assert report.passed, str(report)


def test_a_weaker_claim_is_a_smaller_curve() -> None:
    for plan in (
        PROFILE,
        HILL,
        *PROMISED[:2],
        ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 3, relation="replace"), mechanism="exact"),
    ):
        whole, half = mechanism_of(plan).claimed_curve(plan), mechanism_of(plan).claimed_curve(plan, 0.5)
        assert all(half(epsilon) < whole(epsilon) for epsilon in (0.0, 0.2))
        assert whole(plan.epsilon) <= plan.delta * (1.0 + 1e-9) + 1e-12


def test_the_report_says_what_was_looked_at_and_what_would_have_shown() -> None:
    report = ss.audit(PROMISED[0], 100, open_collector=opener(9), progress=False)
    assert "value, low, high, each alone and all together" in str(report)
    assert "would catch" in str(report)
    assert "would miss" in str(report)
    assert report.numbers == ("value", "low", "high")
    assert report.catches is not None


@pytest.mark.parametrize("statistic", [ss.Shannon(), ss.Hill(0.5)], ids=str)
def test_the_total_that_a_monitor_publishes_is_looked_at(statistic: ss.Statistic) -> None:
    """Alone and with all other numbers, of an empty window and of one row; with too little noise it is caught."""
    plan = ss.plan(statistic, ss.Privacy(1.0, 1e-6), mechanism="exact")
    reports = []
    for change in (
        lambda plan: plan,
        lambda plan: altered(plan, privacy=dataclasses.replace(plan.privacy, epsilon=8.0)),
    ):
        opened, samples, names = opener(9, partial(_of_all, change)), ([], []), ()
        for sample, keys in zip(samples, ([], ["a"]), strict=True):
            for _ in range(1_000):
                collector = opened(plan)
                collector.update(keys)
                (release,) = released([collector], lambda: [Terms(9.0, 0.1, "add_remove", 1, total=True)])
                numbers = published(release)
                names = tuple(numbers)
                sample.append(list(numbers.values()))
        assert names == ("value", "low", "high", "total")
        reports.append(audit_samples(*samples, mechanism_of(plan).claimed_curve(plan), delta=plan.delta, names=names))
    assert [report.passed for report in reports] == [True, False], "\n".join(map(str, reports))


def _of_all(change: Callable[[ss.Plan], ss.Plan], plan: ss.Plan) -> ss.Plan:
    return altered(plan, inputs=tuple(map(change, plan.inputs))) if plan.inputs else change(plan)
