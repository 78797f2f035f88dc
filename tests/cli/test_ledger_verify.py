"""`ledger verify`: an auditor who kept a head can tell a copy, a rollback and an edit."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from cli_helpers import SMALL, Shell, Shown

from stablesketch.ledger import composition
from stablesketch.ledger.rows import Budget, Head


def released(shell: Shell, file: str = "budget.db") -> None:
    shown = shell("release", "events.csv", "--key", "app", *SMALL, "--ledger", file)
    assert shown.code == 0, shown.err


def head_of(shell: Shell, file: str = "budget.db") -> str:
    return str(json.loads(shell("ledger", "show", file, "--json").out)["head"])


def verified(shell: Shell, file: str, head: str) -> Shown:
    composition.forget()
    return shell("ledger", "verify", file, "--head", head)


@pytest.fixture
def heads(shell: Shell) -> list[str]:
    """The head before, between and after two releases."""
    assert shell("ledger", "new", "budget.db", "--epsilon", "9").code == 0
    found = [head_of(shell)]
    for _ in range(2):
        released(shell)
        found.append(head_of(shell))
    return found


def test_the_head_to_keep_is_printed_and_every_later_state_goes_on_from_it(shell: Shell, heads: list[str]) -> None:
    shown = shell("ledger", "show", "budget.db")
    assert heads[2] in shown.out.replace("\n", "").replace(" ", "")
    assert "ledger verify budget.db --head" in " ".join(shown.err.split())
    for head in heads:
        assert verified(shell, "budget.db", head).code == 0
    plain = shell("ledger", "verify", "budget.db")
    assert plain.code == 0
    assert "2 releases" in plain.err
    assert "--head" in plain.err
    assert shell("ledger", "verify", "budget.db", "--head", "7").code == 2


def test_a_ledger_that_was_rolled_back(shell: Shell, heads: list[str]) -> None:
    shutil.copy("budget.db", "old.db")
    released(shell)
    late = head_of(shell)
    shutil.copy("old.db", "budget.db")
    for beside in Path().glob("budget.db-*"):
        beside.unlink()
    assert shell("ledger", "verify", "budget.db").code == 0  # it agrees with itself: nothing in it can know
    told = verified(shell, "budget.db", late)
    assert told.code == 5
    assert "rolled back" in told.err
    assert verified(shell, "budget.db", heads[2]).code == 0


def test_a_copy_that_went_its_own_way(shell: Shell, heads: list[str]) -> None:
    shutil.copy("budget.db", "copy.db")
    released(shell)
    released(shell, "copy.db")
    assert verified(shell, "copy.db", heads[2]).code == 0  # both go on from there
    told = verified(shell, "copy.db", head_of(shell))
    assert told.code == 5
    assert "rolled back or replaced" in told.err


def rewritten(connection: sqlite3.Connection, path: Path) -> None:
    """Somebody who knows the source removes the last release, and corrects every checksum."""
    connection.execute("DELETE FROM releases WHERE number = 2")
    head, (row,) = Head.read(connection, path), Budget.read_all(connection, path)
    head.releases = row.releases = 1
    (head.chain,) = connection.execute("SELECT chain FROM releases WHERE number = 1").fetchone()
    head.write(connection)
    row.write(connection)


def relabelled(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("UPDATE releases SET label = 'x' WHERE number = 1")


@pytest.mark.parametrize("edit", [rewritten, relabelled])
def test_a_ledger_that_was_edited(shell: Shell, heads: list[str], edit: object) -> None:
    with sqlite3.connect("budget.db") as connection:
        edit(connection, Path("budget.db"))  # type: ignore[operator]
    connection.close()
    assert verified(shell, "budget.db", heads[2]).code == 5
