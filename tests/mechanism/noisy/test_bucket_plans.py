"""Plans in buckets: what is chosen where nothing is asked for, and where an error, a memory or a size is."""

import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.mechanism.noisy.measure import noise_of_plan
from stablesketch.mechanism.shared.layout import Layout
from stablesketch.statistic import Statistic

PRIVACY = ss.Privacy(1.0, 1e-9)


@pytest.mark.parametrize(("p", "per_key"), [(0.25, 96), (0.5, 64), (0.75, 32), (0.9, 16)])
def test_the_usual_plan_knows_one_key_to_ten_percent_in_256_kb(p: float, per_key: int) -> None:
    """And no fewer entries a key, in steps of 16, would; its noise is at most 1.8 times that of the exact mechanism."""
    plan = ss.plan(ss.Moment(p), PRIVACY)
    exact = ss.plan(ss.Moment(p), PRIVACY, mechanism="exact")
    assert plan.entries_per_key == per_key
    assert plan.bytes <= 256 * 1024
    assert 15_000 <= plan.size <= 20_000
    assert plan.error < 0.0075 < plan.worst_error <= 0.1
    assert math.sqrt(2.0) * plan.noise <= 1.8 * exact.exact_error
    if per_key > 16:
        assert ss.plan(ss.Moment(p), PRIVACY, entries_per_key=per_key - 16).worst_error > 0.1


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75])
def test_what_is_stored_is_what_the_plan_says(p: float) -> None:
    """One-sided entries have a finer resolution than symmetric ones, 54 bits at p = 0.05 and 12 at 0.25."""
    plan = ss.plan(ss.Moment(p), ss.Privacy(1.0, 1e-9))
    collector = plan.open()
    collector.update(np.arange(700_000))  # two thirds of the moment that plans have in mind
    stored = len(collector.to_bytes())
    assert stored <= 256 * 1024
    assert stored == pytest.approx(plan.bytes, rel=0.03)


def test_an_error_takes_as_few_entries_a_key_as_there_are() -> None:
    plan = ss.plan(ss.Moment(0.5), PRIVACY, error=0.01)
    assert plan.entries_per_key == 16
    assert plan.error <= 0.01
    fewer = ss.plan(ss.Moment(0.5), PRIVACY, size=plan.size - 16, entries_per_key=16)
    assert fewer.error > 0.01


def test_few_entries_are_in_one_bucket() -> None:
    """Up to 512: then the error is the same for every stream."""
    plan = ss.plan(ss.Moment(0.5), PRIVACY, error=0.05)
    assert (plan.size, plan.buckets) == (203, 1)
    assert plan.worst_error == plan.error
    assert ss.plan(ss.Moment(0.5), PRIVACY, memory="2K").buckets == 1


def test_memory_is_filled_with_buckets() -> None:
    plan = ss.plan(ss.Moment(0.5), PRIVACY, memory="1M")
    assert plan.entries_per_key == 64
    assert 0.95 * 2**20 < plan.bytes <= 2**20
    largest = ss.plan(ss.Moment(0.5), PRIVACY, memory="1G")
    assert largest.size == 2**22


def test_an_error_with_the_noise_of_an_expected_value() -> None:
    """Few entries a key take more noise than the error leaves room for, so there are more of them."""
    plan = ss.plan(ss.Moment(0.5), PRIVACY, error=0.01, expected=300.0)
    assert plan.error <= 0.01
    assert plan.entries_per_key > 16
    with pytest.raises(ss.PlanInfeasible, match="16 per key"):
        ss.plan(ss.Moment(0.5), PRIVACY, error=0.01, expected=300.0, entries_per_key=16)


def test_a_size_alone_is_one_bucket_up_to_ten_thousand() -> None:
    assert ss.plan(ss.Moment(0.5), PRIVACY, size=2_000).buckets == 1
    assert ss.plan(ss.Moment(0.5), PRIVACY, size=12_800).buckets == 200
    assert ss.plan(ss.Moment(0.5), PRIVACY, size=20_000).entries_per_key == 80  # which divides it, as 64 does not
    with pytest.raises(ss.ArgumentError, match=r"size=19968 or size=20032"):
        ss.plan(ss.Moment(0.5), PRIVACY, size=20_002)


