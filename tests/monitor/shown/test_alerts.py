"""Alerts: which values are one, and where they go."""

from __future__ import annotations

import json
import os
import random
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from stablesketch import ArgumentError
from stablesketch.monitor.shown.alerts import Alerts, Judge, alert_in_words
from stablesketch.monitor.shown.messengers import Post, command, json_lines, webhook
from stablesketch.monitor.state.records import WINDOW, note_record


def record(number: int, value: float, error: float = 0.01, **more: object) -> str:
    """The record of a window whose 95% interval is 1.96 errors on both sides."""
    limits = {"low": value - 1.959964 * error, "high": value + 1.959964 * error, "confidence": 0.95}
    release = {"statistic": "Shannon entropy", "value": value, **limits, **more}
    return json.dumps({"format": WINDOW, "number": number, "start": "a", "end": "b", "releases": [release]})


def alerts_of(values: list[float], *, error: float = 0.01, **limits: float) -> list[int]:
    """The numbers of the windows that are alerts."""
    found: list[int] = []
    alerts = Alerts(lambda text: found.append(json.loads(text)["number"]), Judge(**limits))
    for number, value in enumerate(values):
        alerts(number, record(number, value, error))
    return found


def test_below_is_every_window_below() -> None:
    assert alerts_of([5.0, 4.9, 5.1, 3.0], below=5.0) == [1, 3]


def test_a_drop_is_one_against_the_windows_before() -> None:
    draw = random.Random("drop")
    calm = [draw.gauss(5.0, 0.01) for _ in range(100)]
    assert alerts_of([*calm, 4.8, 4.8, *calm[:5]], drop=6.0) == [100, 101]


def test_neither_noise_nor_the_usual_ups_and_downs_are_drops() -> None:
    """A value that is 4.8 where 5 is usual: not where releases err by 0.1, nor where values vary by 0.1."""
    draw = random.Random("noise")
    assert alerts_of([5.0] * 50 + [4.8], error=0.1, drop=3.0) == []
    assert alerts_of([draw.gauss(5.0, 0.1) for _ in range(100)] + [4.8], drop=6.0) == []
    assert alerts_of([5.0] * 50 + [4.8], drop=3.0) == [50]


@pytest.mark.parametrize(
    ("error", "drop", "least", "most"), [(0.01, 3, 500, 1700), (0.001, 3, 210, 420), (0.001, 4, 1400, 40_000)]
)
def test_false_alarms_are_as_rare_as_the_page_says(error: float, drop: float, least: int, most: int) -> None:
    """One in so many of 40,000 calm windows, where noise is all of the variation or nearly none. Under another seed the
    counts have standard deviations of 7, 12 and 3.6 around 52, 142 and 13: it would fail with probability 1e-4."""
    draw = random.Random("calm")
    calm = [draw.gauss(5.0, 0.01) for _ in range(40_000)]
    found = alerts_of(calm, error=error, drop=drop)
    assert least <= len(calm) / len(found) <= most


def test_the_first_windows_and_a_rise_are_no_drops() -> None:
    assert alerts_of([5.0, 5.0, 5.0, 5.0, 1.0], drop=3.0) == []
    assert alerts_of([5.0] * 10 + [9.0], drop=3.0) == []


def test_after_a_restart_the_windows_before_are_known() -> None:
    before = {number: record(number, 5.0) for number in range(10)} | {10: note_record("one", 10, 0, "started again")}
    found: list[str] = []
    Alerts(found.append, Judge(drop=3.0), before)(11, record(11, 4.0))
    (alert,) = map(json.loads, found)
    assert (alert["alert"], alert["median"], alert["value"]) == ("drop", 5.0, 4.0)
    assert alert_in_words(found[0]) == (
        "alert: a: Shannon entropy = 4 is 100.0 deviations below the median of the windows before, 5"
    )


def test_a_stopped_feed_is_one_alert_that_says_so_and_is_no_usual_window() -> None:
    """Rows stop for 40 windows; then they come again, and an attack is still a drop against the windows before."""
    found: list[str] = []
    alerts = Alerts(found.append, Judge(drop=3.0))
    for number in range(10):
        alerts(number, record(number, 5.0))
    for number in range(10, 50):
        alerts(number, json.dumps(json.loads(record(number, 0.0)) | {"few_rows": True}))
    alerts(50, record(50, 5.0))
    alerts(51, record(51, 3.0))
    stopped, attack = map(json.loads, found)
    assert (stopped["number"], stopped["few_rows"]) == (10, True)
    assert alert_in_words(found[0]) == (
        "alert: a: few or no rows: the input may have stopped. Shannon entropy = 0 is 500.0 deviations below the "
        "median of the windows before, 5"
    )
    assert (attack["number"], attack["median"]) == (51, 5.0)
    assert "few_rows" not in attack


