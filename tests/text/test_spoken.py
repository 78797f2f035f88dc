"""Numbers for people: limits that differ never read the same."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stablesketch.text.spoken import with_limits


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((4994.0, 4983.0, 5005.0), ("4,994", "4,983", "5,005")),
        ((20.44, 20.437, 20.4431), ("20.440", "20.437", "20.443")),
        ((2252.3, 2199.7, 2306.3), ("2,250", "2,200", "2,310")),
        ((1.0, 1.0, 1.0), ("1", "1", "1")),
        ((1.0, 1.0, math.inf), ("1", "1", "inf")),
        ((math.inf, math.inf, math.inf), ("inf", "inf", "inf")),
        ((0.0, 0.0, 3.02), ("0", "0", "3.02")),
    ],
)
def test_as_many_digits_as_the_limits_need(numbers: tuple[float, float, float], said: tuple[str, str, str]) -> None:
    assert with_limits(*numbers) == said


def test_millions_that_need_a_fourth_digit_are_written_out() -> None:
    assert with_limits(326_826_827.0, 326_600_000.0, 327_153_654.0, 4) == ("326,826,827", "326,600,000", "327,153,654")
    assert with_limits(326_826_827.0, 310_000_000.0, 340_000_000.0, 4) == ("327 million", "310 million", "340 million")


@given(st.floats(1e-6, 1e9), st.floats(1e-6, 0.5), st.sampled_from([3, 4]))
def test_limits_that_differ_never_read_the_same(value: float, share: float, least: int) -> None:
    _, low, high = with_limits(value, value * (1.0 - share), value * (1.0 + share), least)
    assert low != high
