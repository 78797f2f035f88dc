"""The same data through every door gives the same fingerprints: those of the plain list, which the reference checks."""

from __future__ import annotations

import array
import datetime
import subprocess
import sys
import uuid
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from key_reference import Fingerprints, fingerprint, timestamp

from stablesketch.sketch.columns import Fingerprinter

UTC = datetime.UTC
SMALL = [5, 0, 127, 3, 3, 1]
INTS = [5, -1, 2**63 - 1, 0, -(2**63), 77]
LARGE = [0, 2**63 - 1, 2**63, 2**64 - 1, 5, 2**63]
TEXTS = ["a", "", "café", "日本語" * 9, "𝛼", "a", "exactly12byt", "thirteen.byte"]
BYTES = [b"a", b"", b"\xff\xfe", b"\0x" * 30, b"a", b"exactly12byt", b"thirteen.byte"]
DATES = [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), datetime.date(1900, 1, 1)]
NAIVE = [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 12, 30, 5), datetime.datetime(1900, 1, 1, 1)]
AWARE = [t.replace(tzinfo=UTC) for t in NAIVE]
UUIDS = [uuid.UUID(int=i * 2**90 + 1) for i in range(4)]

INTEGER_DTYPES = ["i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"]
ARROW_INTEGERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
ARROW_TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
ARROW_BYTES = [pa.binary(), pa.large_binary(), pa.binary_view()]
UNITS = ["s", "ms", "us", "ns"]


def chunked(data: pa.Array) -> pa.ChunkedArray:
    """In three chunks, one of them empty, and each cut out of something longer."""
    longer = pa.concat_arrays([data, data])
    return pa.chunked_array([longer[:2], longer[2:2], longer[2 : len(data)]])


def objects(data: list[object]) -> np.ndarray:
    result = np.empty(len(data), object)
    result[:] = data
    return result


def every_other(data: np.ndarray) -> np.ndarray:
    """The same values at twice the stride."""
    return np.repeat(data, 2)[::2]


def unaligned(data: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"x" + data.tobytes(), np.uint8)[1:].view(data.dtype)


def dictionary(values: list[object], type: pa.DataType, index: pa.DataType) -> pa.Array:
    unique = list(dict.fromkeys(values))
    codes = pa.array([unique.index(v) + 1 for v in values], index)
    # An unused null in the dictionary harms nobody.
    return pa.DictionaryArray.from_arrays(codes, pa.array([None, *unique], type))


