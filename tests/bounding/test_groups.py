"""Groups: which names are shown, at what odds; each pair in its own group; and what a neighbour can change."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.bounding.groups import GroupBudget, selected, threshold
from stablesketch.engines.local.group_collectors import ListedGroups
from stablesketch.engines.local.pour import pour_groups
from stablesketch.plan.plan import altered
from stablesketch.privacy.entropy.neighbours import entropy_sensitivity

SECRET = bytes(range(32))


def budget(epsilon: float, delta: float, touched: int) -> GroupBudget:
    privacy = ss.Privacy(1.0, 1e-6, 0, relation="add_remove")
    return GroupBudget(privacy, touched, epsilon, delta)


def upper_tail(scale: Fraction, least: int) -> Fraction:
    """P(X >= least) of the discrete Laplace law, by summing its definition; a sum from below would miss the tail."""
    q = Fraction(math.exp(-1 / scale)).limit_denominator(10**15)
    return q**least / (1 + q)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize("touched", [1, 2, 7])
def test_a_name_that_one_neighbour_has_alone_is_hardly_ever_shown(epsilon: float, delta: float, touched: int) -> None:
    """A group with a count of 1 passes the threshold with probability at most δ/touched; one less would be too low."""
    least = threshold(budget(epsilon, delta, touched))
    scale = Fraction(touched) / Fraction(epsilon)
    assert upper_tail(scale, least - 1) <= Fraction(delta) / touched
    assert upper_tail(scale, least - 2) > Fraction(delta) / touched


def test_the_whole_selection_is_private_in_the_worst_case() -> None:
    """Every outcome of the selection on two neighbours, by exact odds: D_{e^ε} <= δ in both directions.

    The neighbours differ by a pair that left group a (count 5 or 6) for a group of its own (count 1 or none), which
    no other pair has: two groups are touched, as in a replaced pair.
    """
    epsilon, delta = 0.8, 1e-2
    own = budget(epsilon, delta, 2)
    least, scale = threshold(own), Fraction(2) / Fraction(epsilon)

    def shown(count: int) -> Fraction:
        rest = least - count
        return upper_tail(scale, rest) if rest > 0 else 1 - upper_tail(scale, 1 - rest)

    for first, second in (((6, 0), (5, 1)), ((5, 1), (6, 0)), ((40, 0), (39, 1)), ((39, 1), (40, 0))):
        excess = Fraction(0)
        for outcome in itertools.product((False, True), repeat=2):
            odds = []
            for counts in (first, second):
                chance = Fraction(1)
                for count, there in zip(counts, outcome, strict=True):
                    one = shown(count) if count else Fraction(0)
                    chance *= one if there else 1 - one
                odds.append(chance)
            excess += max(Fraction(0), odds[0] - Fraction(math.exp(epsilon)) * odds[1])
        assert excess <= Fraction(delta)


def test_large_groups_are_shown_and_small_ones_are_not() -> None:
    """With this seed; a group of a thousand is missed, or one of a single pair shown, with odds below 1e-6."""
    random = np.random.default_rng(1)
    counts = [((f"large {i}",), 1000) for i in range(50)] + [((f"small {i}",), 1) for i in range(50)]
    found = list(selected(counts, budget(0.5, 1e-6, 1), lambda n: int(random.integers(n))))
    assert found == [(f"large {i}",) for i in range(50)]


def test_every_pair_goes_to_its_own_group_and_others_are_left_out() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 0, max_value=9, relation="add_remove"), mechanism="exact")
    groups = ["a", "b", "a", "c", "b", "a"]
    keys, values = [1, 2, 1, 3, 2, 5], [1, 2, 3, 4, 5, 9]
    batches = pa.table({"k0": keys, "v": values, "g0": groups}).to_batches(max_chunksize=2)
    collectors = [plan.open(ss.Secret.from_bytes(SECRET), "x") for _ in range(2)]
    listed = ListedGroups([("a",), ("b",)], plan, lambda name: collectors["ab".index(name[0])])
    assert not pour_groups(batches, listed, clip=False)
    for code, name in enumerate("ab"):
        own = plan.open(ss.Secret.from_bytes(SECRET), "x")
        rows = [i for i, group in enumerate(groups) if group == name]
        own.update([keys[i] for i in rows], [values[i] for i in rows])
        assert listed[code].to_bytes() == own.to_bytes()


def table(path: Path, groups: dict[str, int]) -> Path:
    with path.open("w") as file:
        file.write("app,country\n")
        for name, count in groups.items():
            file.writelines(f"app{i % 40},{name}\n" for i in range(count))
    return path


def test_public_groups_all_have_a_release_also_empty_ones(tmp_path: Path) -> None:
    path = table(tmp_path / "e.csv", {"FR": 3000, "DE": 2000, "US": 100})
    privacy = ss.Privacy(2.0, 1e-6, 0, relation="add_remove")
    found = ss.release(path, ss.Moment(0.5), privacy, key="app", by="country", groups=["DE", "FR", "XX"], size=50)
    assert isinstance(found, ss.Outcome)
    assert [one.group for one in found] == [("DE",), ("FR",), ("XX",)]
    truth = {"DE": 40 * 50**0.5, "FR": 40 * 75**0.5, "XX": 0.0}
    for one in found:
        assert one.release.pairs is None
        # The sketch by ten deviations and more, the noise by thirty scales: a false alarm is out of the question.
        assert abs(one.release.value - truth[one.group[0]]) < 10 * truth[one.group[0]] / 7 + 30 * one.release.noise
        assert one.release.epsilon <= 2.0
        assert one.release.delta <= 1e-6


def test_names_are_chosen_privately_if_none_are_public(tmp_path: Path) -> None:
    """A group of 3,000 is missed, or one of a single pair shown, with odds below 1e-6."""
    path = table(tmp_path / "e.csv", {"FR": 3000, "DE": 3000, "one person": 1})
    privacy = ss.Privacy(2.0, 1e-6, 0, relation="add_remove")
    found = ss.release(path, ss.Moment(0.5), privacy, key="app", by="country", size=50)
    assert isinstance(found, ss.Outcome)
    assert [one.group for one in found] == [("DE",), ("FR",)]
    assert 1.9 < found[0].release.epsilon <= 2.0


def released(path: Path, relation: str, mechanism: str) -> ss.Release:
    privacy = ss.Privacy(1.0, 1e-6, relation=relation)  # type: ignore[arg-type]
    (one,) = ss.release(
        path, ss.Moment(0.5), privacy, key="app", by="country", groups=["FR"], size=50, mechanism=mechanism
    )  # type: ignore[misc, arg-type]
    assert isinstance(one, ss.GroupRelease)
    assert one.release.relation == relation
    assert one.release.pairs_per_person == 1
    assert one.release.epsilon <= 1.0
    return one.release


def test_replace_costs_two_groups(tmp_path: Path) -> None:
    """Bare, each has half of ε; else both have all of it, with the noise of two pairs in two groups."""
    path = table(tmp_path / "e.csv", {"FR": 3000})
    half = ss.plan(ss.Moment(0.5), ss.Privacy(0.5, 5e-7), size=50, mechanism="bare")
    floors = [released(path, relation, "bare").floor for relation in ("add_remove", "replace")]
    assert floors[1] == half.floor > 1.5 * floors[0]
    two = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs_per_person=2, groups=2), size=50)
    noise = [released(path, relation, "sketch").noise for relation in ("add_remove", "replace")]
    assert noise[1] == two.noise > 1.9 * noise[0]


def test_groups_of_several_columns(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,country,day\n" + "a,FR,mon\n" * 500 + "b,FR,tue\n" * 500)
    privacy = ss.Privacy(2.0, 1e-6, 0, relation="add_remove")
    names = [("FR", "mon"), ("FR", "wed")]
    found = ss.release(path, ss.Moment(0.5), privacy, key="app", by=["country", "day"], groups=names, size=50)
    assert isinstance(found, ss.Outcome)
    assert [one.group for one in found] == names
    assert '"group": ["FR", "mon"]' in found[0].to_json()


def test_secrets_of_groups_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group is in the projection: the same pairs in two groups have unrelated entries."""
    path = tmp_path / "e.csv"
    path.write_text("app,g\n" + "".join(f"app{i},x\napp{i},y\n" for i in range(500)))
    privacy = ss.Privacy(20.0, 1e-3, 0, relation="add_remove")
    found = ss.release(path, ss.Moment(0.5), privacy, key="app", by="g", groups=["x", "y"], size=50)
    assert isinstance(found, ss.Outcome)
    assert found[0].release.value != found[1].release.value


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("floor", [0.5, 7.0, 1000.0])
def test_a_pair_that_stays_in_its_group_changes_no_more_than_one_that_is_added(p: float, floor: float) -> None:
    """Brute force over small streams of one group: replacing a pair moves F_p + Λ by at most 1 + M^p/Λ."""
    most = 3
    bound = 1 + most**p / floor
    pairs = [(key, value) for key in range(3) for value in (1, most)]
    for shared in itertools.chain.from_iterable(itertools.combinations_with_replacement(pairs, n) for n in range(4)):
        moments = []
        for own in pairs:
            totals = [0, 0, 0]
            for key, value in (*shared, own):
                totals[key] += value
            moments.append(floor + sum(total**p for total in totals if total))
        assert max(moments) / min(moments) <= bound * (1 + 1e-12)


