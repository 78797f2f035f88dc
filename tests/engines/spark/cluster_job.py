"""A job on a real cluster: one attempt that is overtaken, one worker that is killed; then what the web page shows.

Run by test_spark_cluster.py: python cluster_job.py MASTER FOLDER. It is a program of its own because a process has one
Spark.
"""

from __future__ import annotations

import json
import sys
import urllib.request
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "shared"))

from engine_streams import SCHEMA, plan, rows

import stablesketch as ss
from stablesketch.engines.spark import job

CONTROL = "c0ffee" * 10 + "beef"
FRESH = bytes(range(100, 132))


def slow(folder: str, first_seconds: float, each_seconds: float) -> Any:
    """Passes on what it reads, after a while; the first attempt at partition 2 takes longest. Notes every attempt."""

    def work(batches: Any) -> Any:
        import os
        import time
        from pathlib import Path

        from pyspark import TaskContext

        context = TaskContext.get()
        part, attempt = context.partitionId(), context.attemptNumber()
        where = "lost" if "work-localhost" in os.getcwd() else "kept"  # the worker that will be killed, or the other
        Path(folder, f"{part}.{attempt}.{context.taskAttemptId()}.{where}").touch()
        time.sleep(first_seconds if part == 2 and attempt == 0 else each_seconds)
        yield from batches

    return work


def main(master: str, folder: Path) -> None:
    warnings.simplefilter("ignore", FutureWarning)
    from pyspark.sql import SparkSession

    import stablesketch.spark
    from stablesketch.spark import SecretFrom

    session = (
        SparkSession.builder.master(master)
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.compress", "true")
        .config("spark.eventLog.dir", folder.joinpath("log").as_uri())
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executor.cores", "2")  # one may have an attempt that sleeps
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")  # begin with both workers,
        .config("spark.locality.wait", "0")  # and give tasks to both: the one that began first has all the data
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.speculation", "true")
        .config("spark.speculation.interval", "200ms")
        .config("spark.speculation.quantile", "0.5")
        .config("spark.speculation.multiplier", "2")
        .config("spark.shuffle.io.maxRetries", "1")  # the lost worker does not come back
        .config("spark.shuffle.io.retryWait", "100ms")
        .config("spark.ui.port", "0")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    frame = session.createDataFrame(rows(), SCHEMA).repartition(6)
    way = SecretFrom.file(folder / "s.key")
    for name, first, each in (("overtaken", 60.0, 0.1), ("killed", 1.5, 1.5)):
        notes = folder / name
        notes.mkdir()
        slowly = frame.mapInArrow(slow(str(notes), first, each), frame.schema)
        found = stablesketch.spark.sketch(slowly, plan(), key="app", value="n", secret=way, shard="x")
        folder.joinpath(f"{name}.bytes").write_bytes(found.to_bytes())
    job.secrets = type("Known", (), {"token_bytes": lambda n: FRESH, "token_hex": lambda n: "n" * 2 * n})  # type: ignore[assignment, attr-defined]
    privacy = ss.Privacy(1.0, 1e-6, pairs=3000, max_value=5, relation="replace")
    stablesketch.spark.release(frame, ss.Moment(0.5), privacy, key="app", value="n", size=40)
    frame.selectExpr(f"'{CONTROL}' as literal", "app").groupBy("literal").count().collect()
    web = session.sparkContext.uiWebUrl
    (application,) = json.loads(page(f"{web}/api/v1/applications"))
    base = f"{web}/api/v1/applications/{application['id']}"
    pages = [f"{web}/{name}/" for name in ("jobs", "stages", "environment", "executors", "SQL")]
    pages += [f"{base}/environment", f"{base}/sql?details=true&planDescription=true&length=1000", f"{base}/stages"]
    pages += [f"{web}/SQL/execution/?id={number}" for number in range(3)]
    folder.joinpath("pages").write_bytes(b"\n".join(page(one) for one in pages))
    session.stop()


def page(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=30) as answer:
        content: bytes = answer.read()
        return content


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