def test_a_value_beyond_all_floats_is_no_alert() -> None:
    found: list[str] = []
    alerts = Alerts(found.append, Judge(below=5.0, drop=3.0))
    beyond = record(0, 9.0, high=None).replace('"value": 9.0', '"value": null')
    for number in range(20):
        alerts(number, beyond if number % 3 else record(number, 7.0, high=None))
    assert found == []


@pytest.mark.parametrize("limits", [{"drop": 0.0}, {"drop": -3.0}, {"drop": float("nan")}, {"below": float("inf")}])
def test_limits_that_are_none(limits: dict[str, float]) -> None:
    with pytest.raises(ArgumentError, match="must be"):
        Judge(**limits)


@pytest.fixture
def hook() -> Iterator[tuple[str, list[bytes]]]:
    """A webhook on this machine; it refuses what has the word "refuse" in it."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(500 if b"refuse" in got[-1] else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/token", got
    server.shutdown()
    server.server_close()


def test_alerts_go_everywhere_and_one_that_fails_stops_none(tmp_path: Path, hook: tuple[str, list[bytes]]) -> None:
    address, got = hook
    script = tmp_path / "take it"
    script.write_text(
        f"#!{sys.executable}\nimport sys; open({str(tmp_path / 'ran')!r}, 'ab').write(sys.stdin.buffer.read())\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    said: list[str] = []
    ways = [command("false"), webhook(address), command("/no/such/command"), json_lines(tmp_path / "alerts.jsonl")]
    post = Post([*ways, command(f"'{script}' now"), webhook("http://127.0.0.1:1/token")], said.append)
    for text in ("one", "refuse two"):
        post(text)
    post.close()
    assert got == [b"one", b"refuse two"]
    assert (tmp_path / "alerts.jsonl").read_text() == (tmp_path / "ran").read_text() == "one\nrefuse two\n"
    assert [each.removeprefix("an alert could not be delivered: ") for each in said] == [
        "false ended with code 1",
        "[Errno 2] No such file or directory: '/no/such/command'",
        "the webhook does not answer",
        "false ended with code 1",
        "the webhook answered 500",
        "[Errno 2] No such file or directory: '/no/such/command'",
        "the webhook does not answer",
    ]
    assert "token" not in " ".join(said)


def test_ways_that_are_none(tmp_path: Path) -> None:
    for make, said in (
        (lambda: command("mail 'ops"), "must be a command"),
        (lambda: command(" "), "must not be empty"),
        (lambda: webhook("ftp://secret-token"), "begins with http"),
        (lambda: json_lines(tmp_path / "none" / "alerts"), "cannot be written"),
    ):
        with pytest.raises(ArgumentError, match=said) as caught:
            make()
        assert "secret-token" not in str(caught.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "address",
    ["https://", "https:///hook?secret-token", "https://a b/secret-token", "https://a/\nsecret-token",
     "https://ä/secret-token", "https://a:x/secret-token", "https://[a/secret-token"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ArgumentError, match="printable ASCII") as caught:
        webhook(address)
    assert "secret-token" not in str(caught.value) + repr(caught.value.value)


@pytest.mark.parametrize("answer", [b"garbage\r\n\r\n", b"HTTP/1.1 302 X\r\nLocation: /secret-token\r\n\r\n", b""])
def test_an_answer_that_is_none_does_not_end_the_thread_nor_show_the_token(
    answer: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    """A traceback of a thread has the address in it, and the alerts after it would never be delivered."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(2):
                with server.accept()[0] as connection:
                    connection.recv(1 << 16)
                    connection.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        said: list[str] = []
        post = Post([webhook(f"http://127.0.0.1:{server.getsockname()[1]}/secret-token")], said.append)
        post("one")
        post("two")
        post.close()
        serving.join()
    assert len(said) == 2
    assert "secret-token" not in "".join(said) + "".join(capfd.readouterr())


def test_no_messenger_ends_the_thread(capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever goes wrong, and even if nobody can be told, the next alert is delivered."""
    said, got = [], []

    def broken(alert: str) -> None:
        raise ValueError(f"secret-token {alert}")

    def say(text: str) -> None:
        said.append(text)
        raise BrokenPipeError

    post = Post([broken, got.append], say)
    post("one")
    post("two")
    post.close()
    assert got == ["one", "two"]
    assert said == ["an alert could not be delivered: unexpected ValueError"] * 2
    assert "secret-token" not in "".join(capfd.readouterr())
