"""Memory is bounded whatever the file: a long one takes as much as a short one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 20_000_000
_PEAK = """
import sys
import duckdb, pyarrow.compute
import stablesketch as ss

def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024

before = peak()
release = ss.release(sys.argv[1], ss.Moment(0.5), ss.Privacy(1.0, 1e-9, relation="replace"), key="key", size=20)
print(release.pairs, peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("text", [False, True], ids=["integers", "texts"])
def test_a_long_file_takes_at_most_150_megabytes(tmp_path: Path, text: bool) -> None:
    """20 million rows of 160 to 300 MB in memory, half of the keys seen once."""
    path = tmp_path / "long.parquet"
    random = np.random.default_rng(4)
    schema = pa.schema([("key", pa.string() if text else pa.int64())])
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        for i in range(20):
            keys = pa.array(np.concatenate([random.zipf(1.5, ROWS // 40), np.arange(ROWS // 40) + i * ROWS]))
            file.write_table(pa.table([keys.cast(pa.string()) if text else keys], schema=schema))
    shown = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(shown[0]) == ROWS
    assert float(shown[1]) < 150
