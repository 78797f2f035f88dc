"""Values as weights: integers from 1 to 2^53 through every door, and nothing else through any."""

from __future__ import annotations

import array
import datetime
import decimal
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arrow_producer import HandMade
from hypothesis import given
from hypothesis import strategies as st

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.sketch.columns import MAX_WEIGHT, value_column

SMALL = [1, 2, 127, 5]
WIDE = [1, 2**53, 7, 2**40]

DOORS: dict[str, tuple[list[int], Callable[[], object]]] = {
    "list": (WIDE, lambda: WIDE),
    "list of numpy": (WIDE, lambda: [np.uint64(w) for w in WIDE]),
    "range": ([1, 3, 5], lambda: range(1, 6, 2)),
    "array.array": (SMALL, lambda: array.array("q", SMALL)),
    "numpy strided": (WIDE, lambda: np.repeat(np.array(WIDE), 2)[::2]),
    "numpy object": (WIDE, lambda: np.array(WIDE, object)),
    "pandas": (WIDE, lambda: pd.Series(WIDE)),
    "pandas Index": (WIDE, lambda: pd.Index(WIDE)),
    "pandas Int64": (WIDE, lambda: pd.Series(WIDE, dtype="Int64")),
    "pandas UInt8": (SMALL, lambda: pd.Series(SMALL, dtype="UInt8")),
    "pandas pyarrow": (WIDE, lambda: pd.Series(WIDE, dtype="int64[pyarrow]")),
    "polars": (WIDE, lambda: pl.Series(WIDE)),
    "polars UInt64": (WIDE, lambda: pl.Series(WIDE, dtype=pl.UInt64)),
    "arrow chunks": (WIDE, lambda: pa.chunked_array([WIDE[:1], [], WIDE[1:]])),
    "arrow sliced": (WIDE, lambda: pa.array([0, *WIDE, -1])[1:5]),
}
for _dtype in ["i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"]:
    DOORS[f"numpy {_dtype}"] = (SMALL, lambda t=_dtype: np.array(SMALL, t))
for _type in [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]:
    DOORS[f"arrow {_type}"] = (SMALL, lambda t=_type: pa.array(SMALL, t))


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_weights(door: str) -> None:
    expected, make = DOORS[door]
    column = value_column(make(), len(expected))
    assert len(column) == len(expected)
    weights = column.weights(1, len(expected))
    assert weights.dtype == np.int64
    assert [*column.weights(0, 1), *weights] == expected


@pytest.mark.parametrize("values", [[2**55], 2**55, np.array([2**55]), np.array([2**55], np.uint64), pa.array([2**55])])
def test_no_promise_allows_values_above_2_to_the_53(values: object) -> None:
    with pytest.raises(ArgumentError, match="must be at most 2\\^53"):
        value_column(values, 1, highest=2**60).weights(0, 1)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_may_be_empty(door: str) -> None:
    assert value_column(DOORS[door][1]()[:0], 0).weights(0, 0).tolist() == []


@given(st.lists(st.integers(1, MAX_WEIGHT)))
def test_any_weights_pass_unchanged(weights: list[int]) -> None:
    for values in (weights, np.array(weights, np.int64), np.array(weights, ">u8"), pa.array(weights, pa.int64())):
        assert value_column(values, len(weights)).weights(0, len(weights)).tolist() == weights


def test_none_is_one_each_and_an_integer_is_for_all() -> None:
    assert value_column(None, 3).weights(0, 3).tolist() == [1, 1, 1]
    assert value_column(7, 3).weights(1, 3).tolist() == [7, 7]
    assert value_column(np.uint8(7), 1).weights(0, 1).tolist() == [7]
    assert value_column(MAX_WEIGHT, 1).weights(0, 1).tolist() == [2**53]
    assert value_column(3, 3_000_000).weights(5, 2_500_000).sum() == 3 * 2_499_995


