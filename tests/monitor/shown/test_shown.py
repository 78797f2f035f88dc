"""What a monitor shows: metrics, the page's events, health, a text file; and which addresses it takes."""

from __future__ import annotations

import http.client
import json
import math
import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from monitor_tools import at, rows, run, watch
from prometheus_client.parser import text_string_to_metric_families
from prometheus_tools import promtool

import stablesketch as ss
from stablesketch import ArgumentError
from stablesketch.monitor import Monitor, Watch
from stablesketch.monitor.shown.alerts import Judge
from stablesketch.monitor.shown.board import Board
from stablesketch.monitor.shown.metrics import ExactMetrics, ReleasedMetrics, TextFile, exposed
from stablesketch.monitor.shown.outputs import ExactListener, Outputs, ReleasedListener, address
from stablesketch.monitor.state.records import note_record
from stablesketch.statistic import STATISTICS as STATISTICS_BY_NAME

STATISTICS = [ss.Shannon(), ss.Hill(0.5), ss.Profile([0.25, 2]), ss.Distinct(), ss.Moment(0.5), ss.Simpson()]
ASKED = watch(statistics=STATISTICS)


@pytest.fixture(scope="module")
def records() -> list[str]:
    """Two windows of a real monitor with six statistics."""
    found, _ = run(ASKED, [at(5, rows(1, 2, 3)), at(75, rows(61, key="b")), at(140)])
    return [json.dumps(each) for each in found[:2]]


def board(records: list[str], asked: Watch = ASKED, **limits: float) -> Board:
    return Board(asked, Judge(**limits), dict(enumerate(records, 1)))


def samples(text: bytes) -> dict[tuple[str, str], float]:
    return {
        (each.name, ",".join(each.labels.values())): each.value
        for family in text_string_to_metric_families(text.decode())
        for each in family.samples
    }


def test_every_number_has_its_metric(records: list[str]) -> None:
    found = samples(exposed(ReleasedMetrics(board(records)))[0])
    last = json.loads(records[-1])
    shannon, hill, profile, distinct, moment, simpson = last["releases"]
    for release, name, label in (
        (shannon, "entropy_nats", ""),
        (hill, "effective_keys", "0.5"),
        (profile["points"][0], "effective_keys", "0.25"),
        (profile["points"][1], "effective_keys", "2"),
        (distinct, "distinct_keys", ""),
        (moment, "moment", "0.5"),
        (simpson, "simpson", "index"),
    ):
        for end, field in (("", "value"), ("_low", "low"), ("_high", "high")):
            expected = math.inf if release[field] is None else release[field]
            assert found.pop((f"stablesketch_{name}{end}", label)) == expected, name
    assert found.pop(("stablesketch_build_info", ss.__version__)) == 1.0
    assert found.pop(("stablesketch_window_seconds", "")) == 60.0
    assert found.pop(("stablesketch_epsilon_spent", "")) == last["epsilon"]
    assert found.pop(("stablesketch_delta_spent", "")) == last["delta"]
    assert found.pop(("stablesketch_window_end_timestamp_seconds", "")) == 1_794_830_520
    assert found.pop(("stablesketch_few_rows", "")) == 1.0  # of one row
    assert found == {}  # nothing else: no count of rows, no processor time


def test_metrics_are_made_of_records_alone(records: list[str]) -> None:
    """The same releases, and another number of rows: the same bytes."""
    assert exposed(ReleasedMetrics(board(records))) == exposed(ReleasedMetrics(board(records)))
    assert all(b"private" not in exposed(ReleasedMetrics(board(each)))[0] for each in ([], records))


def test_what_people_have_spent_adds_up_and_is_never_less_than_it_is(records: list[str]) -> None:
    """Of a row it is the price of one window; somebody may be in all, and a note among the records counts as one."""
    content = json.loads(records[0]) | {"epsilon": 0.1, "delta": 1e-9}
    for protects, epsilon, sentence in (
        ("event", 0.1, "A single row costs at most ε = 0.1 and δ = 1e-09 in all, however long this runs."),
        (
            "person-window",
            0.7,
            "Somebody who was in every window so far has spent at most ε = 0.7001 and δ = 7.001e-09.",
        ),
    ):
        seen = board([], replace(ASKED, protect=protects))  # type: ignore[arg-type]
        seen(7, json.dumps(content | {"epsilon_left": 2.3}))
        found = samples(exposed(ReleasedMetrics(seen))[0])
        assert found["stablesketch_epsilon_spent", ""] >= epsilon
        assert found["stablesketch_epsilon_spent", ""] == pytest.approx(epsilon, rel=1e-15)
        assert found["stablesketch_delta_spent", ""] == pytest.approx(1e-8 * epsilon)
        assert found["stablesketch_epsilon_remaining", ""] == 2.3
        said = json.loads(seen.after(0, 0)[1])["budget"]
        assert said == f"{sentence} ε = 2.3 is left in the ledger."
        seen.budget = 4.0
        assert json.loads(seen.after(0, 0)[1])["budget"] == f"{sentence} ε = 2.3 of 4 is left in the ledger."
        assert samples(exposed(ReleasedMetrics(seen))[0])["stablesketch_epsilon_budget", ""] == 4.0