DOORS: dict[str, tuple[list[object], Callable[[], object]]] = {
    "range": ([3, 5, 7], lambda: range(3, 8, 2)),
    "range down": ([2, 1, 0], lambda: range(2, -1, -1)),
    "range beyond int64": ([2**63 - 1, 2**63], lambda: range(2**63 - 1, 2**63 + 1)),
    "array.array": (SMALL, lambda: array.array("h", SMALL)),
    "numpy int64": (INTS, lambda: np.array(INTS)),
    "numpy int64 strided": (INTS, lambda: every_other(np.array(INTS))),
    "numpy int64 reversed": (INTS, lambda: np.array(INTS[::-1])[::-1]),
    "numpy int64 unaligned": (INTS, lambda: unaligned(np.array(INTS))),
    "numpy uint64 large": (LARGE, lambda: np.array(LARGE, np.uint64)),
    "numpy uint64 large big-endian": (LARGE, lambda: np.array(LARGE, ">u8")),
    "numpy uint64 large strided": (LARGE, lambda: every_other(np.array(LARGE, np.uint64))),
    "numpy masked without masks": (INTS, lambda: np.ma.array(INTS)),
    "numpy object": (INTS, lambda: objects(INTS)),
    "numpy U": (TEXTS, lambda: np.array(TEXTS)),
    "numpy U big-endian": (TEXTS, lambda: np.array(TEXTS).astype(f">U{max(map(len, TEXTS))}")),
    "numpy U strided": (TEXTS, lambda: every_other(np.array(TEXTS))),
    "numpy U of nothing": (["", ""], lambda: np.zeros(2, "U0")),
    "numpy StringDType": (TEXTS, lambda: np.array(TEXTS, np.dtypes.StringDType())),
    "numpy StringDType with a null value": (TEXTS, lambda: np.array(TEXTS, np.dtypes.StringDType(na_object=None))),
    "numpy S": (BYTES, lambda: np.array(BYTES)),
    "numpy S strided": (BYTES, lambda: every_other(np.array(BYTES))),
    "numpy S of nothing": ([b"", b""], lambda: np.zeros(2, "S0")),
    "numpy datetime64[D]": (DATES, lambda: np.array(DATES, "M8[D]")),
    "numpy datetime64[D] big-endian": (DATES, lambda: np.array(DATES, "M8[D]").astype(">M8[D]")),
    "numpy datetime64 big-endian": (NAIVE, lambda: np.array(NAIVE, "M8[us]").astype(">M8[us]")),
    "numpy datetime64 strided": (NAIVE, lambda: every_other(np.array(NAIVE, "M8[us]"))),
    "pandas int64": (INTS, lambda: pd.Series(INTS)),
    "pandas Int64": (INTS, lambda: pd.Series(INTS, dtype="Int64")),
    "pandas Int64 array": (INTS, lambda: pd.array(INTS, dtype="Int64")),
    "pandas UInt64": (LARGE, lambda: pd.Series(LARGE, dtype="UInt64")),
    "pandas Sparse": ([0, 0, 4], lambda: pd.Series(pd.arrays.SparseArray([0, 0, 4]))),
    "pandas object": ([1, "a", b"b"], lambda: pd.Series([1, "a", b"b"], dtype=object)),
    "pandas str": (TEXTS, lambda: pd.Series(TEXTS)),
    "pandas string": (TEXTS, lambda: pd.Series(TEXTS, dtype="string")),
    "pandas string[python]": (TEXTS, lambda: pd.Series(TEXTS, dtype="string[python]")),
    "pandas category": (TEXTS, lambda: pd.Series(TEXTS, dtype="category")),
    "pandas category of ints": (INTS, lambda: pd.Series(INTS, dtype="category")),
    "pandas category of mixed": (["a", b"a", 1], lambda: pd.Series(pd.Categorical(["a", b"a", 1], ["a", b"a", 1]))),
    "pandas Categorical": (TEXTS, lambda: pd.Categorical(TEXTS)),
    "pandas CategoricalIndex": (TEXTS, lambda: pd.CategoricalIndex(TEXTS)),
    "pandas pyarrow int64": (INTS, lambda: pd.Series(INTS, dtype="int64[pyarrow]")),
    "pandas pyarrow string": (TEXTS, lambda: pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string()))),
    "pandas datetime": (NAIVE, lambda: pd.Series(NAIVE)),
    "pandas datetime aware": (AWARE, lambda: pd.Series(AWARE)),
    "pandas datetime aware elsewhere": (AWARE, lambda: pd.Series(AWARE).dt.tz_convert("America/New_York")),
    "pandas datetime aware as objects": (AWARE, lambda: pd.Series(AWARE).astype(object)),
    "pandas date objects": (DATES, lambda: pd.Series(DATES)),
    "pandas Index": (INTS, lambda: pd.Index(INTS)),
    "pandas Index str": (TEXTS, lambda: pd.Index(TEXTS)),
    "pandas RangeIndex": ([0, 1, 2], lambda: pd.RangeIndex(3)),
    "pandas DatetimeIndex": (NAIVE, lambda: pd.DatetimeIndex(NAIVE)),
    "pandas DatetimeIndex aware": (AWARE, lambda: pd.DatetimeIndex(AWARE)),
    "pandas sliced": (TEXTS[1:4], lambda: pd.Series(TEXTS)[1:4]),
    "pandas uuids": (UUIDS, lambda: pd.Series(UUIDS)),
    "polars Int64": (INTS, lambda: pl.Series(INTS)),
    "polars UInt64": (LARGE, lambda: pl.Series(LARGE, dtype=pl.UInt64)),
    "polars String": (TEXTS, lambda: pl.Series(TEXTS)),
    "polars String sliced": (TEXTS[2:], lambda: pl.Series(TEXTS)[2:]),
    "polars String in chunks": (TEXTS * 2, lambda: pl.Series(TEXTS).append(pl.Series(TEXTS))),
    "polars Binary": (BYTES, lambda: pl.Series(BYTES)),
    "polars Categorical": (TEXTS, lambda: pl.Series(TEXTS, dtype=pl.Categorical)),
    "polars Enum": (TEXTS, lambda: pl.Series(TEXTS, dtype=pl.Enum(list(dict.fromkeys(TEXTS))))),
    "polars Date": (DATES, lambda: pl.Series(DATES)),
    "polars Datetime": (NAIVE, lambda: pl.Series(NAIVE)),
    "polars Datetime ms": (NAIVE, lambda: pl.Series(NAIVE, dtype=pl.Datetime("ms"))),
    "polars Datetime aware": (AWARE, lambda: pl.Series(AWARE)),
    "arrow fixed_size_binary": ([b"abc", b"def"], lambda: pa.array([b"abc", b"def"], pa.binary(3))),
    "arrow fixed_size_binary(0)": ([b"", b""], lambda: pa.array([b"", b""], pa.binary(0))),
    "arrow uuid": (UUIDS, lambda: pa.array([u.bytes for u in UUIDS], pa.uuid())),
    "arrow uuid in chunks": (UUIDS, lambda: chunked(pa.array([u.bytes for u in UUIDS], pa.uuid()))),
    "arrow date32": (DATES, lambda: pa.array(DATES, pa.date32())),
    "arrow date64": (DATES, lambda: pa.array(DATES, pa.date64())),
    "arrow dictionary of dates": (DATES, lambda: dictionary(DATES, pa.date64(), pa.int8())),
    "arrow dictionary of ints": (INTS, lambda: dictionary(INTS, pa.int64(), pa.int16())),
    "arrow dictionary of instants": (AWARE, lambda: dictionary(AWARE, pa.timestamp("us", "UTC"), pa.int64())),
    "arrow dictionary in chunks": (TEXTS, lambda: chunked(dictionary(TEXTS, pa.string(), pa.int32()))),
    "arrow dictionaries in chunks": (
        TEXTS,
        lambda: pa.chunked_array([pa.array(TEXTS[:3]).dictionary_encode(), pa.array(TEXTS[3:]).dictionary_encode()]),
    ),
}
for _dtype in INTEGER_DTYPES:
    DOORS[f"numpy {_dtype}"] = (SMALL, lambda t=_dtype: np.array(SMALL, t))
    DOORS[f"numpy {_dtype} strided"] = (SMALL, lambda t=_dtype: every_other(np.array(SMALL, t)))
