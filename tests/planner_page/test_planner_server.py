"""The server of the planner page: this machine, this token, and what the library says."""

from __future__ import annotations

import json
import socket
import struct
import threading
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest
from served import served

import stablesketch as ss
from stablesketch.planner_page import PlannerServer
from stablesketch.planner_page.answer import answer

ASKED = {
    "p": "0.5", "pairs": "10000", "max_value": "1", "epsilon": "1", "delta": "1e-6", "size": "50",
    "relation": "replace", "pairs_per_person": "1",
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[PlannerServer]:
    with served() as server:
        yield server


def get(server: PlannerServer, path: str, host: str | None = None) -> tuple[int, str, dict[str, str]]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    response = connection.getresponse()
    found = response.status, response.read().decode(), dict(response.getheaders())
    connection.close()
    return found


def test_it_listens_on_this_machine_alone(server: PlannerServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.url.startswith(f"http://127.0.0.1:{server.server_port}/?token=")


def test_the_page_is_there_with_the_token(server: PlannerServer) -> None:
    status, text, headers = get(server, f"/?token={server.token}")
    assert status == 200
    assert "Plan a private release" in text
    assert server.token not in text  # saved pages do not have it
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/plan", "/plan?token=x&p=0.5", "/?token=%ff%fe"])
def test_nothing_without_the_token(server: PlannerServer, path: str) -> None:
    status, text, _ = get(server, path)
    assert status == 403
    assert server.token not in text


def test_nothing_for_another_host(server: PlannerServer) -> None:
    """A page of another site whose name was made to lead to this machine cannot ask, even with the token."""
    assert get(server, f"/?token={server.token}", host="evil.example")[0] == 403
    assert get(server, f"/?token={server.token}", host=f"localhost:{server.server_port}")[0] == 200


def test_other_pages_and_long_requests(server: PlannerServer) -> None:
    assert get(server, f"/other?token={server.token}")[0] == 404
    assert get(server, f"/plan?token={server.token}&x={'y' * 3_000}")[0] == 414


def test_a_plan_is_what_the_library_says(server: PlannerServer) -> None:
    status, text, _ = get(server, "/plan?" + urlencode({**ASKED, "token": server.token}))
    assert status == 200
    told = json.loads(text)
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, relation="replace"), size=50)
    assert (told["error"], told["epsilon"], told["noise"], told["bytes"], told["size"]) == (
        plan.error,
        plan.epsilon,
        plan.noise,
        plan.bytes,
        50,
    )
    assert told["deviation"] == pytest.approx(2**0.5 * plan.noise)
    assert told["exact_deviation"] == plan.exact_error == pytest.approx(2**0.5)
    assert told["least"] == 100.0
    assert told["table"] == str(plan)
    assert told["paper_epsilon"] == pytest.approx(ss.paper.epsilon(10_000, 2**20, 1, 0.5, 50))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"p": "3"}, "p = 3.0"),
        ({"p": "many"}, "not a number"),
        ({"p": "nan"}, "p = nan"),
        ({"pairs": "1.5"}, "not a whole number"),
        ({"size": "3"}, "between 5 and 4,194,304"),
        ({"relation": "other"}, "no such relation"),
        ({"epsilon": "0"}, "epsilon"),
        ({"pairs": "-1"}, "pairs = -1"),
        ({"extra": "1"}, "unknown"),
    ],
)
def test_what_cannot_be_planned_is_said(changed: dict[str, str], said: str) -> None:
    assert said in answer({**ASKED, **changed})["problem"]


def test_the_paper_is_silent_where_its_theorems_are() -> None:
    for changed in ({"p": "1"}, {"pairs_per_person": "2"}, {"pairs": "0"}):
        assert answer({**ASKED, **changed})["paper_epsilon"] is None
    assert answer({**ASKED, "relation": "add_remove"})["paper_epsilon"] == answer(ASKED)["paper_epsilon"]


def test_a_guess_of_the_length_changes_nothing_of_the_plan() -> None:
    told, other = answer(ASKED), answer({**ASKED, "pairs": "0"})
    assert {name for name in told if told[name] != other[name]} == {"least", "paper_epsilon"}


def test_the_total_is_a_counter() -> None:
    told = answer({**ASKED, "p": "1", "relation": "add_remove"})
    assert (told["size"], told["error"], told["noise"]) == (0, 0.0, 1.0)
    assert "--size" not in told["command"]


def test_tokens_are_fresh_and_a_taken_port_is_named(server: PlannerServer) -> None:
    with PlannerServer() as other:
        assert other.token != server.token
        assert len(other.token) >= 43  # 256 bits
    with pytest.raises(ss.ArgumentError, match=str(server.server_port)):
        PlannerServer(server.server_port)
    with pytest.raises(ss.ArgumentError, match="65535"):
        PlannerServer(70_000)


def test_requests_are_not_logged(server: PlannerServer, capfd: pytest.CaptureFixture[str]) -> None:
    get(server, f"/?token={server.token}")
    assert capfd.readouterr() == ("", "")


def test_a_browser_that_leaves_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    """Connections reset before the answer, in the middle of the question, and without one."""
    with PlannerServer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            for asked in (
                f"GET /?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n",
                "GE",
                "",
            ):
                with socket.create_connection(("127.0.0.1", server.server_port)) as client:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset at close
                    client.sendall(asked.encode())
            with urllib.request.urlopen(server.url, timeout=30) as answered:  # it still answers others
                assert answered.status == 200
        finally:
            server.shutdown()
            thread.join()
    assert capfd.readouterr().err == ""


def test_other_errors_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with PlannerServer() as server:
        for error, shown in ((BrokenPipeError(), False), (ConnectionResetError(), False), (KeyError("x"), True)):
            try:
                raise error
            except (OSError, KeyError):
                server.handle_error(None, ("127.0.0.1", 1))
            assert bool(capfd.readouterr().err) is shown


@pytest.mark.parametrize(("p", "entries"), [("0.5", 19_968), ("0.9", 20_000), ("1", 0), ("1.5", 10_000), ("2", 10_000)])
def test_where_the_sliders_begin_there_is_a_plan_of_every_order(p: str, entries: int) -> None:
    """20,000 entries: in buckets below order 1, none for the total, and as many as there may be above."""
    told = answer({**ASKED, "p": p, "size": "20000"})
    assert "problem" not in told
    assert told["size"] == entries
