"""One column read by many threads at once gives each of them the same answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from stablesketch.sketch.columns import Fingerprinter, value_column

ROWS = 40_000
TEXTS = [f"person {i % 5_000}" for i in range(ROWS)]

COLUMNS = {
    "list": TEXTS,
    "numpy U": np.array(TEXTS),
    "numpy uint64": np.arange(ROWS, dtype=np.uint64) + np.uint64(2**63 - ROWS // 2),
    "pandas category": pd.Series(TEXTS, dtype="category"),
    "polars": pl.Series(TEXTS),
    "arrow chunks": pa.chunked_array([TEXTS[:777], TEXTS[777:30_000], TEXTS[30_000:]]),
    "arrow dictionary": pa.array(TEXTS).dictionary_encode(),
    "composite": (TEXTS, np.arange(ROWS), pa.array(TEXTS)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_threads_agree(fingerprinter: Fingerprinter, name: str) -> None:
    column = fingerprinter.column(COLUMNS[name])
    whole = column.fingerprints(0, ROWS)
    slices = [(start, min(start + 1_013, ROWS)) for start in range(0, ROWS, 1_013)] * 4
    with ThreadPoolExecutor(8) as threads:
        parts = list(threads.map(lambda rows: column.fingerprints(*rows), slices))
    for (start, stop), part in zip(slices, parts, strict=True):
        assert np.array_equal(part, whole[start:stop])


def test_threads_agree_on_weights() -> None:
    weights = np.arange(1, ROWS + 1)
    for values in (weights, weights.tolist(), pa.chunked_array([weights[:999], weights[999:]])):
        column = value_column(values, ROWS)
        slices = [(start, start + 1_000) for start in range(0, ROWS, 1_000)]
        with ThreadPoolExecutor(8) as threads:
            parts = list(threads.map(lambda rows, column=column: column.weights(*rows), slices))
        assert np.array_equal(np.concatenate(parts), weights)
