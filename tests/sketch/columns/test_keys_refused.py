"""A catalogue of what is not a key, and of what the error says: the argument, the value or row, and the way out."""

from __future__ import annotations

import array
import datetime
import decimal
import subprocess
import sys
import uuid
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.sketch.columns import Fingerprinter

NOW = datetime.datetime(2024, 1, 1)
HOUR = datetime.timedelta(hours=1)
STRUCTS = [{"a": 1}]

# Refused as soon as the column is opened: name → (what is passed, parts of the message).
CONTAINERS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "None": (lambda: None, ["single value", "list"]),
    "str": (lambda: "abc", ["got str", "single value", "list"]),
    "bytes": (lambda: b"abc", ["single value", "list"]),
    "bytearray": (lambda: bytearray(b"abc"), ["single value", "list"]),
    "memoryview": (lambda: memoryview(b"abc"), ["single value", "list"]),
    "int": (lambda: 7, ["got int", "single value", "list"]),
    "float": (lambda: 1.5, ["single value", "list"]),
    "numpy scalar": (lambda: np.int64(7), ["single value", "list"]),
    "date": (lambda: NOW.date(), ["single value", "list"]),
    "uuid": (lambda: uuid.UUID(int=1), ["single value", "list"]),
    "Decimal": (lambda: decimal.Decimal(1), ["single value", "list"]),
    "0-d array": (lambda: np.array(7), ["single value", "list"]),
    "2-d array": (lambda: np.zeros((2, 3), int), ["(2, 3)", "one dimension", "ravel"]),
    "dict": (lambda: {"a": 1}, ["mapping", "list(mapping)"]),
    "set": (lambda: {"a"}, ["set", "list(keys)"]),
    "frozenset": (lambda: frozenset("a"), ["set", "list(keys)"]),
    "dict keys": (lambda: {"a": 1}.keys(), ["set", "list(keys)"]),
    "generator": (lambda: (i for i in "ab"), ["generator", "list(keys)"]),
    "iterator": (lambda: iter([1]), ["iterator", "list(keys)"]),
    "array.array of text": (lambda: array.array("u", "ab"), ["array.array", "list(keys)"]),
    "any object": (lambda: object(), ["builtins.object", "must be a column"]),
    "a class of numpy": (lambda: np.int64, ["must be a column"]),
    "empty tuple": (lambda: (), ["composite key", "empty"]),
    "tuple of str": (lambda: ("a", "b"), ["composite key", "must hold columns, not str", "list"]),
    "tuple of int": (lambda: (1, 2), ["composite key", "must hold columns, not int", "list"]),
    "tuple of tuples": (lambda: ((1, 2), (3, 4)), ["composite key", "must hold columns, not tuple", "list"]),
    "tuple of None": (lambda: ([1], None), ["composite key", "must hold columns"]),
    "tuple of unequal columns": (lambda: ([1, 2], ["a"]), ["[2, 1]", "must have columns of the same length"]),
    "tuple with a float column": (lambda: ([1], np.zeros(1)), ["keys[1]", "floats"]),
    "numpy float": (lambda: np.zeros(2), ["float64", "cannot be floats", "cast to an integer", "str"]),
    "numpy float16": (lambda: np.zeros(2, np.float16), ["float16", "floats"]),
    "numpy float, no rows": (lambda: np.array([]), ["float64", "floats"]),
    "numpy bool": (lambda: np.zeros(2, bool), ["booleans", "int8 or to str"]),
    "numpy complex": (lambda: np.zeros(2, complex), ["complex", "str"]),
    "numpy timedelta": (lambda: np.zeros(2, "m8[s]"), ["durations", "integer count"]),
    "numpy struct": (lambda: np.zeros(2, [("a", int)]), ["structured", "array['a']"]),
    "numpy weeks": (lambda: np.zeros(2, "M8[W]"), ["weeks", "datetime64[D]"]),
    "numpy months": (lambda: np.zeros(2, "M8[M]"), ["months", "datetime64[D]"]),
    "numpy years": (lambda: np.zeros(2, "M8[Y]"), ["years", "datetime64[D]"]),
    "numpy ps": (lambda: np.zeros(2, "M8[ps]"), ["finer than a nanosecond", "datetime64[ns]"]),
    "numpy as": (lambda: np.zeros(2, "M8[as]"), ["finer than a nanosecond", "datetime64[ns]"]),
    "numpy 25 s": (lambda: np.zeros(2, "M8[25s]"), ["multiples", "datetime64[s]"]),
    "numpy masked": (lambda: np.ma.array([1, 2], mask=[False, True]), ["must not be null (row 2)", "Drop"]),
    "pandas float": (lambda: pd.Series([1.0]), ["floats"]),
    "pandas int with a hole": (lambda: pd.Series([1, None]), ["floats"]),
    "pandas Float64": (lambda: pd.Series([1.0], dtype="Float64"), ["double", "floats"]),
    "pandas bool": (lambda: pd.Series([True]), ["booleans"]),
    "pandas boolean": (lambda: pd.Series([True], dtype="boolean"), ["booleans"]),
    "pandas timedelta": (lambda: pd.Series([HOUR]), ["durations"]),
    "pandas period": (lambda: pd.Series(pd.period_range("2024", periods=2, freq="M")), ["pandas.period", "extension"]),
    "pandas interval": (lambda: pd.Series(pd.interval_range(0, 2)), ["intervals", "tuple"]),
    "pandas category of floats": (lambda: pd.Series([0.5], dtype="category"), ["keys.categories", "floats"]),
    "pandas DataFrame": (lambda: pd.DataFrame({"a": [1]}), ["tables", "tuple"]),
    "polars Float64": (lambda: pl.Series([1.0]), ["floats"]),
    "polars Boolean": (lambda: pl.Series([True]), ["booleans"]),
    "polars Null": (lambda: pl.Series([None]), ["nulls", "cast"]),
    "polars Decimal": (lambda: pl.Series([decimal.Decimal("1.5")]), ["decimals", "str"]),
    "polars Time": (lambda: pl.Series([datetime.time(1)]), ["times of day"]),
    "polars Duration": (lambda: pl.Series([HOUR]), ["durations"]),
    "polars List": (lambda: pl.Series([[1]]), ["nested"]),
    "polars Struct": (lambda: pl.Series(STRUCTS), ["structs", "tuple"]),
    "polars Int128": (lambda: pl.Series([1], dtype=pl.Int128), ["Convert to int, str"]),
    "polars Object": (lambda: pl.Series([uuid.UUID(int=1)], dtype=pl.Object), ["Python objects", "to_list()"]),
    "polars DataFrame": (lambda: pl.DataFrame({"a": [1]}), ["tables", "tuple"]),
    "polars LazyFrame": (lambda: pl.LazyFrame({"a": [1]}), ["must be a column"]),
    "arrow half float": (lambda: pa.array([1.0], pa.float16()), ["halffloat", "floats"]),
    "arrow float": (lambda: pa.array([1.0], pa.float32()), ["floats"]),
    "arrow double": (lambda: pa.array([1.0]), ["double", "floats"]),
    "arrow bool": (lambda: pa.array([True]), ["booleans"]),
    "arrow null": (lambda: pa.nulls(2), ["nulls", "cast"]),
    "arrow decimal": (lambda: pa.array([decimal.Decimal("1.5")]), ["decimals"]),
    "arrow time": (lambda: pa.array([datetime.time(1)]), ["times of day"]),
    "arrow duration": (lambda: pa.array([HOUR]), ["durations"]),
    "arrow list": (lambda: pa.array([[1]]), ["nested"]),
    "arrow map": (lambda: pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8())), ["nested"]),
    "arrow struct": (lambda: pa.array(STRUCTS), ["structs", "tuple"]),
    "arrow table": (lambda: pa.table({"a": [1]}), ["tables", "tuple"]),
    "arrow record batch": (lambda: pa.record_batch({"a": [1]}), ["tables", "tuple"]),
    "arrow run ends": (lambda: pa.RunEndEncodedArray.from_arrays([2], ["a"]), ["run-end", "run_end_decode"]),
    "arrow extension": (
        lambda: pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"])),
        ["arrow.json", "storage"],
    ),
    "arrow dictionary of floats": (
        lambda: pa.array([1.0]).dictionary_encode(),
        ["dictionary of type double", "floats"],
    ),
}

