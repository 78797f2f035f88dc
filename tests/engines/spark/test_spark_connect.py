"""Spark Connect: no RDDs, no broadcasts, and a plan that travels as bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine_streams import BITS, QUICK_JAVA

pytestmark = pytest.mark.slow


def test_the_same_through_spark_connect(java: None, tmp_path: Path) -> None:
    environment = {**os.environ, **QUICK_JAVA, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["STABLESKETCH_SECRET"] = BITS.hex()
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("connect_job.py")],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "all is well" in done.stdout
    assert BITS.hex() not in done.stdout + done.stderr
