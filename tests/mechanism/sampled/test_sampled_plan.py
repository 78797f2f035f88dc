"""Plans with sampling: what they reach, how they compare, and what is refused."""

from __future__ import annotations

import json
import math

import pytest
from plan_texts import forged

import stablesketch as ss
from stablesketch.plan.plan import altered
from stablesketch.privacy.precision import rounding_delta
from stablesketch.privacy.sampling import SampledCurve

DENSE = 1_000 * 100**0.25  # F_0.25 of 1,000 keys seen 100 times each


@pytest.fixture(scope="module", params=["pair", "entry"])
def sampling(request: pytest.FixtureRequest) -> ss.Sampling:
    return ss.Sampling(0.05, request.param)


def test_a_plan_reaches_what_it_says(sampling: ss.Sampling) -> None:
    privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=100_000, relation="replace")
    plan = ss.plan(ss.Moment(0.25), privacy, size=50, sampling=sampling, expected=DENSE, mechanism="bare")
    assert plan.epsilon <= 1.0
    assert plan.floor == 0.0
    bound = SampledCurve(0.25, 50, privacy, sampling)
    assert bound.delta(plan.epsilon) + rounding_delta(plan.epsilon, plan.step) <= plan.delta
    assert plan.sampled is not None
    assert plan.epsilon < plan.sampled.bare_epsilon
    assert plan.sampled.unsampled_floor > 0.0


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_where_sampling_is_not_enough_a_floor_is_added(sampling: ss.Sampling, relation: str) -> None:
    privacy = ss.Privacy(epsilon=0.5, delta=1e-6, pairs=0, max_value=10_000, relation=relation)  # type: ignore[arg-type]
    plan = ss.plan(ss.Moment(0.5), privacy, size=20, sampling=sampling, mechanism="bare")
    assert plan.floor > 0.0
    assert plan.epsilon <= 0.5
    bound = SampledCurve(0.5, 20, privacy, sampling, plan.floor)
    assert bound.delta(0.5) + rounding_delta(0.5, plan.step) <= plan.delta
    less = SampledCurve(0.5, 20, privacy, sampling, 0.9 * plan.floor)
    assert less.delta(0.5) + rounding_delta(0.5, plan.step) > plan.delta
    assert plan.sampled is not None
    assert plan.floor < plan.sampled.unsampled_floor  # sampling does buy something


def test_the_planner_compares_and_advises() -> None:
    privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=100_000, relation="replace")
    sparse = ss.plan(ss.Moment(0.5), privacy, size=50, sampling=0.02, expected=100_000, mechanism="bare")
    assert sparse.sampled is not None
    assert sparse.sampled.bias == pytest.approx(0.02**0.5 - 1.0)  # every key seen once
    assert sparse.error > 0.85
    assert "better, so leave out sampling" in str(sparse)
    dense = ss.plan(ss.Moment(0.25), privacy, size=50, sampling=0.05, expected=DENSE, mechanism="bare")
    assert "as good, and unbiased" in str(dense)
    assert "5% of pairs, once for all entries; bias -2.35%" in str(dense)
    assert "with neither" in str(dense)


def test_the_paper_is_never_believed() -> None:
    """n = M = 100, p = 1, q = 0.02: by Theorem 4 fifty entries would have ε = 0.688; the plan needs a large floor."""
    privacy = ss.Privacy(epsilon=0.7, delta=1e-6, pairs=100, max_value=100, relation="replace")
    assert ss.paper.subsampled_epsilon(100, 2, 100, 1.0, 50, 0.02) < 0.7
    plan = ss.plan(ss.Moment(1.0), privacy, size=50, sampling=0.02, mechanism="bare")
    assert plan.floor > 100.0


def test_json_and_back(sampling: ss.Sampling) -> None:
    for relation in ("replace", "add_remove"):
        privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=100_000, relation=relation)  # type: ignore[arg-type]
        plan = ss.plan(ss.Moment(0.5), privacy, size=20, sampling=sampling, mechanism="bare")
        assert ss.Plan.from_json(plan.to_json()) == plan
        assert math.isinf(plan.pure_epsilon) == (relation == "add_remove")
    content = json.loads(plan.to_json())["numbers"]
    for bad in ({}, [], {"sampling": {"rate": 0.05}}, {**content["sampled"], "more": 1.0}, {"bias": 0.0}):
        with pytest.raises(ss.BlobError):
            ss.Plan.from_json(forged(plan, sampled=bad))
    with pytest.raises(ss.BlobError):
        ss.Plan.from_json(forged(plan, sampled={**content["sampled"], "sampling": {"rate": 2.0}}))
    plain = ss.plan(ss.Moment(0.5), plan.privacy, size=20, mechanism="bare")
    assert "sampled" not in plain.to_json()


def test_a_ledger_takes_the_certified_epsilon(sampling: ss.Sampling) -> None:

    from stablesketch.plan.mechanism import charge_of

    plan = ss.plan(
        ss.Moment(0.5),
        ss.Privacy(epsilon=1.0, delta=1e-6, pairs=10_000, relation="replace"),
        size=20,
        sampling=sampling,
        mechanism="bare",
    )
    mechanism = charge_of(plan)
    assert (mechanism.kind, mechanism.epsilon, mechanism.delta) == ("other", plan.epsilon, plan.delta)
    with pytest.raises(ss.LedgerError, match="do not support"):
        charge_of(altered(plan, epsilon=plan.epsilon / 3.0))


def test_bad_calls_say_what_to_do() -> None:
    privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=10_000, relation="replace")
    for more in ({}, {"error": 0.1}, {"mechanism": "exact"}, {"mechanism": "sketch", "size": 50}):
        with pytest.raises(ss.ArgumentError, match="size= or memory= with it"):
            ss.plan(ss.Moment(0.5), privacy, sampling=0.1, **{"mechanism": "bare", **more})  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="cannot know whether"):
        ss.plan(ss.Moment(0.5), privacy, size=50, sampling=0.1, deletes=True, mechanism="bare")
    with pytest.raises(ss.ArgumentTypeError, match="must be a rate between 0 and 1"):
        ss.plan(ss.Moment(0.5), privacy, size=50, sampling="some", mechanism="bare")  # type: ignore[arg-type]
    assert ss.plan(ss.Moment(0.5), privacy, memory="1K", sampling=0.5, mechanism="bare").sampled is not None


@pytest.mark.slow
def test_an_audit_of_a_sampled_plan_passes() -> None:
    """The real release on the worst neighbours. False alarm: at most 1%; the secrets are fixed."""
    import hashlib
    import itertools

    privacy = ss.Privacy(epsilon=3.0, delta=1e-6, pairs=30, max_value=3, relation="replace")
    plan = ss.plan(ss.Moment(0.5), privacy, size=10, sampling=0.3, mechanism="bare")
    numbers = itertools.count()

    def opened(plan: ss.Plan) -> ss.Collector:
        return plan.open(ss.Secret.from_bytes(hashlib.sha256(b"sampled %d" % next(numbers)).digest()), shard="a")

    report = ss.audit(plan, 300, open_collector=opened, progress=False)
    assert report.passed, str(report)


def test_a_promised_total_is_none_of_the_sample() -> None:
    """The stream keeps the promise, what is drawn from it need not: the price is the same with and without it."""
    prices = [
        ss.plan(
            ss.Moment(0.5),
            ss.Privacy(1.0, 1e-6, 20_000, max_value=5, total=total, relation="replace"),
            size=20,
            sampling=0.3,
            mechanism="bare",
        ).epsilon
        for total in (0, 90_000)
    ]
    assert prices[0] == prices[1]
