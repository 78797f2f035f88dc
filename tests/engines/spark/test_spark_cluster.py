"""A standalone cluster of a master and two workers, all of them processes here: what may go wrong on one does."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_streams import BITS, QUICK_JAVA, local_bytes, plan, rows, secret

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def until(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    for _ in range(int(seconds / 0.1)):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"{what} did not happen in {seconds:g} s")


@pytest.fixture
def cluster(java: None, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """(its address, the two workers). They call their host by different names, or none would overtake the other."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        **QUICK_JAVA,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    environment["SPARK_DAEMON_MEMORY"] = "256m"
    logs = tmp_path / "daemons.log"

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments, "--webui-port", "0"]
        with logs.open("ab") as log:
            return subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, cwd=tmp_path, start_new_session=True
            )

    address = f"spark://127.0.0.1:{port}"
    running = [start("master.Master", "--host", "127.0.0.1", "--port", str(port))]
    try:
        until(lambda: b"I have been elected leader" in logs.read_bytes(), "a master")
        for host in ("127.0.0.1", "localhost"):
            work = tmp_path / f"work-{host}"
            running.append(start("worker.Worker", "--host", host, "-c", "2", "-m", "600m", "-d", str(work), address))
        until(lambda: logs.read_bytes().count(b"Successfully registered with master") == 2, "two workers")
        yield address, running[1:]
    finally:
        for process in running:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """The process, its executors and their Python workers: at once, as a machine goes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def test_lost_workers_and_overtaken_attempts_count_once_and_nothing_shows_the_secret(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    master, workers = cluster
    secret().save(tmp_path / "s.key")
    (tmp_path / "log").mkdir()
    environment = {**os.environ, **QUICK_JAVA, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (tmp_path / "job.log").open("wb") as log:
        job = subprocess.Popen(
            [sys.executable, HERE / "cluster_job.py", master, tmp_path], env=environment, stdout=log, stderr=log
        )
    try:
        seen = lambda: bool(list((tmp_path / "killed").glob("*.lost")))  # noqa: E731
        until(lambda: job.poll() is not None or seen(), "an attempt of the second worker at the second job")
        kill(workers[1])
        assert job.wait(timeout=180) == 0, (tmp_path / "job.log").read_text()[-3000:]
    finally:
        job.kill()
    assert list((tmp_path / "overtaken").glob("2.1.*"))  # begun while the first attempt slept
    lost, kept = ({path.name[0] for path in (tmp_path / "killed").glob(f"*.{where}")} for where in ("lost", "kept"))
    assert lost & kept  # what the lost worker had is done again
    for name in ("overtaken", "killed"):
        assert (tmp_path / f"{name}.bytes").read_bytes() == local_bytes(rows(), "x", plan()), name
    events = event_log(tmp_path / "log")
    assert any(event.get("Task Info", {}).get("Speculative") for event in events)
    look_for_secrets(
        json.dumps(events).encode(), (tmp_path / "pages").read_bytes(), (tmp_path / "job.log").read_bytes()
    )
    look_at_shuffles(events)


def event_log(folder: Path) -> list[dict[str, object]]:
    """All events, decompressed."""
    import zstandard

    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
        raw = path.read_bytes()
        if path.suffix == ".zstd" or ".zstd" in path.name:
            raw = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
        found += [json.loads(line) for line in raw.splitlines() if line.startswith(b"{")]
    assert found
    return found


def forms(bits: bytes) -> list[bytes]:
    """How 32 bytes could be written."""
    inner = [base64.b64encode(b"x" * before + bits)[4:40] for before in range(3)]
    return [bits, bits.hex().encode(), bits.hex().upper().encode(), *inner, str(list(bits))[1:-1].encode()]


def look_for_secrets(*places: bytes) -> None:
    """Nowhere; and what was put into a query on purpose is found by the same search."""
    from cluster_job import CONTROL, FRESH

    log, pages, _ = places
    for place in (log, pages):
        assert any(form in place for form in forms(bytes.fromhex(CONTROL)))
    for place in places:
        for bits in (BITS, FRESH):
            assert not any(form in place for form in forms(bits))


def look_at_shuffles(events: list[dict[str, object]]) -> None:
    """Rows are shuffled by the test's own repartition alone; what follows Python is states of some kilobytes."""
    stages: dict[object, tuple[bool, int]] = {}
    for event in events:
        if event["Event"] == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            assert isinstance(info, dict)
            scopes = json.dumps(info["RDD Info"])
            values = {one["Name"]: one["Value"] for one in info["Accumulables"]}
            written = int(values.get("internal.metrics.shuffle.write.bytesWritten", 0))
            stages[info["Stage ID"]] = ("MapInArrow" in scopes, written)
    ours = [written for mapped, written in stages.values() if mapped]
    assert len(ours) >= 3
    assert 0 < max(ours) < 6 * 4096