def test_a_pair_that_is_replaced_within_its_group_is_covered_by_what_two_groups_cost() -> None:
    """Entropy changes by more than if a pair is added or removed, and moments may change in opposite directions."""
    for statistic, pairs, most in (
        (ss.Shannon(), 500, 1), (ss.Shannon(), 20_000, 20), (ss.Hill(1), 500, 1), (ss.Profile([0.25, 0.75]), 0, 3),
        (ss.Profile([0, 0.5, 1]), 5_000, 2),
    ):  # fmt: skip
        asked = ss.Privacy(2.0, 1e-6, pairs, max_value=most, relation="replace")
        budget = GroupBudget.of(asked, 2, bare=True)
        planned = ss.plan(
            statistic, budget.privacy, size=8 if not isinstance(statistic, ss.Profile) else 64, mechanism="bare"
        )
        assert budget.checked(planned) is planned
        # One that claims a twentieth of its ε does not cover it.
        claimed = altered(planned, epsilon=planned.epsilon / 20)
        with pytest.raises(ss.PlanInfeasible, match="replacing a pair within its group"):
            budget.checked(claimed)
        added = GroupBudget.of(replace(asked, relation="add_remove"), 1, bare=True)
        assert added.checked(claimed) is claimed

    # n pairs of one key, of which one becomes another key: by the definition of entropy.
    n = 500
    moved = math.log(n) - (n - 1) * math.log(n - 1) / n
    assert moved > entropy_sensitivity(ss.Privacy(1.0, 1e-6, n, relation="add_remove"))


