"""A thousand partitions: the same state as on one machine. A hundred, one of them with something wrong: its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_streams import plan, secret

import stablesketch as ss
from stablesketch.spark import SecretFrom, release, sketch

pytestmark = pytest.mark.slow

PARTS, EACH = 1000, 4
FEWER, PLACE = 100, 277  # the row with that id is the second of partition 69
ADD_REMOVE = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove")


def test_the_same_state_over_a_thousand_partitions(spark: Any, secret_file: Path) -> None:
    """32 buckets, the largest of 63 states, then the driver."""
    frame = spark.range(0, PARTS * EACH, 1, PARTS).selectExpr("id % 911 as k", "id % 5 + 1 as n")
    found = sketch(frame, plan(), key="k", value="n", secret=SecretFrom.file(secret_file), shard="x")
    alone = plan().open(secret(), "x")
    ids = range(PARTS * EACH)
    alone.update([i % 911 for i in ids], [i % 5 + 1 for i in ids])
    assert found.to_bytes() == alone.to_bytes()


# What stands in one row of the 400, of which type the column is, whether people are bounded: then rows are looked
# through before workers see them, else a worker meets the wrong one; and what must be said of it.
WRONG = {
    "null": (None, "bigint", None, "is null. Drop such rows or fill them in first"),
    "out of range": (6, "bigint", "who", "is above the promised max_value=5, which the guarantee relies on. Clip"),
    "not a number": ("x7", "string", None, "is of type VARCHAR, but values must be whole numbers. "),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_value_in_a_hundred_partitions(spark: Any, tmp_path: Path, name: str) -> None:
    """The message is that of one machine but for where the row is; neither releases, and neither charges."""
    item, kind, person, words = WRONG[name]
    frame = spark.range(0, FEWER * EACH, 1, FEWER).selectExpr(
        "id as k",
        f"if(id = {PLACE}, {'null' if item is None else repr(item)}, cast(1 as {kind})) as n",
        "id % 50 as who",
    )
    ids = range(FEWER * EACH)
    values = [item if i == PLACE else "1" if kind == "string" else 1 for i in ids]
    local = pa.table({"k": list(ids), "n": values, "who": [i % 50 for i in ids]})
    told = []
    for run, data in ((ss.release, local), (release, frame)):
        ledger = ss.Ledger(tmp_path / f"{len(told)}.db", epsilon=10.0, delta=1e-3, relation="add_remove")
        with pytest.raises(ss.DataError) as caught:
            run(data, ss.Moment(0.5), ADD_REMOVE, key="k", value="n", person=person, size=20, ledger=ledger)  # type: ignore[operator]
        assert not list(ledger.records())
        told.append(caught.value)
    here, there = (str(error) for error in told)
    assert type(told[0]) is type(told[1])
    rows = (
        ("", "")
        if kind == "string"
        else (f", row {PLACE + 1:,}", f", partition {PLACE // EACH}, row {PLACE % EACH + 1}")
    )
    assert here.startswith(f"the frame{rows[0]}, column n {words}")
    alike = here.replace(f"the frame{rows[0]}", f"the DataFrame{rows[1]}")
    if kind == "string":  # a column is cast in other words there
        assert there.startswith(alike.partition(" Convert the column n first: ")[0])
        assert 'df.withColumn("n", functions.round("n").cast("bigint"))' in there
    else:
        assert there == alike
