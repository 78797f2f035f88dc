"""Numbers that say nothing are called so, in every output, from their limits alone."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import stablesketch as ss
from stablesketch.pictures.finding import Finding
from stablesketch.release.little_known import known_groups
from stablesketch.release.outcome import GroupRelease

PRIVACY = ss.Privacy(1.0, 1e-9)


def table(statistic: ss.Statistic, **limits: tuple[float, float, float]) -> ss.Outcome:
    """A table of groups, in which values and limits are as given."""
    data = pd.DataFrame({"app": ["a", "b"] * 50, "country": ["FR"] * 100})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = ss.release(data, statistic, PRIVACY, key="app", by="country", groups=["FR"])
    groups = []
    for name, (value, low, high) in limits.items():
        points = tuple(replace(one, value=value, low=low, high=high) for one in made["FR"].points)
        own = replace(made["FR"], value=value, low=low, high=high, points=points)
        groups.append(GroupRelease((name,), own))
    return replace(made, releases=groups)


@pytest.mark.parametrize(
    ("statistic", "fine", "useless"),
    [
        (ss.Hill(0.5), (100.0, 60.0, 500.0), (62.0, 1.0, 62.0)),
        (ss.Hill(2), (3.0, 1.0, 9.0), (5.0, 1.0, math.inf)),
        (ss.Shannon(), (4.0, 3.0, 5.0), (4.0, 0.0, 4.0)),
        (ss.Renyi(0.5), (4.0, 3.0, 5.0), (4.0, 0.0, 4.0)),
        (ss.Tsallis(2), (0.5, 0.3, 0.8), (0.5, 0.0, 1.0)),
        (ss.Tsallis(0.5), (8.0, 5.0, 12.0), (8.0, 0.0, 90.0)),
        (ss.Simpson(), (0.5, 0.2, 0.9), (0.5, 0.05, 1.0)),
        (ss.Simpson("gini"), (0.5, 0.2, 0.8), (0.5, 0.0, 0.999)),
        (ss.Simpson("inverse"), (3.0, 1.0, 9.0), (3.0, 1.0, 90.0)),
        (ss.HHI(10_000), (500.0, 200.0, 900.0), (500.0, 0.0, 9000.0)),
        (ss.Profile([1, 2]), (3.0, 1.0, 9.0), (3.0, 1.0, 90.0)),
    ],
)
def test_limits_far_apart_are_called_useless(
    statistic: ss.Statistic, fine: tuple[float, float, float], useless: tuple[float, float, float], tmp_path: Path
) -> None:
    assert not table(statistic, FR=fine).little_known
    outcome = table(statistic, FR=fine, Nowhere=useless)
    assert outcome.little_known.startswith("Nothing useful is known about the value of Nowhere. Its limits")
    assert "Nothing useful is known about the value of Nowhere" in str(outcome)
    assert "Nothing useful is known about the value of Nowhere" in outcome._repr_html_()
    outcome.report(tmp_path / "r.html")
    assert "Nothing useful is known about the value of Nowhere" in (tmp_path / "r.html").read_text()


def test_counts_have_values_of_their_own_and_are_not_called_useless() -> None:
    """Their values are unbiased, and an upper limit says something."""
    assert not table(ss.Distinct(), FR=(1.0, 0.0, 5.0)).little_known
    assert not table(ss.Moment(0.5), FR=(1.0, 0.0, 500.0)).little_known


@pytest.mark.parametrize(
    ("statistic", "lowest"),
    [(ss.Hill(1), 1.0), (ss.Shannon(), 0.0), (ss.Simpson("gini"), 0.0), (ss.Simpson(), 1.0), (ss.Tsallis(0.5), 0.0)],
)
def test_the_lowest_value_may_mean_that_there_is_no_data(statistic: ss.Statistic, lowest: float) -> None:
    said = table(statistic, FR=(lowest, lowest, lowest)).little_known
    assert said.startswith("The value of FR is as low as possible: either nearly everything has one key, or there is ")
    both = table(statistic, FR=(lowest, lowest, lowest), DE=(lowest, lowest, lowest)).little_known
    assert both.startswith("The values of FR, DE are as low as possible")


def test_no_headline_is_about_a_group_of_which_nothing_is_known(tmp_path: Path) -> None:
    outcome = table(ss.Hill(1), FR=(20.0, 15.0, 30.0), Nowhere=(62.0, 1.0, 62.0))
    outcome.report(tmp_path / "r.html")
    assert "For FR, the rows are as varied as 20" in (tmp_path / "r.html").read_text()
    assert "FR" in Finding(ss.Hill(1)).of_groups(list(outcome))
    assert [one.name for one in known_groups(ss.Hill(1), list(outcome))] == ["FR"]
    alone = table(ss.Hill(1), Nowhere=(62.0, 1.0, 62.0), Nauru=(7.0, 1.0, 80.0))
    assert len(known_groups(ss.Hill(1), list(alone))) == 2


def test_many_groups_and_single_orders_are_named_briefly() -> None:
    many = table(ss.Hill(1), **{f"g{i}": (1.0, 1.0, 50.0) for i in range(9)})
    assert "about the values of g0, g1, g2, g3, g4 and 4 more. Their limits" in many.little_known
    profile = table(ss.Profile([0, 2]), FR=(3.0, 1.0, 9.0))
    own = profile["FR"]
    points = (own.points[0], replace(own.points[1], high=50.0))
    one = replace(profile, releases=[GroupRelease(("FR",), replace(own, points=points))])
    assert "about the value of FR at order 2. Its limits" in one.little_known
    single = replace(profile, decision=replace(profile.decision, table=None), releases=[replace(own, points=points)])
    assert single.little_known.startswith("Nothing useful is known about the value at order 2. Its limits")


def test_a_listed_group_without_data(capsys: pytest.CaptureFixture[str]) -> None:
    """At order 2 the limits of an empty group reach from 1 to hundreds or more, except with odds below 1e-6: the noise
    on the total would have to be below -14 scales."""
    data = pd.DataFrame({"app": [f"a{i % 60}" for i in range(6000)], "country": ["FR"] * 6000})
    found = ss.release(data, ss.Hill(2), PRIVACY, key="app", by="country", groups=["FR", "Nowhere"])
    assert found.little_known.startswith("Nothing useful is known about the value of Nowhere. ")
