"""max_value found privately: near the quantile where there are many pairs, and ε-private whatever there is."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.bounding.max_value import AutoMaxValue, chosen_max_value, digit_counts
from stablesketch.privacy import discrete_laplace


def batches(values: list[int]) -> list[pa.RecordBatch]:
    return pa.table({"v": pa.array(values, pa.int64())}).to_batches(max_chunksize=1000)


def seeded(seed: int):  # type: ignore[no-untyped-def]
    random = np.random.default_rng(seed)
    return lambda n: int(random.integers(n))


@pytest.mark.parametrize(("values", "quantile", "wanted"), [
    ([1] * 5000, 0.99, 1),
    ([3] * 5000 + [10**9] * 10, 0.99, 3),
    ([5] * 2000 + [100] * 3000, 0.99, 127),
    ([5] * 4000 + [100] * 1000, 0.75, 7),
    ([2**53] * 5000, 0.99, 2**53),
])  # fmt: skip
def test_with_many_pairs_it_is_the_quantile(values: list[int], quantile: float, wanted: int) -> None:
    """At ε = 1 the noise of a count is a few pairs; with this seed, and almost any other, it decides nothing."""
    privacy = ss.Privacy(1.0, 1e-6, 0, relation="add_remove")
    assert chosen_max_value(digit_counts(batches(values)), privacy, 1.0, quantile, seeded(3)) == wanted


@pytest.mark.parametrize(("relation", "pairs", "changes"), [("add_remove", 1, 1), ("replace", 1, 2), ("replace", 4, 8)])
def test_noise_is_scaled_to_what_a_neighbour_changes(
    relation: str, pairs: int, changes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """54 counts, each with noise of scale (changes)/ε. The counts of neighbours differ by `changes` in all."""
    scales: list[Fraction] = []
    monkeypatch.setattr(discrete_laplace, "sample", lambda scale, below: scales.append(scale) or 0)
    privacy = ss.Privacy(1.0, 1e-6, 0, relation=relation, pairs_per_person=pairs)  # type: ignore[arg-type]
    chosen_max_value(digit_counts(batches([1, 2, 3])), privacy, 0.25, 0.99)
    assert scales == [Fraction(changes) / Fraction(0.25)] * 54


def test_boxes_of_neighbours_differ_by_no_more_than_that() -> None:
    """Brute force over small values: replacing a value moves one count down and one up; adding one moves one."""
    lengths = [int(np.frexp(float(v))[1]) for v in (1, 2, 3, 4, 7, 8, 2**52, 2**53 - 1, 2**53)]
    assert lengths == [v.bit_length() for v in (1, 2, 3, 4, 7, 8, 2**52, 2**53 - 1, 2**53)]


def test_an_empty_stream_has_some_max_value() -> None:
    privacy = ss.Privacy(1.0, 1e-6, 0, relation="add_remove")
    assert 1 <= chosen_max_value(digit_counts([]), privacy, 1.0, 0.99, seeded(1)) <= 2**53


def test_release_with_it_costs_what_was_asked_in_all(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,n\n" + "".join(f"a{i % 30},{1 + i % 3}\n" for i in range(50000)) + "a1,100000\n")
    found = ss.release(
        path, ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 0, relation="replace"), key="app", value="n", count_pairs=True,
        auto_max_value=AutoMaxValue(share=0.2), size=50,
    )  # fmt: skip
    assert isinstance(found, ss.Outcome)
    assert (found.epsilon, found.delta) == (2.0, 1e-6)
    # Of noise of scale 5, an empty box would have to get more than 500 to change this: odds below 1e-40.
    assert found.max_value == 3
    assert math.isfinite(found.value)


@pytest.mark.parametrize(("share", "quantile"), [(0, 0.9), (1, 0.9), (0.1, 0), (0.1, 1.1)])
def test_shares_and_quantiles_are_checked(share: float, quantile: float) -> None:
    with pytest.raises(ss.ArgumentError):
        AutoMaxValue(share, quantile)