@pytest.mark.parametrize(
    ("privacy", "copies"),
    [
        (ss.Privacy(1.0, 1e-9), 1),
        (ss.Privacy(1.0, 1e-9, relation="replace"), 2),
        (ss.Privacy(1.0, 1e-9, pairs_per_person=5), 5),
        (ss.Privacy(1.0, 1e-9, pairs_per_person=5, relation="replace"), 10),
        (ss.Privacy(1.0, 1e-9, pairs_per_person=5, groups=2), 5),
        (ss.Privacy(1.0, 1e-9, pairs_per_person=500), 312),
        (ss.Privacy(1.0, 1e-9, pairs_per_person=500, groups=2), 500),
        (ss.Privacy(1.0, 1e-9, max_value=9, unit="key"), 1),
    ],
)
def test_how_many_buckets_one_person_can_change(privacy: ss.Privacy, copies: int) -> None:
    """As docs/math-buckets.md has it; and the price that a ledger finds is that of as many."""
    from stablesketch.plan.mechanism import charge_of

    assert Layout(64, 312).changed(privacy) == copies
    charge = charge_of(ss.plan(ss.Moment(0.5), privacy, size=64 * 312, entries_per_key=64))
    assert (charge.copies, charge.size) == (copies, 64)


def test_the_norm_costs_a_32nd_of_the_noise() -> None:
    flat = noise_of_plan(0.5, Layout(64), PRIVACY, 0.0).scale
    assert noise_of_plan(0.5, Layout(64, 312), PRIVACY, 0.0).scale == pytest.approx(flat * 32 / 31, rel=5e-3)


def test_errors_of_what_is_computed_from_buckets() -> None:
    """Hill(0.5) = (F_0.5/N^0.5)^2 errs by twice as much as F_0.5, whatever the layout."""
    plan = ss.plan(ss.Hill(0.5), PRIVACY)
    moment = plan.inputs[0]
    assert plan.error == pytest.approx(2.0 * moment.error, rel=1e-3)
    assert plan.worst_error == pytest.approx(2.0 * moment.worst_error, rel=1e-3)


def test_parts_share_the_memory() -> None:
    plan = ss.plan(ss.Profile([0.25, 0.5, 0.75]), PRIVACY)
    assert plan.bytes <= 256 * 1024
    assert plan.per_key == (96, 0, 64, 32)


def test_plans_in_buckets_are_read_back_and_checked() -> None:
    plan = ss.plan(ss.Moment(0.5), PRIVACY)
    assert ss.Plan.from_json(plan.to_json()) == plan
    assert '"buckets"' not in ss.plan(ss.Moment(0.5), PRIVACY, size=200).to_json()
    for wrong in ("7", "0", "-1", "1", "9984", "19968", "null", "2.0", '"2"'):
        with pytest.raises(ss.BlobError):
            ss.Plan.from_json(plan.to_json().replace('"buckets":312', f'"buckets":{wrong}'))


@pytest.mark.parametrize(
    ("statistic", "asked", "said"),
    [
        (ss.Moment(2.0), {"entries_per_key": 16}, "every key touches all"),
        (ss.Distinct(), {"entries_per_key": 16}, "every key touches all"),
        (ss.Moment(0.5), {"entries_per_key": 15}, "even"),
        (ss.Moment(0.5), {"entries_per_key": 16.0}, "must be a whole number of entries"),
        (ss.Moment(0.5), {"entries_per_key": 16, "mechanism": "exact"}, "no buckets"),
        (ss.Moment(0.5), {"entries_per_key": 16, "mechanism": "bare"}, "no buckets"),
        (ss.Moment(0.5), {"entries_per_key": 64, "size": 50}, "must be at most the size, 50"),
        (ss.Moment(0.5), {"entries_per_key": [64]}, "must be a single number unless each measurement has its own size"),
        (ss.Profile([0.25, 0.5]), {"entries_per_key": [64], "size": [640, 640, 0]}, "3 measurements"),
        (ss.Moment(0.5), {"size": 2**22 + 64}, "4,194,304"),
        (ss.Moment(2.0), {"size": 20_000}, "must be at most 10,000 for"),
        (ss.Distinct(), {"size": 20_000}, "must be at most 10,000 for"),
        (ss.Moment(0.5), {"size": 20_000, "mechanism": "bare"}, "must be at most 10,000 for"),
        (ss.Shannon(), {"size": 20_000, "mechanism": "bare"}, "must be at most 10,000 for"),
    ],
)
def test_what_cannot_be_is_refused(statistic: Statistic, asked: dict[str, object], said: str) -> None:
    with pytest.raises(ss.ArgumentError, match=said):
        ss.plan(statistic, PRIVACY, **asked)  # type: ignore[arg-type]