def test_entropy_by_group_under_replace() -> None:
    table = pa.table({"k": [i % 7 for i in range(4000)], "g": ["x", "y"] * 2000})
    privacy = ss.Privacy(4.0, 1e-6, 1500, relation="replace")
    found = ss.release(
        table, ss.Shannon(), privacy, key="k", by="g", groups=["x", "y"], size=20, mechanism="bare"
    )  # fmt: skip
    assert isinstance(found, ss.Outcome)
    assert [one.release.pairs for one in found] == [None, None]
    assert found[0].release.epsilon <= 4.0


@pytest.mark.parametrize("removed", [True, False])
def test_bare_groups_cost_no_less_than_their_entries_do(removed: bool) -> None:
    """Entries of p = 1 are Cauchy. Three groups of five, of scale 1 or ρ: what δ is at the ε that is stated.

    By 10^6 draws and closed densities; sharing no code. The mean of what is bounded by 1 is off by more than 5
    deviations with probability 6e-7.
    """
    asked = ss.Privacy(3.0, 1e-3, relation="add_remove", pairs_per_person=3)
    table = GroupBudget.of(asked, 3, bare=True)
    plan = ss.plan(ss.Moment(1.0), table.privacy, size=5, mechanism="bare")
    charge = table.charge(plan)
    added_up, delta = table.added_up(plan.epsilon, plan.delta)
    assert charge.epsilon < 0.8 * added_up
    assert charge.delta == delta <= 1e-3
    (rho,) = {math.exp(one.log_rho) for one in charge.charges}
    rng = np.random.default_rng(5)
    drawn, other = (rho, 1.0) if removed else (1.0, rho)
    x = drawn * rng.standard_cauchy((1_000_000, 15))
    loss = np.log(drawn * (other**2 + x**2) / (other * (drawn**2 + x**2))).sum(axis=1)
    found = np.maximum(1.0 - np.exp(charge.epsilon - loss), 0.0)
    assert found.mean() <= delta + 5.0 * found.std() / 1000.0
    assert np.maximum(1.0 - np.exp(0.8 * charge.epsilon - loss), 0.0).mean() > 1.5 * delta or not removed


def test_a_table_with_private_names_costs_less_than_its_parts_add_up_to() -> None:
    asked = ss.Privacy(0.45, 0.9e-9, pairs_per_person=5)
    table = GroupBudget.of(asked, 1, (0.05, 1e-10))
    plan = ss.plan(ss.Hill(0.5), table.privacy)
    charge = table.charge(plan)
    added_up, delta = table.added_up(plan.epsilon, plan.delta)
    assert 0.95 * added_up < charge.epsilon < 0.99 * added_up
    assert charge.basic("add_remove") == (charge.epsilon, delta)
