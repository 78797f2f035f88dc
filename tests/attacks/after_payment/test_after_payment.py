"""Everything that can go wrong around a payment, at every step of the command: record and words agree.

The rule, for every fault but SIGKILL: either the ledger has no record, the exit code is not 0, nothing was shown and no
file is left; or it has one, and the user has the value (on standard output, on standard error, or in the file of
-o), is told the number of the record, and the exit code is 0 if and only if all that was asked for is there. After
SIGKILL a record may be there without a value, never a value without a record, and files are whole or absent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from paid_commands import DATA, STORED

Inject = Callable[..., dict[str, Any]]

KEPT = ["-o", "o.json"]
DRAWN = [*KEPT, "--plot", "p.svg", "--report", "r.html"]
MANY = [
    *DATA[:-2],
    "--mechanism",
    "exact",
    "--by",
    "country",
    "--groups",
    "g.txt",
]  # quick, so that it can be run often
FOUND = [*DATA, "--value", "n", "--max-value", "auto"]


def values_in(text: str) -> list[dict[str, Any]]:
    """The releases that stand in a text as JSON, in one line."""
    found: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith(("{", "[{")):
            content = json.loads(line)
            found += content if isinstance(content, list) else [content]
    return found


def check(one: dict[str, Any], wanted: set[str], fault: str) -> str:
    """Holds one run to the rule; says which case it was."""
    told = (
        f"step {one['at']} ({one['step']}): exit code {one['code']}\n{one['out']}\n{one['err']}\n{one['files'].keys()}"
    )
    killed = fault == "SIGKILL" and one["code"] == -9
    stored = {name: text for name, text in one["files"].items() if not name.startswith(".")}
    assert stored.keys() <= wanted, told
    if "o.json" in stored:
        assert values_in(stored["o.json"]), told
    if not one["records"]:
        assert one["code"] != 0, told
        assert one["out"] == "", told
        assert not stored, told
        assert not one["spent"], told
        assert killed or not one["files"], told
        assert "paid" not in one["err"].replace("being paid", ""), told
        assert "charged" not in one["err"], told
        return "nothing"
    assert len(one["records"]) == 1, told
    if killed:
        return "killed"
    assert one["files"] == stored, told  # no stray file
    if one["code"] == 0:
        assert "F_0.5" in one["out"], told
        assert stored.keys() == wanted, told
        return "done"
    assert one["code"] == 7, told
    assert "release 1 of the ledger budget.db" in one["err"], told
    if "No value was shown" in one["err"]:
        assert one["out"] == "", told
        assert not stored, told
        return "told"
    released = values_in(one["err"]) or values_in(one["out"])
    assert released, told
    assert all(value["record"] == 1 for value in released), told
    assert "Traceback" not in one["err"], told
    return "not stored"


def checked(found: dict[str, Any]) -> dict[str, Counter[str]]:
    counted = {}
    for fault, runs in found.items():
        wanted = set(runs["whole"]["files"])
        assert check({**runs["whole"], "step": "none"}, wanted, "") == "done"
        counted[fault] = Counter(check(one, wanted, fault) for one in runs["results"])
    return counted


def test_of_record_and_words_at_some_steps(inject: Inject) -> None:
    """At every n-th; all of them in the slow tests."""
    found = checked(inject([*STORED, *KEPT], ENOSPC=4, SIGINT=37, SIGTERM=71, SIGKILL=67))
    assert found["ENOSPC"]["not stored"] >= 2  # standard output, and the steps of the file
    assert found["SIGINT"].keys() == found["SIGTERM"].keys() == {"nothing", "done"}
    assert found["SIGKILL"].keys() == {"nothing", "killed"}


@pytest.mark.slow
def test_a_write_that_fails_at_every_step(inject: Inject) -> None:
    found = checked(inject([*STORED, *DRAWN], ENOSPC=1, EACCES=5, EROFS=5))
    assert found["ENOSPC"]["nothing"] >= 3  # opening each file, and room for it: before the payment
    assert found["ENOSPC"]["not stored"] >= 10


@pytest.mark.slow
def test_a_signal_at_every_step(inject: Inject) -> None:
    found = checked(inject([*STORED, *KEPT], SIGINT=1, SIGTERM=7, SIGHUP=11, SIGKILL=5))
    assert found["SIGINT"].keys() == found["SIGTERM"].keys() == found["SIGHUP"].keys() == {"nothing", "done"}
    assert found["SIGINT"]["done"] >= 50
    assert found["SIGKILL"].keys() == {"nothing", "killed"}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [DATA, MANY], ids=["data", "groups"])
def test_a_signal_while_data_are_read_and_released(inject: Inject, arguments: list[str]) -> None:
    found = checked(inject([*arguments, *KEPT], SIGINT=17, SIGTERM=53, SIGKILL=53))
    assert found["SIGINT"].keys() == {"nothing", "done"}
    assert found["SIGKILL"].keys() == {"nothing", "killed"}


@pytest.mark.slow
def test_a_max_value_is_paid_for_with_what_it_was_found_for(inject: Inject) -> None:
    """The data are read twice before anything is paid: whoever stops that has spent nothing."""
    found = checked(inject(FOUND, SIGINT=11))
    assert found["SIGINT"].keys() == {"nothing", "done"}
