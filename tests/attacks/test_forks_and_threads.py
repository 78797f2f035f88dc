"""Forks that save, threads that save while others release: one secret has one value, and no fresh file is left."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest
from attack_tools import Forked, filled

import stablesketch as ss


def released_from(plan: ss.Plan, file: Path, blob: bytes) -> float:
    return ss.Collector.from_bytes(blob, ss.Secret.load(file)).release().value


def test_a_fork_that_saves(home: Path, plan: ss.Plan) -> None:
    """The child makes a file of the secret and releases from it; the parent releases from memory."""
    collector = filled(plan)
    blob = collector.to_bytes()

    def child() -> float:
        collector.secret.save(home / "key")
        return released_from(plan, home / "key", blob)

    said = Forked(child).says()
    collector.release()
    assert said.get("refused") == "SecretMissing", said
    assert "process that made it" in said["says"]
    assert not (home / "key").exists()


def test_a_fork_with_a_ledger_and_a_parent_without(home: Path, plan: ss.Plan) -> None:
    collector = filled(plan)
    ledger = ss.Ledger(home / "budget.db", epsilon=3.0, delta=1e-6)
    said = Forked(lambda: collector.release(ledger=ledger).value).says()
    assert said.get("refused") == "SecretMissing", said
    assert len(ledger) == 0
    collector.release()


def test_a_second_file_after_a_fork(home: Path, plan: ss.Plan) -> None:
    """The child releases from the first file and knows nothing of the second, which would stay fresh."""
    collector = filled(plan)
    collector.secret.save(home / "first")
    gate_out, gate_in = os.pipe()
    child = Forked(lambda: collector.release().value, gate=gate_out)
    with pytest.raises(ss.SecretFileError, match="fork"):
        collector.secret.save(home / "second")
    os.write(gate_in, b"x")
    assert "done" in child.says()
    assert not (home / "second").exists()
    with pytest.raises(ss.SecretSpent):
        collector.release()


def test_a_fork_may_collect_and_hand_back(plan: ss.Plan) -> None:
    """What workers of multiprocessing do: they count, and the parent merges and releases."""
    secret = ss.Secret.generate()
    here = filled(plan, secret, "parent")
    reading, writing = os.pipe()
    Forked(lambda: os.write(writing, filled(plan, secret, "child").to_bytes())).says()
    here.merge(ss.Collector.from_bytes(os.read(reading, 1 << 20), secret))
    here.release()


def test_a_fork_releases_from_a_file_that_was_there(home: Path, plan: ss.Plan) -> None:
    """The file decides: parent or child, whoever is first."""
    collector = filled(plan)
    collector.secret.save(home / "key")
    assert "done" in Forked(lambda: collector.release().value).says()
    with pytest.raises(ss.SecretSpent):
        collector.release()


def saved_while_released(plan: ss.Plan, folder: Path, number: int, *, twin: str = "", later: float = 0.0) -> str:
    """One thread saves, the other releases, some seconds later. What the saved file is afterwards."""
    collector = filled(plan)
    target = folder / f"key {number}"
    saving = collector.secret
    if twin == "merged":
        saving = ss.Secret.load(_saved(collector.secret, folder / f"first {number}"))
        collector.merge(filled(plan, saving, "other"))
    gate = threading.Barrier(2)

    def save() -> None:
        gate.wait()
        with contextlib.suppress(ss.SecretSpent, ss.SecretFileError):
            saving.save(target)

    thread = threading.Thread(target=save)
    thread.start()
    gate.wait()
    time.sleep(later)
    collector.release()
    thread.join()
    return "none" if not target.exists() else "spent" if ss.Secret.inspect(target).spent else "fresh"


def _saved(secret: ss.Secret, path: Path) -> Path:
    secret.save(path)
    return path


@pytest.mark.parametrize("twin", ["", "merged"])
def test_saving_while_another_thread_releases(home: Path, plan: ss.Plan, twin: str) -> None:
    left = [saved_while_released(plan, home, number, twin=twin) for number in range(40)]
    assert "fresh" not in left, left


def test_two_loads_of_one_file_know_each_others_files(home: Path, plan: ss.Plan) -> None:
    """The second object made another file, of which the first knows nothing: it is marked all the same."""
    ss.Secret.generate().save(home / "key")
    one, two = ss.Secret.load(home / "key"), ss.Secret.load(home / "key")
    two.save(home / "other")
    filled(plan, one).release()
    assert ss.Secret.inspect(home / "key").spent
    assert ss.Secret.inspect(home / "other").spent


def test_a_spent_file_is_not_copied_by_save(home: Path, plan: ss.Plan) -> None:
    """Another process released in the meantime: the file says so, and no fresh one is made."""
    ss.Secret.generate().save(home / "key")
    gate_out, gate_in = os.pipe()
    other = Forked(lambda: filled(plan, ss.Secret.load(home / "key")).release().value, gate=gate_out)
    stale = ss.Secret.load(home / "key")
    os.write(gate_in, b"x")
    assert "done" in other.says()
    with pytest.raises(ss.SecretSpent):
        stale.save(home / "other")
    assert not (home / "other").exists()