def test_before_the_first_window_there_is_no_value() -> None:
    found = samples(exposed(ReleasedMetrics(board([])))[0])
    assert {name for name, _ in found} == {"stablesketch_build_info", "stablesketch_window_seconds"}


def test_promtool_accepts_them(records: list[str]) -> None:
    _, monitor = run(watch(), [at(5, rows(1))])
    for metrics in (ReleasedMetrics(board(records * 4)), ExactMetrics(monitor)):
        promtool("check", "metrics", text=exposed(metrics)[0])


def test_a_fall_is_told_once_there_are_windows_to_compare_with(records: list[str]) -> None:
    seen = board([each.replace('"few_rows": true', '"few_rows": false') for each in records * 4])
    assert seen.last is not None
    assert seen.last.fall is not None
    assert samples(exposed(ReleasedMetrics(seen))[0])["stablesketch_fall_deviations", ""] == seen.last.fall.deviations


def test_the_page_gets_what_was_released_and_then_what_is(records: list[str]) -> None:
    seen = board([records[0], note_record("a", 2, 0, "the file was rotated")], below=99.0)
    number, text = seen.after(0, wait=0)
    content = json.loads(text)
    assert number == 2
    assert [each["note"] for each in content["notes"]] == ["the file was rotated"]
    (window,) = content["windows"]
    assert (window["start"], window["end"], window["alerts"]) == (1_794_830_400, 1_794_830_460, ["below"])
    assert len(window["values"]) == 7
    assert "entropy" in content["said"]
    assert seen.after(2, wait=0) == (2, "")
    seen(3, records[1])
    assert len(json.loads(seen.after(2, wait=0)[1])["windows"]) == 1


def test_what_is_beyond_all_floats_is_null_in_json_and_infinite_for_prometheus() -> None:
    found, _ = run(watch(), [at(5, rows(1))])
    found[0]["releases"][0]["high"] = None
    seen = board([json.dumps(found[0])], watch())
    assert json.loads(seen.after(0, 0)[1])["windows"][0]["values"][0][2] is None
    assert samples(exposed(ReleasedMetrics(seen))[0])["stablesketch_sum_high", ""] == math.inf


# --- addresses ---


@pytest.mark.parametrize(
    ("typed", "host", "port"),
    [("127.0.0.1:9464", "127.0.0.1", 9464), ("localhost:0", "127.0.0.1", 0), ("[::1]:80", "::1", 80),
     ("0.0.0.0:65535", "0.0.0.0", 65535)],
)  # fmt: skip
def test_addresses(typed: str, host: str, port: int) -> None:
    assert address("listen", typed) == (host, port)


@pytest.mark.parametrize(
    "typed", ["", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "example.org:80", "1.2.3.4:65536", "::1:80"]
)
def test_addresses_that_are_none(typed: str) -> None:
    with pytest.raises(ArgumentError, match="must be an IP address and a port"):
        address("listen", typed)


@pytest.mark.parametrize("typed", ["0.0.0.0:0", "192.168.1.1:9465", "[::]:0", "10.0.0.1:1"])
def test_exact_counts_stay_on_this_machine(typed: str) -> None:
    with pytest.raises(ArgumentError, match="must be on this machine"):
        ExactListener(typed)


def test_a_port_in_use_is_said_and_the_other_one_given_back() -> None:
    with ReleasedListener("127.0.0.1:0") as taken:
        used, free = f"127.0.0.1:{taken.server_port}", "127.0.0.1:0"
        for listen, private in ((used, None), (free, used)):
            with pytest.raises(ArgumentError, match="must be a free port"):
                Outputs(listen, private, None)


class Stand:
    """In the place of a monitor, at any health."""

    def __init__(self) -> None:
        self.alive, self.ready, self.lag = True, True, 2.5
        self.counters = {"rows": 7, "bad": 1, "late": 2, "early": 3}


@pytest.fixture
def served(records: list[str]) -> Iterator[tuple[Outputs, Stand, list[Any]]]:
    outputs, stand = Outputs("127.0.0.1:0", "127.0.0.1:0", None), Stand()
    sinks = outputs.sinks(ASKED, Judge(), dict(enumerate(records, 1)), print)
    outputs.begin(stand)  # type: ignore[arg-type]
    yield outputs, stand, sinks
    outputs.close()


