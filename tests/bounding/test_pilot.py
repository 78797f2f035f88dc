"""How many rows of each person to use: ε-private where it is found in the data, a formula where it is not."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.bounding.max_value import digit_counts
from stablesketch.bounding.pilot import People, chosen_pairs_per_person
from stablesketch.privacy import discrete_laplace


def counts_of(rows: tuple[int, ...]) -> np.ndarray:
    return digit_counts(pa.table({"v": pa.array(rows, pa.int64())}).to_batches())


def test_one_person_changes_one_count_by_one() -> None:
    """Brute force: all sets of up to three people with up to nine rows each, and every person who may be added."""
    for people in range(4):
        for rows in itertools.combinations_with_replacement(range(1, 10), people):
            for more in range(1, 10):
                difference = counts_of((*rows, more)) - counts_of(rows)
                assert np.abs(difference).sum() == 1


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_noise_is_scaled_to_one_person(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of scale 1/ε on all 54 counts: a count that changes by 1 then has a ratio of at most e^ε."""
    scales: list[Fraction] = []
    monkeypatch.setattr(discrete_laplace, "sample", lambda scale, below: scales.append(scale) or 0)
    chosen_pairs_per_person(counts_of((1, 5)), epsilon, 0.95)
    assert scales == [1 / Fraction(epsilon)] * 54
    law = [math.exp(-abs(k) * epsilon) for k in range(-50, 51)]
    for before, after in itertools.pairwise(law):
        assert math.exp(-epsilon) * (1 - 1e-12) <= before / after <= math.exp(epsilon) * (1 + 1e-12)


def test_it_is_the_quantile_of_many_people_and_one_row_of_few() -> None:
    """At ε = 1 a count errs by a few people, of 10,000. With another seed too few would be seen in less than 1e-9."""
    random = np.random.default_rng(3)
    below = lambda n: int(random.integers(n))  # noqa: E731
    many = tuple([1] * 5_000 + [6] * 4_000 + [12] * 900 + [4_000] * 100)
    assert chosen_pairs_per_person(counts_of(many), 1.0, 0.95, below) == 15
    assert chosen_pairs_per_person(counts_of(many), 1.0, 0.4, below) == 1
    assert chosen_pairs_per_person(counts_of((7, 7)), 0.1, 0.95, below) == 1
    assert chosen_pairs_per_person(counts_of(()), 1.0, 0.95, below) == 1


@pytest.mark.parametrize("spread", ["same", "geometric"])
def test_the_share_of_rows_used_is_that_of_such_people(spread: str) -> None:
    """Against a hundred thousand random people; their share has a standard deviation below 0.4%."""
    drawn = np.full(100_000, 4) if spread == "same" else np.random.default_rng(11).geometric(0.25, 100_000)
    people = People(100_000, 4.0, spread)  # type: ignore[arg-type]
    for c in (1, 2, 4, 16):
        assert people.used(c) == pytest.approx(np.minimum(drawn, c).sum() / drawn.sum(), rel=0.02)


def test_a_heavy_tail_has_the_average_it_was_given() -> None:
    """ζ(2) = π²/6 rows on average: the chance of k rows or more is 1/k²."""
    people = People(10, math.pi**2 / 6, "heavy")
    for c in (1, 2, 7, 100, 100_000):
        wanted = math.fsum(k**-2.0 for k in range(1, c + 1)) / people.rows
        assert people.used(c) == pytest.approx(wanted, rel=1e-6)


def test_more_rows_more_noise() -> None:
    people = People(50_000, 10.0)
    plans = [ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-9, pairs_per_person=c)) for c in (1, 16, 256)]
    errors = [people.error(plan) for plan in plans]
    assert errors == sorted(errors)
    assert people.score(plans[1]) < min(people.score(plans[0]), people.score(plans[2]))
    exact = plans[1].again(mechanism="exact")
    assert people.error(exact) < errors[1]


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
def test_noise_on_the_number_of_keys_weighs_by_their_number(mechanism: Literal["sketch", "exact"]) -> None:
    """b = c/ε, so a deviation of √2 c among 2,000 keys; the error of the registers comes on top."""
    plans = [ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-9, pairs_per_person=c), mechanism=mechanism) for c in (1, 8, 32)]
    for plan, c in zip(plans, (1, 8, 32), strict=True):
        own = 0.0 if mechanism == "exact" else plan.error
        wanted = math.hypot(own, math.sqrt(2.0) * c / 2_000)
        assert People(5_000, 5.0, keys=2_000).error(plan) == pytest.approx(wanted, rel=0.02)


def test_the_number_of_keys_matters_below_order_one_and_not_at_it() -> None:
    half, one = (ss.plan(ss.Hill(q), ss.Privacy(1.0, 1e-9, pairs_per_person=8)) for q in (0.5, 1))
    unknown, known = People(50_000, 10.0), People(50_000, 10.0, keys=300)
    assert unknown.guesses(half)
    assert not unknown.guesses(one)
    assert not known.guesses(half)
    assert known.error(half) < unknown.error(half) == People(50_000, 10.0, keys=1).error(half)
    assert known.error(one) == unknown.error(one)


@pytest.mark.parametrize("wrong", [{"people": 0}, {"keys": 0}, {"rows": 0.5}, {"rows": math.inf}, {"spread": "normal"}])
def test_what_nobody_can_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ss.ArgumentError):
        People(**{"people": 10, "rows": 2.0, **wrong})  # type: ignore[arg-type]