SURROGATE = "a\ud800b"

# Refused when the row is read: name → (what is passed, the row at fault, parts of the message).
ROWS: dict[str, tuple[Callable[[], object], int, list[str]]] = {
    "None": (lambda: [1, None], 1, ["None", "must not be null", "Drop"]),
    "NaN": (lambda: [1, float("nan")], 1, ["NaN", "Drop"]),
    "numpy NaN": (lambda: [np.float32("nan")], 0, ["NaN", "Drop"]),
    "float": (lambda: [1, 2, 3.5], 2, ["float", "cast to an integer"]),
    "whole float": (lambda: [2.0], 0, ["float", "cast to an integer"]),
    "bool": (lambda: [1, True], 1, ["booleans", "int8"]),
    "numpy bool": (lambda: [np.True_], 0, ["booleans", "int8"]),
    "complex": (lambda: [1j], 0, ["complex"]),
    "Decimal": (lambda: [decimal.Decimal("1.5")], 0, ["Decimal", "decimals", "str"]),
    "time": (lambda: [datetime.time(1)], 0, ["times of day"]),
    "timedelta": (lambda: [HOUR], 0, ["durations"]),
    "numpy timedelta": (lambda: [np.timedelta64(1, "s")], 0, ["durations"]),
    "list": (lambda: [[1]], 0, ["nested", "tuple"]),
    "tuple": (lambda: [("a", 1)], 0, ["nested", "tuple"]),
    "array": (lambda: [np.zeros(1)], 0, ["nested"]),
    "object": (lambda: [1, object()], 1, ["object", "Convert to int, str"]),
    "memoryview of numbers": (lambda: [memoryview(array.array("i", [1]))], 0, ["memoryview", "Convert"]),
    "int too large": (
        lambda: [2**64],
        0,
        ["must be integers from -2^63 to 2^64 - 1", "str or bytes"],
    ),
    "int longer than Python prints": (lambda: [10**5000], 0, ["str or bytes"]),
    "int too small": (lambda: [1, -(2**63) - 1], 1, ["must be integers from -2^63 to 2^64 - 1", "str or bytes"]),
    "range too large": (
        lambda: range(2**64 - 1, 2**64 + 1),
        1,
        ["must be integers from -2^63 to 2^64 - 1", "str or bytes"],
    ),
    "surrogate": (lambda: ["a", SURROGATE], 1, ["lone surrogate", "Correct the text"]),
    "NaT": (lambda: [np.datetime64("NaT")], 0, ["must not be null", "Drop"]),
    "NaT duration": (lambda: [np.timedelta64("NaT")], 0, ["must not be null", "Drop"]),
    "pandas NaT": (lambda: [pd.NaT], 0, ["must not be null", "Drop"]),
    "pandas NA": (lambda: [1, pd.NA], 1, ["must not be null", "Drop"]),
    "numpy object None": (lambda: np.array(["a", None], object), 1, ["must not be null"]),
    "numpy surrogate": (lambda: np.array(["a", "b", SURROGATE]), 2, ["lone surrogate"]),
    "numpy NaT days": (lambda: np.array(["2024-01-01", "NaT"], "M8[D]"), 1, ["must not be null", "NaT"]),
    "numpy NaT": (lambda: np.array(["2024-01-01", "NaT"], "M8[ns]"), 1, ["must not be null", "NaT"]),
    "numpy StringDType null": (
        lambda: np.array(["a", None], np.dtypes.StringDType(na_object=None)),
        1,
        ["must not be null"],
    ),
    "numpy StringDType NaN": (lambda: np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan)), 1, ["NaN"]),
    "pandas str": (lambda: pd.Series(["a", None]), 1, ["must not be null"]),
    "pandas object": (lambda: pd.Series(["a", None, 1], dtype=object), 1, ["must not be null"]),
    "pandas Int64": (lambda: pd.Series([1, 2, None], dtype="Int64"), 2, ["must not be null"]),
    "pandas category": (lambda: pd.Series(["a", None], dtype="category"), 1, ["must not be null"]),
    "pandas datetime": (lambda: pd.Series([NOW, None]), 1, ["must not be null"]),
    "pandas datetime aware": (lambda: pd.Series([NOW, None]).dt.tz_localize("UTC"), 1, ["must not be null"]),
    "pandas MultiIndex": (lambda: pd.MultiIndex.from_tuples([(1, 2)]), 0, ["nested", "tuple"]),
    "polars Int64": (lambda: pl.Series([1, None]), 1, ["must not be null"]),
    "polars String": (lambda: pl.Series(["a", None]), 1, ["must not be null"]),
    "polars Categorical": (lambda: pl.Series(["a", None], dtype=pl.Categorical), 1, ["must not be null"]),
    "arrow int64": (lambda: pa.array([1, None]), 1, ["must not be null"]),
    "arrow int8": (lambda: pa.array([1, None], pa.int8()), 1, ["must not be null"]),
    "arrow string": (lambda: pa.array(["a", "b", None]), 2, ["must not be null"]),
    "arrow string in chunks": (lambda: pa.chunked_array([["a", "b"], ["c", None]]), 3, ["must not be null"]),
    "arrow dictionary": (lambda: pa.array(["a", None]).dictionary_encode(), 1, ["must not be null"]),
    "arrow null in dictionary": (
        lambda: pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None])),
        1,
        ["must not be null"],
    ),
    "arrow date64": (
        lambda: pa.array([86_400_000, 86_400_001], pa.int64()).view(pa.date64()),
        1,
        ["must be whole days", "timestamp"],
    ),
    "arrow dictionary of date64": (
        lambda: pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array([1, 0], pa.int64()).view(pa.date64())),
        1,
        ["must be whole days"],
    ),
    "composite": (lambda: ([1, 2], ["a", None]), 1, ["keys[1]", "must not be null"]),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_refused_when_opened(fingerprinter: Fingerprinter, name: str) -> None:
    make, parts = CONTAINERS[name]
    with pytest.raises(ArgumentError) as error:
        fingerprinter.column(make())
    assert error.value.argument.startswith("keys")
    for part in ["keys", *parts]:
        assert part in str(error.value)