for _type in ARROW_INTEGERS:
    DOORS[f"arrow {_type}"] = (SMALL, lambda t=_type: pa.array(SMALL, t))
    DOORS[f"arrow {_type} in chunks"] = (SMALL, lambda t=_type: chunked(pa.array(SMALL, t)))
    DOORS[f"arrow dictionary by {_type}"] = (TEXTS, lambda t=_type: dictionary(TEXTS, pa.string_view(), t))
for _values, _types in ((TEXTS, ARROW_TEXTS), (BYTES, ARROW_BYTES)):
    for _type in _types:
        DOORS[f"arrow {_type}"] = (_values, lambda t=_type, v=_values: pa.array(v, t))
        DOORS[f"arrow {_type} in chunks"] = (_values, lambda t=_type, v=_values: chunked(pa.array(v, t)))
        DOORS[f"arrow {_type} dictionary"] = (_values, lambda t=_type, v=_values: dictionary(v, t, pa.int8()))
for _unit in UNITS:
    DOORS[f"numpy datetime64[{_unit}]"] = (NAIVE, lambda u=_unit: np.array(NAIVE, f"M8[{u}]"))
    DOORS[f"pandas datetime64[{_unit}]"] = (NAIVE, lambda u=_unit: pd.Series(NAIVE, dtype=f"M8[{u}]"))
    DOORS[f"arrow timestamp[{_unit}]"] = (NAIVE, lambda u=_unit: pa.array(NAIVE, pa.timestamp(u)))
    DOORS[f"arrow timestamp[{_unit}, UTC]"] = (AWARE, lambda u=_unit: pa.array(AWARE, pa.timestamp(u, "UTC")))
    DOORS[f"arrow timestamp[{_unit}, zone]"] = (AWARE, lambda u=_unit: pa.array(AWARE, pa.timestamp(u, "Asia/Tokyo")))


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_fingerprints_of_the_list(fingerprints: Fingerprints, door: str) -> None:
    keys, open_door = DOORS[door]
    expected = [fingerprint(key) for key in keys]
    assert fingerprints(keys) == expected
    assert fingerprints(open_door()) == expected


