"""`engines.local.exact` against libraries that share no code with it: DuckDB's own entropy, scipy, and scikit-bio.

What is generated here is as odd as data are: keys of one pair, one that has nearly everything, values of many sizes.
"""

from __future__ import annotations

import math
import re
from typing import Any

import duckdb
import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import stablesketch as ss
from stablesketch.engines.local.exact import ExactGroup, exact_values
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import checked_columns
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


def exact(statistic: Statistic, value: str | None = None, by: list[str] | None = None) -> list[ExactGroup]:
    return exact_values(FRAME, statistic, Reading(checked_columns(["key"], value, by or [])))


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


# What scikit-bio holds itself to (skbio/diversity/alpha/tests/test_base.py), of five taxa with 1, 2, 3, 4 and 5
# individuals. Its numbers are rounded to eight digits.
ORDERS = (0, 0.5, 1, 2, 10, math.inf)
OF_SCIKIT_BIO = {
    ss.Hill: (5, 4.68423304, 4.43598780, 4.09090909, 3.34923645, 3),
    ss.Renyi: (1.60943791, 1.54420220, 1.48975032, 1.40876722, 1.20873239, 1.09861229),
    ss.Tsallis: (4, 2.32861781, 1.48975032, 0.75555556, 0.11110902, 0),
}


def abundances(counts: list[int]) -> pd.DataFrame:
    """A table as field scientists have it: a row for each taxon that is there."""
    there = {f"taxon {i}": count for i, count in enumerate(counts) if count}
    frame = pd.DataFrame({"taxon": list(there), "count": list(there.values())})
    return frame.astype({"taxon": str, "count": "int64"})


@pytest.mark.parametrize("kind", OF_SCIKIT_BIO)
def test_the_values_that_scikit_bio_holds_itself_to(kind: Any) -> None:
    def of(counts: list[int]) -> list[float]:
        return [ss.exact(abundances(counts), kind(q), key="taxon", value="count").value for q in ORDERS]

    assert of([1, 2, 3, 4, 5]) == pytest.approx(OF_SCIKIT_BIO[kind], abs=6e-9)
    even = {ss.Hill: [3.0] * 6, ss.Renyi: [math.log(3.0)] * 6, ss.Tsallis: of([5, 5, 5])}[kind]
    assert of([5, 5, 5]) == pytest.approx(even, rel=1e-14)
    assert of([1]) == [1.0 if kind is ss.Hill else 0.0] * 6
    assert all(map(math.isnan, of([0, 0])))


@pytest.mark.parametrize("statistic", [ss.Shannon(), ss.Simpson(), ss.Simpson("gini"), ss.HHI(), ss.Atkinson(0.5)])
def test_shares_of_nothing_are_nan_and_sums_are_zero(statistic: Statistic) -> None:
    assert math.isnan(ss.exact(abundances([]), statistic, key="taxon", value="count").value)
    for counted in (ss.Distinct(), ss.Moment(0.5), ss.Total()):
        assert ss.exact(abundances([]), counted, key="taxon", value="count").value == 0.0


def test_the_values_that_vegan_documents() -> None:
    """The first site of its `dune`: diversity(dune)[1] and its Simpson forms, to the digits that it prints."""
    dune = abundances([1, 4, 7, 4, 2])
    for statistic, printed in (
        (ss.Shannon(), "1.440482"), (ss.Simpson("gini"), "0.734568"), (ss.Simpson("inverse"), "3.767442"),
    ):  # fmt: skip
        assert f"{ss.exact(dune, statistic, key='taxon', value='count').value:.6f}" == printed


