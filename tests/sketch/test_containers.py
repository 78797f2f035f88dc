"""Many containers, one stream: the same data give the same bytes, whatever holds them."""

from __future__ import annotations

import datetime
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sketch_helpers import SECRET

import stablesketch as ss

INSTANT = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC)
DOORS: dict[str, list[object]] = {
    "integers": [
        [3, 1, 3],
        range(3, 4),  # with the rest of the stream below
        np.array([3, 1, 3], np.int8),
        np.array([3, 1, 3], ">u8"),
        np.array([3, 9, 1, 9, 3])[::2],
        np.array([3, 1, 3], object),
        pd.Series([3, 1, 3], dtype="Int32"),
        pl.Series([3, 1, 3]),
        pa.chunked_array([[3], [], [1, 3]]),
    ],
    "text": [
        ["ß", "", "ß"],
        np.array(["ß", "", "ß"]),
        np.array(["ß", "", "ß"], np.dtypes.StringDType()),
        pd.Series(["ß", "", "ß"]),
        pd.Series(["ß", "", "ß"], dtype="category"),
        pl.Series(["ß", "", "ß"]),
        pl.Series(["ß", "", "ß"], dtype=pl.Categorical),
        pa.array(["ß", "", "ß"], pa.large_string()),
        pa.array(["x", "ß", "", "ß"], pa.string_view())[1:],
        pa.array(["ß", "", "ß"]).dictionary_encode(),
    ],
    "bytes": [[b"\0a", b"", b"\0a"], np.array([b"\0a", b"", b"\0a"]), pa.array([b"\0a", b"", b"\0a"])],
    "instants": [
        [INSTANT, INSTANT],
        pd.Series([INSTANT, INSTANT]).dt.tz_convert("Asia/Tokyo"),
        pl.Series([INSTANT, INSTANT]),
        pa.array([INSTANT, INSTANT]),
    ],
    "UUIDs": [[uuid.UUID(int=7)], pa.array([uuid.UUID(int=7).bytes], pa.uuid())],
    "composite keys": [
        ([1, 2], ["a", "b"]),
        (np.array([1, 2], np.uint16), pl.Series(["a", "b"])),
        (pa.array([1, 2]), pd.Series(["a", "b"])),
    ],
}


@pytest.mark.parametrize("kind", DOORS)
def test_the_same_data_through_any_door_gives_the_same_bytes(kind: str) -> None:
    blobs = set()
    for keys in DOORS[kind]:
        sketch = ss.Sketch(0.5, 10, SECRET, law="symmetric")
        sketch.update(keys)
        if isinstance(keys, range):
            sketch.update([1, 3])
        blobs.add(sketch.to_bytes())
    assert len(blobs) == 1


def test_one_and_the_text_one_and_the_byte_one_are_three_keys() -> None:
    blobs = set()
    for keys in ([1], ["1"], [b"1"], [2**63 + 1], ([1],)):
        sketch = ss.Sketch(0.5, 10, SECRET, law="symmetric")
        sketch.update(keys)
        blobs.add(sketch.to_bytes())
    assert len(blobs) == 5


def test_unsigned_keys_above_2_to_the_63_are_keys_like_any_other() -> None:
    """1 - 1e-6 limits around the three distinct keys, none of which is taken for another."""
    sketch = ss.Sketch(0.05, 1_000, SECRET, law="symmetric")
    sketch.update(np.array([2**64 - 1, 2**63, 2**63 - 1], np.uint64))
    sketch.update([-1, -(2**63)])
    found = sketch.estimate(confidence=1 - 1e-6)
    assert found.low < 5.0 < found.high


def test_values_through_any_door_give_the_same_bytes() -> None:
    values = [5, 1, 2**40]
    containers = [
        values,
        np.array(values),
        pd.Series(values),
        pl.Series(values),
        pa.array(values),
        np.array(values, ">u8"),
    ]
    blobs = set()
    for container in containers:
        sketch = ss.Sketch(0.5, 10, SECRET, law="symmetric")
        sketch.update(["a", "b", "c"], container)
        blobs.add(sketch.to_bytes())
    assert len(blobs) == 1
