"""The same through Spark Connect: python connect_job.py FOLDER, with STABLESKETCH_SECRET set."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "shared"))

import pytest
from engine_streams import BITS, SCHEMA, local_bytes, plan, rows

import stablesketch as ss

warnings.simplefilter("ignore", FutureWarning)


def main() -> None:
    from pyspark.sql import SparkSession

    import stablesketch.spark
    from stablesketch.engines.secret_from import TheSecret
    from stablesketch.engines.spark import files
    from stablesketch.engines.spark.frame import is_remote
    from stablesketch.engines.spark.release import run_frame
    from stablesketch.engines.spark.work import STATES, Recipe
    from stablesketch.spark import SecretFrom

    session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    frame = session.createDataFrame(rows(), SCHEMA).repartition(3)
    assert is_remote(frame)
    way = SecretFrom.environment("STABLESKETCH_SECRET")
    found = stablesketch.spark.sketch(frame, plan(), key="app", value="n", secret=way, shard="x")
    assert found.to_bytes() == local_bytes(rows(), "x", plan())

    privacy = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove")
    asked = {"key": "app", "value": "n", "by": "country", "groups": ["FR", "XX"], "size": 40, "person": "who"}
    table = stablesketch.spark.release(frame, ss.Moment(0.5), privacy, secret=way, **asked)
    assert [row.country for row in table.collect()] == ["FR", "XX"]
    stored = stablesketch.spark.sketch_by(frame, plan(), key="app", value="n", by="day", secret=way)
    assert stablesketch.spark.merged(stored, secret=way).release().pairs == 3000
    with pytest.raises(ss.ArgumentError, match="must be given with Spark Connect"):
        stablesketch.spark.release(frame, ss.Moment(0.5), privacy, **asked)

    Path("e.csv").write_text("app,n\n" + "".join(f"app {i % 9},1\n" for i in range(100)))
    public = ss.Privacy(1.0, 1e-6, 0, relation="replace")
    counted = ss.question(ss.Moment(0.5), public, key="app", size=40, count_pairs=True)
    outcome = run_frame(counted, files._frame(session, ["e.csv"], counted), secret=way)
    assert outcome.releases[0].pairs == 100

    # What is sent has the function in it, byte for byte: a secret in a function would be found here.
    def plan_bytes(work: object) -> bytes:
        mapped = frame.mapInArrow(work, STATES)
        return bytes(mapped._plan.to_proto(session.client).SerializeToString())

    held = bytes(BITS)
    assert BITS in plan_bytes(lambda batches: [held for _ in batches])
    sent = plan_bytes(Recipe(TheSecret(way), plan=plan().to_json()).collect)
    assert b"STABLESKETCH_SECRET" in sent
    assert BITS not in sent
    assert BITS.hex().encode() not in sent
    session.stop()
    print("all is well")


if __name__ == "__main__":
    main()