def get(listener: Any, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", listener.server_port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_what_is_answered(served: tuple[Outputs, Stand, list[Any]]) -> None:
    outputs, stand, _ = served
    released = outputs.released
    assert get(released, "/metrics")[1].count("\nstablesketch_entropy_nats ") == 1
    assert "# EOF" in get(released, "/metrics", Accept="application/openmetrics-text; version=1.0.0")[1]
    assert get(released, "/healthz") == (200, "alive\n")
    assert get(released, "/readyz") == (200, "ready\n")
    stand.alive = stand.ready = False
    assert get(released, "/healthz")[0] == get(released, "/readyz")[0] == 503
    assert get(released, "/other")[0] == 404
    assert get(released, "http://[/", Host="a")[0] == 400
    status, page = get(released, "/?from=bookmark")
    assert (status, page.count("<h1>How varied are the values of k?</h1>")) == (200, 1)


@pytest.mark.parametrize("path", ["/", "/metrics", "/healthz", "/readyz", "/events"])
def test_probes_may_ask_for_the_headers_alone(served: tuple[Outputs, Stand, list[Any]], path: str) -> None:
    outputs, stand, _ = served
    assert get(outputs.released, path, "HEAD") == (200, "")
    stand.ready = False
    assert get(outputs.released, "/readyz", "HEAD") == (503, "")


def test_events_begin_with_all_windows_and_go_on(served: tuple[Outputs, Stand, list[Any]], records: list[str]) -> None:
    outputs, _, (seen,) = served
    connection = http.client.HTTPConnection("127.0.0.1", outputs.released.server_port, timeout=30)  # type: ignore[union-attr]
    connection.request("GET", "/events")
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    lines = (line for line in answer if line.startswith(b"data: "))
    assert len(json.loads(next(lines)[6:])["windows"]) == 2
    seen(9, records[1])
    assert len(json.loads(next(lines)[6:])["windows"]) == 1
    outputs.close()
    assert list(lines) == []  # it ends with the monitor


def test_exact_counts_are_apart_and_for_no_other_host(served: tuple[Outputs, Stand, list[Any]]) -> None:
    outputs, _, _ = served
    exact = outputs._exact
    found = samples(get(exact, "/metrics")[1].encode())
    assert {name.removeprefix("stablesketch_private_"): value for (name, _), value in found.items()} == {
        "rows_total": 7, "bad_rows_total": 1, "late_rows_total": 2, "early_rows_total": 3, "lag_seconds": 2.5,
    }  # fmt: skip
    for host in ("evil.example", f"evil.example:{exact.server_port}", "", "127.0.0.1.evil.example"):  # type: ignore[union-attr]
        assert get(exact, "/metrics", Host=host) == (403, "another host was asked for\n")
    assert get(exact, "/metrics", Host="[::1]:80")[0] == get(exact, "/metrics", Host="localhost")[0] == 200
    assert get(exact, "/")[0] == 404
    assert "private" not in get(outputs.released, "/metrics")[1]


def test_a_monitor_says_how_it_is(tmp_path: Path) -> None:
    """Ready while it reads and delivers, and not while a record cannot be delivered."""
    seen: list[tuple[bool, bool]] = []
    asked = watch()

    def sink(number: int, text: str) -> None:
        seen.append((monitor.alive, monitor.ready))
        if len(seen) == 1:
            raise OSError("no room")

    from stablesketch.monitor.state.state import MonitorState

    def source(*_: object) -> Iterator[Any]:
        yield at(5, rows(1))
        yield at(75)
        yield at(76)

    monitor = Monitor(asked, "test", source, MonitorState(None, asked.to_json()), [sink], replays=True,
                      clock=lambda: at(-15).now)  # fmt: skip
    assert (monitor.alive, monitor.ready) == (True, False)
    monitor.run()
    assert seen[:2] == [(True, True), (True, False)]
    assert not monitor.ready


# --- the text file ---


def test_the_text_file_is_whole_and_readable(records: list[str], tmp_path: Path) -> None:
    path, said = tmp_path / "stablesketch.prom", []
    seen = board([])
    sink = TextFile(path, ReleasedMetrics(seen), said.append)
    assert "entropy" not in path.read_text()
    seen(1, records[0])
    sink(1, records[0])
    assert path.read_bytes() == exposed(ReleasedMetrics(seen))[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()  # node_exporter is another user
    assert os.listdir(tmp_path) == ["stablesketch.prom"]
    shutil.rmtree(tmp_path)
    for _ in range(3):
        sink(2, records[1])
    tmp_path.mkdir()
    sink(3, records[1])
    assert len(said) == 1
    assert "stablesketch.prom cannot be written (No such file or directory)" in said[0]
    assert path.exists()


def _umask() -> int:
    os.umask(mask := os.umask(0))
    return mask


@pytest.mark.parametrize(("name", "said"), [("metrics.txt", "end in .prom"), ("none/a.prom", "cannot be written")])
def test_text_files_that_are_none(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        TextFile(tmp_path / name, ReleasedMetrics(board([])), print)


def test_every_statistic_has_a_metric_of_its_own() -> None:
    names = [kind.metric for kind in STATISTICS_BY_NAME.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z_]*[a-z]", name) and not name.endswith(("_low", "_high")) for name in names)