def test_int64_is_not_copied() -> None:
    owned = np.arange(1, 100)
    for column in (owned, pd.Series(owned), pa.array(owned)):
        first, again = (value_column(column, 99).weights(5, 50) for _ in range(2))
        assert np.shares_memory(first, again)
        assert not first.flags.writeable


ROWS: dict[str, tuple[Callable[[], object], int, list[str]]] = {
    "zero": (lambda: [1, 0], 1, ["must be positive", "Leave out rows of value 0"]),
    "negative": (lambda: [1, 1, -3], 2, ["must be positive", "delete"]),
    "too large": (lambda: [2**53 + 1], 0, ["must be at most 2^53"]),
    "far too large": (lambda: [1, 10**30], 1, ["must be at most 2^53"]),
    "longer than Python prints": (lambda: [1, 10**5000], 1, ["must be at most 2^53"]),
    "fraction": (lambda: [1, 2.5], 1, ["must be a whole number"]),
    "whole float": (lambda: [1, 2.0], 1, ["must be an integer, not a float (row 2)", "int(value)"]),
    "NaN": (lambda: [1, float("nan")], 1, ["NaN", "Drop"]),
    "infinity": (lambda: [float("inf")], 0, ["must be a whole number"]),
    "None": (lambda: [1, None], 1, ["must not be null", "Drop"]),
    "pandas NA": (lambda: [pd.NA], 0, ["must not be null", "Drop"]),
    "bool": (lambda: [1, True], 1, ["bool", "must be an integer"]),
    "numpy bool": (lambda: [np.True_], 0, ["bool", "must be an integer"]),
    "str": (lambda: [1, "2"], 1, ["str", "must be an integer"]),
    "Decimal": (lambda: [decimal.Decimal(2)], 0, ["Decimal", "must be an integer"]),
    "duration": (lambda: [np.timedelta64(2, "s")], 0, ["timedelta64", "must be an integer"]),
    "numpy zero": (lambda: np.array([1, 2, 0]), 2, ["must be positive"]),
    "numpy int8 negative": (lambda: np.array([1, -2], np.int8), 1, ["delete"]),
    "numpy big-endian": (lambda: np.array([1, -2], ">i4"), 1, ["delete"]),
    "numpy int64 large": (lambda: np.array([1, 2**53 + 1]), 1, ["must be at most 2^53"]),
    "numpy uint64 large": (
        lambda: np.array([1, 2**64 - 1], np.uint64),
        1,
        ["must be at most 2^53"],
    ),
    "numpy object": (lambda: np.array([1, 1.5], object), 1, ["must be a whole number"]),
    "pandas null": (lambda: pd.Series([1, None], dtype="Int64"), 1, ["must not be null"]),
    "polars null": (lambda: pl.Series([1, 2, None]), 2, ["must not be null"]),
    "arrow null": (lambda: pa.array([1, None]), 1, ["must not be null"]),
    "arrow narrow null": (lambda: pa.array([1, None], pa.int8()), 1, ["must not be null"]),
    "arrow negative in chunks": (lambda: pa.chunked_array([[1, 1], [1, -4]]), 3, ["delete"]),
    "arrow uint64": (lambda: pa.array([1, 2**63 + 5], pa.uint64()), 1, ["must be at most 2^53"]),
    "arrow nobody counted": (
        lambda: HandMade("l", 2, [b"\1", bytes([1] + [0] * 15)], null_count=-1),
        1,
        ["must not be null"],
    ),
}

