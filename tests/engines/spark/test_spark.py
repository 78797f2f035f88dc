"""Spark for real, small: a release, the same state as on one machine, and an error as it would be there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_streams import SCHEMA, local_bytes, plan, rows

import stablesketch as ss
import stablesketch.spark
from stablesketch.spark import SecretFrom


def test_a_release_the_same_state_and_the_same_error(spark: Any, secret_file: Path) -> None:
    """The value is within 8 standard deviations: a false alarm is out of the question."""
    frame = spark.createDataFrame(rows(), SCHEMA).repartition(3)
    privacy = ss.Privacy(1.0, 1e-6, pairs=3000, max_value=5, relation="replace")
    released = stablesketch.spark.release(frame, ss.Moment(0.5), privacy, key="app", value="n", size=200)
    totals: dict[str, int] = {}
    for row in rows():
        totals[row[0]] = totals.get(row[0], 0) + row[1]
    truth = sum(total**0.5 for total in totals.values())
    assert isinstance(released, ss.Release)
    assert released.pairs == 3000
    assert abs(released.value / truth - 1) < 8 * (2 / 200) ** 0.5

    reference = SecretFrom.file(secret_file)
    collector = stablesketch.spark.sketch(frame, plan(), key="app", value="n", secret=reference, shard="x")
    assert collector.to_bytes() == local_bytes(rows(), "x", plan())

    bad = spark.createDataFrame([*rows(40), ("app", 70, None, None, None)], SCHEMA).repartition(2)
    with pytest.raises(ss.DataError, match=r"partition \d, row \d+, column n is above the promised max_value=5"):
        stablesketch.spark.release(bad, ss.Moment(0.5), privacy, key="app", value="n", size=200)
