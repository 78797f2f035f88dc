"""`engines.local.exact` against libraries that share no code with it: DuckDB's own entropy, scipy, and scikit-bio.

What is generated here is as odd as data are: keys of one pair, one that has nearly everything, values of many sizes.
"""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import stablesketch as ss
from stablesketch.engines.local.exact import ExactValues, exact_values
from stablesketch.reading.columns import checked_columns
from stablesketch.reading.opened import Input
from stablesketch.statistic import Statistic

RNG = np.random.default_rng(12)
KEYS = RNG.zipf(1.3, 20_000).clip(max=5_000)
FRAME = pd.DataFrame(
    {
        "key": KEYS,
        "value": RNG.zipf(1.7, len(KEYS)).clip(max=100_000),
        "group": np.where(KEYS % 7 == 0, "seven", np.where(KEYS == 1, "one", "rest")),  # a group of one key among them
    }
)
TOTALS = {
    None: FRAME.groupby("key").size().to_numpy(dtype=float),
    "value": FRAME.groupby("key")["value"].sum().to_numpy(dtype=float),
}


def exact(statistic: Statistic, value: str | None = None, by: list[str] | None = None) -> list[ExactValues]:
    return exact_values(FRAME, statistic, checked_columns(["key"], value, by or []), Input(), "error")


@pytest.mark.parametrize("value", [None, "value"])
def test_entropy_is_that_of_scipy(value: str | None) -> None:
    (one,) = exact(ss.Shannon(), value)
    assert one.values[0] == pytest.approx(stats.entropy(TOTALS[value]), rel=1e-12)
    assert (one.pairs, one.keys) == (len(FRAME), len(TOTALS[value]))


def test_entropy_by_group_is_that_of_duckdb_in_bits() -> None:
    with duckdb.connect() as connection:
        connection.register("frame", FRAME)
        rows = connection.execute(
            'select "group", entropy(key), count(distinct key) from frame group by all'
        ).fetchall()
    theirs = {group: (bits * math.log(2.0), keys) for group, bits, keys in rows}
    ours = {one.group[0]: (one.values[0], one.keys) for one in exact(ss.Shannon(), by=["group"])}
    assert ours.keys() == theirs.keys()
    for group, (nats, keys) in theirs.items():
        assert ours[group] == pytest.approx((nats, keys), rel=1e-12, abs=1e-12), group
    assert ours["one"][0] == 0.0  # one key has no entropy


@pytest.mark.parametrize("value", [None, "value"])
def test_diversity_of_every_order_is_that_of_scikit_bio(value: str | None) -> None:
    alpha = pytest.importorskip(
        "skbio.diversity.alpha", reason="exact diversity NOT CHECKED against scikit-bio, which is not installed"
    )
    totals = TOTALS[value].astype(int)
    for order in (0.0, 0.25, 0.5, 0.9, 1.0):
        for statistic, theirs in (
            (ss.Hill(order), alpha.hill(totals, order=order)),
            (ss.Renyi(order), alpha.renyi(totals, order=order, base=math.e)),
            (ss.Tsallis(order), alpha.tsallis(totals, order=order)),
        ):
            (one,) = exact(statistic, value)
            assert one.values[0] == pytest.approx(theirs, rel=1e-10), str(statistic)
    (profile,) = exact(ss.Profile([0, 0.5, 1]), value)
    assert profile.values == pytest.approx([alpha.hill(totals, order=q) for q in (0, 0.5, 1)], rel=1e-10)
    (distinct,) = exact(ss.Distinct(), value)
    assert distinct.values[0] == alpha.sobs(totals)


def test_inequality_is_that_of_a_loop_over_people() -> None:
    """No library here has it: by its definition, in plain Python, over one total a person."""
    people = TOTALS["value"].tolist()
    mean = math.fsum(people) / len(people)
    x = math.fsum(math.pow(each / mean, 0.5) for each in people) / len(people)
    (atkinson,) = exact(ss.Atkinson(0.5), "value")
    (entropy,) = exact(ss.GeneralisedEntropy(0.5), "value")
    assert atkinson.values[0] == pytest.approx(1.0 - x**2, rel=1e-12)
    assert entropy.values[0] == pytest.approx((1.0 - x) / 0.25, rel=1e-12)