COLUMNS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "float scalar": (lambda: 2.5, ["must be a whole number"]),
    "whole float scalar": (lambda: 2.0, ["must be an integer, not a float", "int(value)"]),
    "NaN scalar": (lambda: float("nan"), ["NaN"]),
    "bool scalar": (lambda: True, ["bool", "must be an integer"]),
    "zero scalar": (lambda: 0, ["must be positive"]),
    "negative scalar": (lambda: -1, ["must be positive", "delete"]),
    "large scalar": (lambda: 2**53 + 1, ["must be at most 2^53"]),
    "str": (lambda: "12", ["single value", "list"]),
    "duration": (lambda: np.timedelta64(1, "s"), ["single value"]),
    "tuple": (lambda: (1, 2), ["one column", "list"]),
    "dict": (lambda: {1: 2}, ["mapping"]),
    "generator": (lambda: (i for i in (1, 2)), ["list(values)"]),
    "2-d": (lambda: np.ones((2, 2), int), ["one dimension"]),
    "numpy whole floats": (lambda: np.array([1.0, 2.0]), ["float64", "values.astype(np.int64)"]),
    "numpy fraction": (lambda: np.array([1.0, 2.5]), ["row 2", "must be a whole number"]),
    "numpy NaN": (lambda: np.array([1.0, np.nan]), ["row 2", "NaN"]),
    "numpy infinity": (lambda: np.array([np.inf, 1.0]), ["must be a whole number, not a float (row 1)"]),
    "numpy bool": (lambda: np.ones(2, bool), ["bool", "must be integers"]),
    "numpy text": (lambda: np.array(["1", "2"]), ["must be integers", "Cast"]),
    "numpy dates": (lambda: np.zeros(2, "M8[D]"), ["must be integers"]),
    "numpy masked": (lambda: np.ma.array([1, 2], mask=[True, False]), ["must not be null (row 1)"]),
    "pandas float": (lambda: pd.Series([1, None]), ["row 2", "NaN"]),
    "pandas Float64": (lambda: pd.Series([1, 2], dtype="Float64"), ["double", "must be integers"]),
    "pandas category": (
        lambda: pd.Series([1, 2], dtype="category"),
        ["must be numbers, not categories", "astype('int64')"],
    ),
    "polars String": (lambda: pl.Series(["1", "2"]), ["must be integers", "Cast"]),
    "polars Boolean": (lambda: pl.Series([True, True]), ["bool", "must be integers"]),
    "arrow double": (lambda: pa.array([1.0, 2.0]), ["double", "Cast the column to int64"]),
    "arrow dates": (lambda: pa.array([datetime.date(2024, 1, 1)] * 2), ["must be integers"]),
    "arrow dictionary": (lambda: pa.array([1, 2]).dictionary_encode(), ["dictionary", "Cast the column to int64"]),
    "arrow null": (lambda: pa.nulls(2), ["null", "must be integers"]),
}


@pytest.mark.parametrize("name", ROWS)
def test_refused_when_read(name: str) -> None:
    make, row, parts = ROWS[name]
    values = make()
    column = value_column(values, row + 1)
    if row > 0:
        column.weights(0, row)
    for start in {0, row}:
        with pytest.raises(ArgumentError) as error:
            column.weights(start, row + 1)
        for part in ["values", f"(row {row + 1}", *parts]:
            assert part in str(error.value)


@pytest.mark.parametrize("name", COLUMNS)
def test_refused_when_opened(name: str) -> None:
    make, parts = COLUMNS[name]
    with pytest.raises(ArgumentError) as error:
        value_column(make(), 2)
    for part in ["values", *parts]:
        assert part in str(error.value)


@pytest.mark.parametrize("values", [[1, 2], np.array([1, 2]), pa.array([1, 2]), pl.Series([1, 2]), range(1, 3)])
def test_a_wrong_number_of_values_names_both(values: object) -> None:
    with pytest.raises(ArgumentError, match="must have one value for each of the 3 keys"):
        value_column(values, 3)


def test_types_are_type_errors() -> None:
    with pytest.raises(ArgumentTypeError):
        value_column(np.ones(2), 2)
    with pytest.raises(TypeError):
        value_column(["1"], 1).weights(0, 1)


def test_a_list_shortened_while_it_is_read_is_noticed() -> None:
    values = [1, 2, 3]
    column = value_column(values, 3)
    values.pop()
    with pytest.raises(ArgumentError, match="must keep its 3 rows while it is read"):
        column.weights(0, 3)


def test_rows_outside_the_column_are_refused() -> None:
    with pytest.raises(ArgumentError, match="must be within 0 and 2, the rows of the column"):
        value_column([1, 2], 2).weights(1, 3)