@pytest.mark.parametrize("value", [None, "value"])
def test_every_scale_of_vegan_by_many_digits(value: str | None) -> None:
    """The usual `scales` of its `renyi`, and orders between and beyond, by its formula in numbers of 60 digits."""
    totals = [mpmath.mpf(int(each)) for each in TOTALS[value]]
    orders = [0, 1e-6, 0.01, 0.25, 0.5, 1, 1.001, 2, 2.5, 4, 8, 16, 32, 64, 1e4, math.inf]
    found = ss.exact(FRAME, ss.Profile(orders), key="key", value=value).to_pandas()
    with mpmath.workdps(60):
        shares = [each / mpmath.fsum(totals) for each in totals]
        for order, hill in zip(found["order"], found["value"], strict=True):
            q = mpmath.mpf(float(order)) if math.isfinite(order) else mpmath.inf
            if q == 1:
                log = -mpmath.fsum(s * mpmath.log(s) for s in shares)
            else:
                log = (
                    -mpmath.log(max(shares))
                    if q == mpmath.inf
                    else mpmath.log(mpmath.fsum(s**q for s in shares)) / (1 - q)
                )
            assert hill == pytest.approx(float(mpmath.exp(log)), rel=1e-11), order


def test_groups_people_and_frames() -> None:
    by = ss.exact(FRAME, ss.Hill(3), key="key", by="group")
    assert [one.group for one in by] == [("one",), ("rest",), ("seven",)]
    assert by["one"].value == by["one",].value == 1.0
    assert by["one"].pairs == int((FRAME["group"] == "one").sum())
    assert "one" in by
    assert "two" not in by
    assert by.to_arrow().to_pylist() == by.to_pandas().to_dict("records") == by.to_polars().to_dicts()
    assert by.to_pandas()["group"].tolist() == ["one", "rest", "seven"]
    for wrong in (lambda: by.value, lambda: by["two"]):
        with pytest.raises(ss.ArgumentError, match="group"):
            wrong()
    people = FRAME.assign(person=np.arange(len(FRAME)) // 4)
    whole = ss.exact(people, ss.Total(), key="key", person="person", pairs_per_person=4)
    assert whole.value == len(FRAME)  # nobody has more than four
    one = ss.exact(people, ss.Total(), key="key", person="person")
    assert one.value == people["person"].nunique()
    assert ss.exact(people, ss.Hill(1), key="key", person="person", pairs_per_person=4).value == pytest.approx(
        ss.exact(people, ss.Hill(1), key="key").value, rel=1e-12
    )


def test_it_says_that_it_is_not_private() -> None:
    for found in (ss.exact(FRAME, ss.Hill(1), key="key"), ss.exact(FRAME, ss.Profile([0, 3]), key="key", by="group")):
        assert "NOT PRIVATE, for the curator only" in str(found)
        assert "NOT PRIVATE" in found._repr_html_()
        assert repr(found) == str(found)
    assert not hasattr(found, "to_json")  # nothing that looks like a release


def test_wrong_calls_say_what_to_do() -> None:
    for arguments, said in (
        ({"statistic": "hill"}, "statistic must be a statistic, got 'hill'"),
        ({"pairs_per_person": 3}, "pairs_per_person needs a column of people, got 3"),
        ({"person": "value", "groups_per_person": 0}, "groups_per_person must be a whole number of 1 or more, got 0"),
        ({"on_bad": "drop"}, "on_bad must be 'error' or 'skip', got 'drop'"),
    ):
        with pytest.raises(ss.ArgumentError, match=re.escape(said)):
            ss.exact(FRAME, **{"statistic": ss.Hill(1), "key": "key", **arguments})  # type: ignore[arg-type]
    for order in (-1, math.nan, -math.inf):
        with pytest.raises(ss.ArgumentError, match=r"Pass an order of 0 or more"):
            ss.Hill(order)
    with pytest.raises(ss.ArgumentError, match=r"order must be 0, or between 0.05 and 2, got inf.*ss.exact"):
        ss.release(FRAME, ss.Hill(math.inf), ss.Privacy(1.0, 1e-9), key="key")
    with pytest.raises(ss.ArgumentError, match=r"order must be 0, or between 0.05 and 2, got 3.0"):
        ss.plan(ss.Profile([0, 1, 3]), ss.Privacy(1.0, 1e-9))
