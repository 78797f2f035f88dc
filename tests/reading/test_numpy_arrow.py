"""Numbers go from numpy to Arrow and back as they are, texts from bytes, and pandas is not imported for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from stablesketch.reading.numpy_arrow import from_numpy, text_column, to_numpy


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64])
def test_there_and_back(kind: type) -> None:
    numbers = np.arange(20, dtype=kind)
    for some in (numbers, numbers[:0], numbers[3:9], numbers[::3]):
        column = from_numpy(some)
        assert column.equals(pa.array(some))
        assert to_numpy(column).dtype == kind
        assert to_numpy(column).tolist() == some.tolist()
    assert to_numpy(pa.array([1, None, 3], pa.int32()).drop_null()).tolist() == [1, 3]
    assert to_numpy(from_numpy(numbers).slice(5, 2)).tolist() == [5, 6]


def test_a_column_of_text_is_made_from_bytes() -> None:
    texts = ["", "a", "äö", "b\n", ""] * 3
    content, offsets = "".join(texts).encode(), np.cumsum([0, *(len(one.encode()) for one in texts)])
    assert text_column(offsets, content).equals(pa.array(texts))
    valid = np.array([text != "" for text in texts])
    assert text_column(offsets, content, valid).equals(pa.array([text or None for text in texts]))
    assert text_column(np.array([0]), b"").equals(pa.array([], pa.string()))
    with pytest.raises(pa.ArrowInvalid):
        text_column(np.array([0, 1]), b"\xff").validate(full=True)


RELEASES = """
import sys
import stablesketch as ss
by = {"by": "country"}
for more in ({}, by, {**by, "groups": ["FR"]}, {"person": "who"}, {**by, "person": "who"}):
    ss.release("e.csv", ss.Moment(0.5), ss.Privacy(9.0, 1e-2, relation="add_remove"), key="app", size=20, **more)
    assert "pandas" not in sys.modules, more
"""


def test_a_release_does_not_import_pandas(tmp_path: Path) -> None:
    """It is installed here, and takes longer to import than everything else that a release does."""
    Path(tmp_path, "e.csv").write_text("app,country,who\n" + "".join(f"a{i % 7},FR,u{i}\n" for i in range(300)))
    subprocess.run([sys.executable, "-W", "ignore", "-c", RELEASES], cwd=tmp_path, check=True)