@pytest.mark.parametrize("name", ROWS)
def test_refused_when_read(fingerprinter: Fingerprinter, name: str) -> None:
    make, row, parts = ROWS[name]
    column = fingerprinter.column(make())
    if row > 0:
        column.fingerprints(0, row)  # rows before the one at fault are read
    for start in {0, row}:
        with pytest.raises(ArgumentError) as error:
            column.fingerprints(start, len(column))
        for part in ["keys", f"(row {row + 1}", *parts]:
            assert part in str(error.value), start


def test_types_are_type_errors_and_values_are_value_errors(fingerprinter: Fingerprinter) -> None:
    with pytest.raises(TypeError) as error:
        fingerprinter.column(np.zeros(1))
    assert isinstance(error.value, ArgumentTypeError)
    with pytest.raises(ValueError, match=r"must not be null \(row 1\)") as error:
        fingerprinter.column([None]).fingerprints(0, 1)
    assert not isinstance(error.value, TypeError)


def test_the_argument_may_have_another_name(fingerprinter: Fingerprinter) -> None:
    with pytest.raises(ArgumentError, match="people must be a list, an array or a column"):
        fingerprinter.column((i for i in "a"), argument="people")


def test_rows_outside_the_column_are_refused(fingerprinter: Fingerprinter) -> None:
    column = fingerprinter.column([1, 2, 3])
    for start, stop in ((-1, 2), (2, 1), (0, 4), (4, 4)):
        with pytest.raises(ArgumentError, match="must be within 0 and 3, the rows of the column"):
            column.fingerprints(start, stop)


def test_a_list_shortened_while_it_is_read_is_noticed(fingerprinter: Fingerprinter) -> None:
    keys = [1, 2, 3]
    column = fingerprinter.column(keys)
    keys.pop()
    with pytest.raises(ArgumentError, match="must keep its 3 rows while it is read"):
        column.fingerprints(0, 3)


def test_an_array_that_cannot_be_read_says_so(fingerprinter: Fingerprinter) -> None:
    class Far:
        dtype = np.dtype(np.int64)

        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            raise RuntimeError("could not convert PRIVATE")

    with pytest.raises(ArgumentTypeError, match=r"cannot be read \(RuntimeError\)") as refused:
        fingerprinter.column(Far())
    assert refused.value.__suppress_context__


def test_refusing_needs_neither_pandas_nor_polars() -> None:
    code = (
        "import numpy as np, stablesketch.sketch.columns as c\n"
        "try: c.Fingerprinter(bytes(128)).column(np.zeros(1))\n"
        "except TypeError as e: print(e)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "cannot be floats" in shown
