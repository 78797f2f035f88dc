"""The alert rules and the dashboard in docs/monitoring: by promtool, and scraped by a real Prometheus."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from monitor_tools import at, rows, run, watch
from prometheus_tools import FILES, dashboard_queries, program, promtool

import stablesketch as ss
from stablesketch.monitor.shown.alerts import Judge
from stablesketch.monitor.shown.board import Board
from stablesketch.monitor.shown.metrics import ReleasedMetrics, exposed
from stablesketch.monitor.shown.outputs import Outputs

ASKED = watch(statistics=[ss.Shannon()])
OF_A_BUDGET = "stablesketch_epsilon_remaining"  # there only if the monitor has a ledger


def records() -> dict[int, str]:
    """Eight windows of a hundred keys, and a ninth with as many rows of one key: a drop, and no stopped feed.

    The secrets are the system's, so a test can fail by chance: with probability 1e-20. The median of the eight is ln
    100 to within 0.1, a deviation is at most 0.3, and the alert takes three of them. So the ninth, whose entropy is 0,
    has to be estimated above 3.6, and ζ of a bucket of 64 entries is above 3.5 with probability 9e-22
    (`EntropyMeanLaw.tails`). In 600 runs the least fall was 16 deviations.
    """
    blocks = [
        at(60 * i + 5, b"".join(rows(60 * i + 1, key=f"key {k if i < 8 else 0}") for k in range(100))) for i in range(9)
    ]
    found, _ = run(ASKED, [*blocks, at(555)], ends=False)
    return {each["number"]: json.dumps(each) for each in found}


def test_promtool_accepts_the_rules_and_they_fire_when_they_should() -> None:
    promtool("check", "rules", FILES / "stablesketch.rules.yml")
    promtool("check", "config", FILES / "prometheus.yml")
    promtool("test", "rules", Path(__file__).with_name("rules_test.yml"))


def test_promtool_can_read_every_query_of_the_dashboard(tmp_path: Path) -> None:
    queries = dashboard_queries("entropy_nats")
    rules = [{"record": f"query:{i}", "expr": each} for i, each in enumerate(queries)]
    path = tmp_path / "queries.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))  # JSON is YAML
    promtool("check", "rules", path)


def test_rules_and_dashboard_ask_for_what_there_is() -> None:
    paid = {number: json.dumps(json.loads(text) | {"epsilon_left": 2.0}) for number, text in records().items()}
    text = exposed(ReleasedMetrics(Board(ASKED, Judge(), paid, budget=4.0)))[0].decode()
    asked = " ".join([(FILES / "stablesketch.rules.yml").read_text(), *dashboard_queries("entropy_nats")])
    names = set(re.findall(r"stablesketch_\w+", asked))
    assert names
    assert {each for each in names if f"# TYPE {each} " not in text} == set()


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[tuple[Outputs, str]]:
    """A monitor, and a Prometheus that scrapes it every second by our configuration and our rules."""
    outputs = Outputs("127.0.0.1:0", None, None)
    outputs.sinks(ASKED, Judge(), records(), print)
    outputs.begin(None)  # type: ignore[arg-type]  # nobody asks how it is
    assert outputs.released is not None
    text = (FILES / "prometheus.yml").read_text()
    text = text.replace("127.0.0.1:9464", f"127.0.0.1:{outputs.released.server_port}").replace("15s", "1s")
    (tmp_path / "prometheus.yml").write_text(f"global:\n  evaluation_interval: 1s\n{text}")
    (tmp_path / "stablesketch.rules.yml").write_bytes((FILES / "stablesketch.rules.yml").read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"--web.listen-address=127.0.0.1:{port}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program("prometheus"), f"--config.file={tmp_path / 'prometheus.yml'}", *options], stdout=log, stderr=log
        )
        try:
            yield outputs, f"http://127.0.0.1:{port}/api/v1/"
        finally:
            process.terminate()
            process.wait()
            outputs.close()


def answered(address: str, **query: str) -> Any:
    """What Prometheus says, None as long as it does not."""
    try:
        with urllib.request.urlopen(f"{address}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
            return json.load(answer)["data"]
    except OSError:
        return None


def awaited(address: str, wanted: str, enough: Callable[[Any], bool] = bool, **query: str) -> Any:
    """The same, once the wanted list is there and enough: by default, not empty."""
    for _ in range(600):
        found = answered(address, **query)
        if found and enough(found[wanted]):
            return found[wanted]
        time.sleep(0.1)
    raise AssertionError(f"Prometheus has no such answer for {query or address}: {found}")


def names(alerts: list[Any]) -> set[str]:
    return {each["labels"]["alertname"] for each in alerts}


@pytest.mark.slow
def test_a_real_prometheus_scrapes_it_answers_the_dashboard_and_fires_the_alerts(
    prometheus: tuple[Outputs, str],
) -> None:
    outputs, api = prometheus
    assert outputs.released is not None
    released = outputs.released.board.last
    assert released is not None
    for query in dashboard_queries("entropy_nats"):
        if OF_A_BUDGET not in query:
            (series,) = awaited(f"{api}query", "result", query=query)
            if query.startswith("stablesketch_entropy_nats{"):
                assert float(series["value"][1]) == released.values[0][0]
    groups = awaited(f"{api}rules", "groups")
    assert [rule["health"] for rule in groups[0]["rules"] if rule["health"] == "err"] == []
    expected = {"StablesketchDrop", "StablesketchSilent"}
    assert names(awaited(f"{api}alerts", "alerts", enough=lambda alerts: expected <= names(alerts))) == expected