@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_an_empty_column(fingerprinter: Fingerprinter, door: str) -> None:
    column = fingerprinter.column(DOORS[door][1]()[:0])
    assert len(column) == 0
    assert column.fingerprints(0, 0).size == 0


def test_containers_may_be_mixed_in_a_composite_key(fingerprints: Fingerprints) -> None:
    expected = [fingerprint(key) for key in zip(INTS, TEXTS, DATES * 2, strict=False)]
    texts = pa.chunked_array([TEXTS[:4], TEXTS[4:6]])
    assert fingerprints((np.array(INTS), texts, pl.Series(DATES * 2))) == expected


def test_nanoseconds_survive_every_door(fingerprints: Fingerprints) -> None:
    ticks = np.array([1, -1, 1_700_000_000_123_456_789], "M8[ns]")
    expected = [timestamp("naive", int(t)) for t in ticks.astype(np.int64)]
    for door in (
        ticks,
        list(ticks),
        pd.Series(ticks),
        pd.Series(ticks).astype(object),
        pa.array(ticks),
        pl.Series(ticks),
    ):
        assert fingerprints(door) == expected


def test_seconds_beyond_the_nanoseconds_of_64_bits_are_exact(fingerprints: Fingerprints) -> None:
    ticks = [2**62, -(2**62), 2**63 - 1]
    expected = [timestamp("naive", t * 10**9) for t in ticks]
    assert fingerprints(np.array(ticks).astype("M8[s]")) == expected
    assert fingerprints(pa.array(ticks).cast(pa.timestamp("s"))) == expected


def test_trailing_nuls_are_lost_by_numpy_alone(fingerprints: Fingerprints) -> None:
    assert fingerprints(np.array([b"a\0", b"\0"])) == fingerprints([b"a", b""])
    assert fingerprints(pa.array([b"a\0", b"\0"])) == fingerprints([b"a\0", b"\0"]) != fingerprints([b"a", b""])


def test_integers_in_the_machines_own_order_are_not_copied(fingerprinter: Fingerprinter) -> None:
    owned = np.arange(100)
    for column in (owned, owned.astype(np.uint64), pd.Series(owned), pa.array(owned), pl.Series(owned)):
        first = fingerprinter.column(column).fingerprints(10, 20)
        again = fingerprinter.column(column).fingerprints(10, 20)
        assert np.shares_memory(first, again)
        assert not first.flags.writeable
    assert owned.flags.writeable


def test_a_view_outlives_the_column_it_came_from(fingerprinter: Fingerprinter) -> None:
    import gc

    view = fingerprinter.column(pa.array(list(range(1000)))).fingerprints(0, 1000)
    gc.collect()
    noise = [pa.array([-1] * 1000) for _ in range(10)]
    assert view.tolist() == list(range(1000))
    assert len(noise) == 10


def test_no_data_frame_library_is_imported() -> None:
    code = (
        "import sys, stablesketch.sketch.columns as c\n"
        "c.Fingerprinter(bytes(128)).column(['a']).fingerprints(0, 1); c.value_column([1], 1).weights(0, 1)\n"
        "print([m for m in ('pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_pandas_without_pyarrow_is_read_element_by_element(
    fingerprints: Fingerprints, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: object, requested_schema: object = None) -> object:
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pd.Series, "__arrow_c_stream__", missing)
    for keys, series in (
        (INTS, pd.Series(INTS, dtype="Int64")),
        (TEXTS, pd.Series(TEXTS, dtype="string[python]")),
        (AWARE, pd.Series(AWARE)),
        (TEXTS, pd.Series(TEXTS, dtype="category")),
    ):
        assert fingerprints(series) == [fingerprint(key) for key in keys]
