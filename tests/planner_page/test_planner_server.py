"""The server of the planner page: this machine, this token, and what the library says."""

from __future__ import annotations

import json
import math
import shlex
import socket
import struct
import threading
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest
from served import served

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.planner_page import PlannerServer
from stablesketch.planner_page.answer import answer
from stablesketch.statistic import STATISTICS, Statistic
from stablesketch.text.spoken import at_most

ASKED = {
    "statistic": "moment", "p": "0.5", "mechanism": "sketch", "relation": "replace", "people": "no", "groups": "none",
    "public_groups": "3", "groups_per_person": "2", "pairs_per_person": "1", "max_value": "1", "epsilon": "1",
    "delta": "1e-6", "memory": "65536", "pairs": "10000",
}  # fmt: skip
PEOPLE = {"people": "yes", "relation": "add_remove", "pairs_per_person": "5"}
SITUATIONS = {
    "one number": {},
    "exact": {"mechanism": "exact"},
    "bare": {"mechanism": "bare"},
    "values": {"max_value": "16"},
    "people": PEOPLE,
    "private names": {"groups": "private", "relation": "add_remove"},
    "people and public names": {"groups": "public", **PEOPLE},
}


def asked_of(kind: type[Statistic], **changed: str) -> dict[str, str]:
    own = {one.option.name: one.choices[0] if one.choices else one.default or "0.5" for one in kind.arguments}
    common = {name: text for name, text in ASKED.items() if name != "p"}
    return {**common, "statistic": kind.name, **own, **changed}


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
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, relation="replace"), memory=65536)
    exact = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, relation="replace"), mechanism="exact")
    assert (told["table"], told["bytes"], told["shares"]) == (str(plan), plan.bytes, "")
    assert told["price"] == f"ε = {at_most(plan.epsilon)}, δ = {at_most(plan.delta, 3)}"
    assert told["error"] == mechanism_of(plan).error_in_words(plan)
    assert told["errors"] == {  # F_0.5 of 10,000 pairs is 10,000 if all keys differ, and 100 if there is one
        "sketch": pytest.approx(math.hypot(plan.error, 2**0.5 * plan.noise / 10_000.0)),
        "exact": pytest.approx(exact.error / 10_000.0),
        "sketch_of_one_key": pytest.approx(math.hypot(plan.worst_error, 2**0.5 * plan.noise / 100.0)),
        "exact_of_one_key": pytest.approx(exact.error / 100.0),
    }


def test_the_page_offers_every_statistic_with_its_options(server: PlannerServer) -> None:
    page = get(server, f"/?token={server.token}")[1]
    for kind in STATISTICS.values():
        assert (f">{kind.name}</option>" in page) == kind.on_command_line
        for argument in kind.arguments if kind.on_command_line else ():
            assert f'id="{kind.name}-{argument.option.name}"' in page
    assert "by the paper" not in page


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", [name for name, kind in STATISTICS.items() if kind.on_command_line])
def test_every_command_that_is_shown_works(
    name: str, situation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is run, on data, and costs what the page says; where there is no such release, the page says why."""
    monkeypatch.chdir(tmp_path)
    told = answer(asked_of(STATISTICS[name], **SITUATIONS[situation]))
    if "problem" in told:
        assert situation == "bare" or STATISTICS[name].of_people
        return
    rows = [f"{i % 40},{1 + i % 3},{i % 3},{i % 90}" for i in range(0 if situation == "bare" else 600)]
    if situation == "bare":  # which was promised 10,000
        rows = [f"{i % 700},1,{i % 3},{i % 90}" for i in range(10_000)]
    if STATISTICS[name].of_people:
        rows = [f"{i},{1 + i % 3 if situation == 'values' else 1},0,{i}" for i in range(10_000)]
    Path("data.csv").write_text("\n".join(["key,value,group,person", *rows]) + "\n")
    Path("groups.txt").write_text("0\n1\n2\n")
    capsys.readouterr()
    assert run([*shlex.split(told["command"])[1:], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    for one in shown if isinstance(shown, list) else [shown]:
        assert told["price"] == f"ε = {at_most(one['epsilon'])}, δ = {at_most(one['delta'], 3)}"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"p": "3"}, "got 3.0"),
        ({"p": "many"}, "must be a number"),
        ({"p": "nan"}, "got nan"),
        ({"pairs": "1.5"}, "must be a whole number"),
        ({"memory": "3"}, "got 3"),
        ({"statistic": "mean"}, "must be a known statistic"),
        ({"mechanism": "other"}, "got 'other'"),
        ({"groups": "public", "public_groups": "0"}, "must not be empty"),
        ({"relation": "other"}, "must be 'replace' or 'add_remove'"),
        ({"epsilon": "0"}, "epsilon"),
        ({"pairs": "-1"}, "got -1"),
        ({"extra": "1"}, "must have all fields and no others"),
    ],
)
def test_what_cannot_be_planned_is_said(changed: dict[str, str], said: str) -> None:
    assert said in answer({**ASKED, **changed})["problem"]


def test_a_guess_of_the_length_changes_nothing_of_the_plan() -> None:
    told, other = answer(ASKED), answer({**ASKED, "pairs": "0"})
    assert {name for name in told if told[name] != other[name]} == {"errors"}
    assert other["errors"] == {}


def test_shares_of_the_price_are_told() -> None:
    told = answer({**ASKED, **SITUATIONS["private names"]})
    assert told["shares"].startswith("ε = 0.1, δ = 1e-07 to choose the names of the groups; ε = 0.9")


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
