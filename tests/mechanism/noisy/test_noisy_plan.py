"""Plans, as a tutorial: an estimate with noise, planned from (ε, δ) alone, before any data are seen."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from plan_texts import SECTIONS, first_content, forged, second_content, text_of

import stablesketch as ss

HALF = ss.Moment(0.5)
ANY = ss.Privacy(1.0, 1e-9)


# --- what a plan says ---


def test_a_privacy_is_a_whole_question() -> None:
    plan = ss.plan(HALF, ANY)
    assert (plan.mechanism, plan.floor, plan.phantoms.count) == ("sketch", 0.0, 0)
    assert (plan.epsilon, plan.delta) == (1.0, 1e-9)
    assert 0.005 < plan.error <= 0.0055
    assert plan.expected == 0.0
    assert 1.75 < plan.noise < 1.8  # times what the exact value would take


@pytest.mark.parametrize(("p", "most"), [(0.5, 205), (0.75, 66), (0.9, 14), (0.25, 345), (0.1, 400)])
def test_sizes_for_five_percent(p: float, most: int) -> None:
    """v = 1/(r I) (1 + 1.4/r): the information I of one entry is 2, 6.44, 36.4, 1.187, 1.03."""
    plan = ss.plan(ss.Moment(p), ANY, error=0.05)
    assert plan.size <= most
    assert plan.error <= 0.05


@pytest.mark.parametrize("p", [0.25, 0.5, 0.9, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.05, 0.75, 0.99))])
def test_the_noise_is_hardly_more_than_the_exact_mechanism_takes(p: float) -> None:
    """Never less than Δ/ε, and at 200 entries at most 1.5 times that."""
    for epsilon in (0.1, 1.0, 4.0):
        privacy = ss.Privacy(epsilon, 1e-9, max_value=5, pairs_per_person=3)
        exact = 3 * 5**p / epsilon
        assert 1.0 < ss.plan(ss.Moment(p), privacy, size=200).noise / exact < 1.55


def test_both_relations_take_the_same_noise() -> None:
    for c, most, unit in ((1, 1, "pair"), (7, 20, "pair"), (2, 9, "key")):
        plans = [
            ss.plan(HALF, ss.Privacy(1.0, 1e-9, 0, most, relation, c, unit), size=30)  # type: ignore[arg-type]
            for relation in ("add_remove", "replace")
        ]
        assert plans[0].noise == plans[1].noise


def test_the_noise_is_in_proportion_to_what_a_person_can_change() -> None:
    base = ss.plan(HALF, ANY, size=30).noise
    for c, most in ((1, 100), (10, 1), (10, 100)):
        noise = ss.plan(HALF, ss.Privacy(1.0, 1e-9, max_value=most, pairs_per_person=c), size=30).noise
        assert noise == pytest.approx(c * math.sqrt(most) * base, rel=2e-3)  # as near as it is searched for


def test_promises_buy_nothing() -> None:
    """The guarantee is for every stream, so that no promise makes the noise smaller."""
    promised = ss.Privacy(1.0, 1e-9, pairs=10**6, total=10**6, relation="replace")
    assert ss.plan(HALF, promised, size=30).noise == ss.plan(HALF, ANY, size=30).noise


def test_more_groups_take_more_noise_but_no_share_of_epsilon() -> None:
    """The largest of min(c, groups) ξ counts: noise rises with it, and hardly."""
    found = []
    for groups in (1, 2, 5, 10, 1_000):
        privacy = ss.Privacy(1.0, 1e-9, pairs_per_person=10, groups=groups)
        plan = ss.plan(HALF, privacy, size=50)
        assert plan.epsilon == 1.0
        found.append(plan.noise)
    assert found[0] < found[1] < found[2] < found[3] == found[4] < 1.2 * found[0]


@pytest.mark.parametrize(
    "p", [0.5, pytest.param(0.1, marks=pytest.mark.slow), pytest.param(0.9, marks=pytest.mark.slow)]
)
def test_noise_falls_with_epsilon_delta_and_size(p: float) -> None:
    def noise(epsilon: float = 1.0, delta: float = 1e-9, size: int = 50) -> float:
        return ss.plan(ss.Moment(p), ss.Privacy(epsilon, delta), size=size).noise

    for rising in (
        [noise(epsilon) for epsilon in (20.0, 5.0, 1.0, 0.2, 0.01)],
        [noise(delta=delta) for delta in (1e-2, 1e-5, 1e-9, 1e-12, 1e-15)],
        [noise(size=size) for size in (1_024, 200, 50, 20, 8)],
    ):
        assert rising == sorted(rising)
        assert rising[0] < rising[-1]


def test_the_grid_is_a_power_of_two_and_far_below_the_noise() -> None:
    for epsilon in (0.001, 0.5, 8.0):
        plan = ss.plan(HALF, ss.Privacy(epsilon, 1e-9), size=30)
        assert math.frexp(plan.step)[0] == 0.5
        assert plan.step <= plan.noise * min(1.0, epsilon) / 1_024.0
        assert plan.cap >= 2.0**33


# --- ways to choose the size ---


def test_an_error_alone_is_that_of_the_sketch() -> None:
    for error in (0.01, 0.05, 0.2):
        plan = ss.plan(HALF, ANY, error=error)
        assert 0.8 * error < plan.error <= error
    assert ss.plan(HALF, ANY, error=0.01).size > 4_500


def test_an_error_at_an_expected_value_has_the_noise_in_it() -> None:
    sketch = ss.plan(HALF, ANY, error=0.1).size
    for expected in (25.0, 1e6):
        plan = ss.plan(HALF, ANY, error=0.1, expected=expected)
        assert plan.error <= 0.1
        assert plan.size >= sketch
        assert plan.error == pytest.approx(
            math.hypot(ss.plan(HALF, ANY, size=plan.size).error, math.sqrt(2.0) * plan.noise / expected)
        )
        if plan.size > sketch:
            assert ss.plan(HALF, ANY, size=plan.size - 1, expected=expected).error > 0.1
    assert ss.plan(HALF, ANY, error=0.1, expected=1e6).size == sketch
    assert ss.plan(HALF, ANY, error=0.1, expected=25.0).size > sketch


def test_an_error_below_that_of_the_noise_says_what_would_do() -> None:
    with pytest.raises(ss.PlanInfeasible, match=r"the best is .*mechanism='exact'"):
        ss.plan(HALF, ANY, error=0.05, expected=10.0)
    with pytest.raises(ss.PlanInfeasible, match=r"4,194,304 entries, 16 per key, has an error of 0\.0001"):
        ss.plan(HALF, ANY, error=0.0001)


def test_the_suggested_error_works() -> None:
    with pytest.raises(ss.PlanInfeasible) as caught:
        ss.plan(HALF, ANY, error=0.05, expected=10.0)
    suggested = float(str(caught.value).split("Pass error=")[1].split(",")[0])
    assert ss.plan(HALF, ANY, error=suggested, expected=10.0).error <= suggested


@pytest.mark.parametrize("memory", ["2K", 4096, "64K"])
def test_by_memory(memory: str | int) -> None:
    plan = ss.plan(HALF, ANY, memory=memory)
    most = {"2K": 2_048, 4096: 4_096, "64K": 65_536}[memory]
    assert 0.95 * most < plan.bytes <= most


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_the_memory_is_what_a_stored_collector_takes(p: float) -> None:
    plan = ss.plan(ss.Moment(p), ANY, memory="8K", expected=10_000.0)
    collector = plan.open(ss.Secret.from_bytes(bytes(32)))
    collector.update(np.arange(10_000))
    assert len(collector.to_bytes()) == pytest.approx(plan.bytes, rel=0.05)


@pytest.mark.parametrize(("p", "most"), [(1.1, 2.5), (1.5, 1.35), (1.9, 1.2)])
def test_norms_of_long_streams_take_little_more_noise(p: float, most: float) -> None:
    """In units of Δ, at 5%: estimates are cut at 2^33 Δ or above, whatever Δ is, and never more private than exact."""
    for privacy, change in ((ANY, 1.0), (ss.Privacy(1.0, 1e-9, max_value=50, pairs_per_person=3), 150.0)):
        plan = ss.plan(ss.Moment(p), privacy, error=0.05)
        assert change < plan.noise < most * change
        assert plan.cap >= 2.0**33 * change


def test_the_cap_is_far_above_what_is_expected() -> None:
    for expected in (1.0, 1e9):
        plan = ss.plan(HALF, ANY, size=30, expected=expected)
        assert plan.cap >= 16.0 * expected
        assert (
            plan.noise < 2.5 or plan.noise < 1e-9 * expected
        )  # finite precision is paid for, and costs next to nothing


# --- never infeasible ---


SLOW = pytest.mark.slow


@pytest.mark.parametrize("p", [0.5, 0.75, *(pytest.param(p, marks=SLOW) for p in (0.05, 0.95, 0.999))])
@pytest.mark.parametrize("epsilon", [1e-3, 20.0, pytest.param(1.0, marks=SLOW)])
def test_whatever_is_asked_is_planned(p: float, epsilon: float) -> None:
    """And released: a number on its grid."""
    for delta, c, most in ((1e-15, 1, 1), (0.1, 1_000, 2**40), (1e-15, 1_000, 2**40), (0.1, 1, 1)):
        privacy = ss.Privacy(epsilon, delta, max_value=most, pairs_per_person=c, groups=c)
        try:
            plan = ss.plan(ss.Moment(p), privacy)
        except (
            ss.ArgumentError,
            ss.PlanInfeasible,
        ) as refused:  # finite precision alone can fail with more than this δ
            assert delta == 1e-15 and "delta" in str(refused)  # noqa: PT017, PT018
            continue
        assert (plan.epsilon, plan.delta) == (epsilon, delta)
        assert ss.Plan.from_json(plan.to_json()) == plan
        # No noise at all is enough below f(Δ/b) = δ: that of an estimate that does not err.
        assert plan.noise * (epsilon - 2.0 * math.log1p(-delta)) > 0.9 * c * most**p
        release = plan.open(ss.Secret.from_bytes(bytes(32))).release()
        assert math.isfinite(release.high)
        assert release.low <= release.value <= release.high


# --- JSON ---


def test_json_round_trip() -> None:
    for plan in (
        ss.plan(HALF, ANY),
        ss.plan(ss.Moment(0.9), ss.Privacy(0.3, 1e-6, max_value=7, pairs_per_person=3, groups=2), error=0.1),
        ss.plan(ss.Moment(0.25), ss.Privacy(2.0, 1e-6, relation="replace", unit="key"), memory="4K", expected=1e5),
    ):
        text = plan.to_json()
        assert json.loads(text)["format"] == "stablesketch-plan/3"
        assert ss.Plan.from_json(text) == plan
        assert ss.Plan.from_json(text).to_json() == text
        assert plan.is_written_as(text)


def no_constant(name: str) -> float:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("statistic", [HALF, ss.Shannon(), ss.Distinct(), ss.Hill(0.5), ss.Moment(2.0)], ids=str)
def test_it_is_json_and_what_was_not_is_read(statistic: ss.Statistic) -> None:
    """A pure ε that does not exist is null; plans and collectors from before have Infinity there."""
    plan = ss.plan(statistic, ANY)
    content = json.loads(plan.to_json(), parse_constant=no_constant)
    assert content["cost"]["pure_epsilon"] is None
    text = text_of(second_content(plan))
    before = text.replace('"pure_epsilon":null', '"pure_epsilon":Infinity')
    assert before != text
    read = ss.Plan.from_json(before)
    assert read.releases_like(plan)
    assert read.is_written_as(before)
    assert read.is_written_as(text)
    assert plan.is_written_as(text)
    for odd in ('"pure_epsilon":NaN', '"pure_epsilon":-Infinity', '"pure_epsilon":"null"'):
        with pytest.raises(ss.BlobError):
            ss.Plan.from_json(text.replace('"pure_epsilon":null', odd))


BROKEN = [
    {"noise": 0.0},
    {"noise": -1.0},
    {"noise": 1e-3},
    {"step": 0.125},
    {"noise": math.inf},
    {"noise": math.nan},
    {"noise": "1.3"},
    {"noise": 1},
    {"noise": None},
    {"cap": 0.0},
    {"cap": -1.0},
    {"cap": None},
    {"step": 0.0},
    {"size": 0},
    {"size": 10_001},
    {"size": 10**400},
    {"epsilon": 2.0},
    {"delta": 1e-3},
    {"mechanism": "bare"},
    {"mechanism": "exact"},
    {"mechanism": "noisy"},
    {"format": "stablesketch-plan/1"},
    {"privacy": {"epsilon": 1.0, "delta": 1e-9}},
    {"groups": 2},
]


@pytest.mark.parametrize("fields", BROKEN, ids=str)
def test_json_that_no_plan_wrote(fields: dict[str, object]) -> None:
    plan = ss.plan(HALF, ANY, size=30)
    with pytest.raises(ss.BlobError):
        ss.Plan.from_json(forged(plan, **fields))
    with pytest.raises(ss.BlobError):
        ss.Plan.from_json(text_of({**second_content(plan), **fields}))


@pytest.mark.parametrize("name", ["noise", "cap", "step", "size", "privacy", "statistic", "mechanism"])
def test_json_without_a_field(name: str) -> None:
    plan = ss.plan(HALF, ANY, size=30)
    content, flat = json.loads(plan.to_json()), second_content(plan)
    del next((content[whole] for whole, names in SECTIONS.items() if name in names), content)[name], flat[name]
    for text in (text_of(content), text_of(flat)):
        with pytest.raises(ss.BlobError):
            ss.Plan.from_json(text)


MILLION = ss.Privacy(1.0, 1e-9, 10**6, relation="replace")


@pytest.mark.parametrize(
    "plan",
    [
        ss.plan(HALF, MILLION, size=50, mechanism="bare"),
        ss.plan(HALF, MILLION, mechanism="exact"),
        ss.plan(ss.Shannon(), MILLION, size=50, mechanism="bare"),
        ss.plan(ss.Distinct(), MILLION, size=64, mechanism="bare"),
        ss.plan(ss.Hill(0.5), MILLION, size=50, mechanism="bare"),
        ss.plan(ss.Hill(0), MILLION, size=64),
    ],
    ids=lambda plan: f"{plan.statistic}, {plan.mechanism}",
)
def test_a_plan_of_the_first_format_is_bare_today(plan: ss.Plan) -> None:
    """What had no noise has none; distinct counts, whose phantoms are their noise, are as they were."""
    text = text_of(first_content(plan))
    read = ss.Plan.from_json(text)
    assert read.releases_like(plan)
    assert read.again(same_size=True).releases_like(plan)
    assert read.is_written_as(text)
    assert not read.is_written_as(text.replace("1000000", "1000001"))


def test_a_noisy_plan_is_frozen() -> None:
    plan = ss.plan(HALF, ANY, size=30)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.noise = 0.0  # type: ignore[misc]
    assert hash(plan) == hash(ss.Plan.from_json(plan.to_json()))
