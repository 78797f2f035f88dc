"""One release per secret: in memory, in a file, among copies, forks, shards and stored collectors."""

from __future__ import annotations

import io
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

import stablesketch as ss
from stablesketch.secret import file as secret_file
from stablesketch.secret.file import SecretFile

BITS = bytes(range(32))


@pytest.fixture(scope="module")
def plan() -> ss.Plan:
    return ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-8, 0, max_value=9, relation="replace"), size=12, mechanism="bare")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stream.secret"


def filled(plan: ss.Plan, secret: ss.Secret | None = None, shard: str | None = None) -> ss.Collector:
    collector = plan.open(secret, shard)
    collector.update(range(20))
    return collector


# --- in memory ---


def test_a_release_destroys_the_secret(plan: ss.Plan) -> None:
    secret = ss.Secret.generate()
    fingerprint, bits = secret.fingerprint, secret._bits
    assert not secret.spent
    filled(plan, secret).release()
    assert secret.spent
    assert not bits  # overwritten, and gone
    assert secret.fingerprint == fingerprint  # public, and still known
    uses: list[Callable[[], object]] = [
        lambda: secret.derive("anything"),
        lambda: plan.open(secret),
        lambda: ss.Sketch(0.5, 5, secret, law="symmetric"),
        lambda: secret.child("group"),
        lambda: secret.save("nowhere"),
    ]
    for use in uses:
        with pytest.raises(ss.SecretSpent, match="has already been used for its one release"):
            use()
    assert not os.path.exists("nowhere")


def test_everything_under_the_secret_is_closed(plan: ss.Plan) -> None:
    """The hole that one release per collector leaves: restored blobs, and shards that were never merged."""
    secret = ss.Secret.generate()
    first, other = filled(plan, secret), filled(plan, secret)
    blob = other.to_bytes()
    first.release()
    attempts: list[Callable[[], object]] = [
        other.release,
        lambda: other.update(["more"]),
        other.to_bytes,
        lambda: other.merge(filled(plan)),
        lambda: ss.Collector.from_bytes(blob, secret),
    ]
    for attempt in attempts:
        with pytest.raises(ss.SecretSpent):
            attempt()
    with pytest.raises(ss.ReleasedAlready):
        first.release()


def test_a_refused_release_spends_nothing(plan: ss.Plan) -> None:
    long = ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-8, 1_000, relation="replace"), size=12, mechanism="bare")
    secret = ss.Secret.generate()
    collector = filled(long, secret)
    with pytest.raises(ss.StreamTooShort):
        collector.release()
    with pytest.raises(ss.ArgumentError):
        collector.release(confidence=2.0)
    assert not secret.spent
    collector.update(range(1_000))
    collector.release()
    assert secret.spent


def test_of_many_threads_one_releases(plan: ss.Plan) -> None:
    filled(plan).release()  # what is computed once is computed
    for _ in range(5):
        secret = ss.Secret.generate()
        collectors = [filled(plan, secret) for _ in range(8)]
        gate, outcomes = threading.Barrier(8), []

        def run(collector: ss.Collector, gate: threading.Barrier = gate, outcomes: list[str] = outcomes) -> None:
            gate.wait()
            try:
                collector.release()
                outcomes.append("released")
            except ss.SecretSpent:
                outcomes.append("refused")

        threads = [threading.Thread(target=run, args=(collector,)) for collector in collectors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert sorted(outcomes) == ["refused"] * 7 + ["released"]


def test_a_fork_does_not_release_what_the_parent_may(plan: ss.Plan) -> None:
    """A secret without a file has nobody to remember it: only the process that made it releases."""
    secret = ss.Secret.generate()
    collector = filled(plan, secret)
    filled(plan).release()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            collector.release()
        except ss.SecretMissing as error:
            status = 0 if "this process is a fork" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    collector.release()


# --- in a file ---


def test_the_file_is_marked_and_the_bits_are_gone(plan: ss.Plan, path: Path) -> None:
    secret = ss.Secret.from_bytes(BITS)
    secret.save(path)
    assert ss.Secret.inspect(path) == SecretFile(secret.fingerprint.hex(), False, None)
    filled(plan, secret).release()
    about = ss.Secret.inspect(path)
    assert (about.fingerprint, about.spent) == (secret.fingerprint.hex(), True)
    assert about.time is not None
    assert BITS.hex() not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ss.SecretSpent, match=r"already used for its one release at .* Collect again"):
        ss.Secret.load(path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_old_file_holds_nothing(plan: ss.Plan, path: Path) -> None:
    """The old file is overwritten as well as replaced: who has it open reads zeros."""
    ss.Secret.from_bytes(BITS).save(path)
    with open(path, "rb") as old:
        filled(plan, ss.Secret.load(path)).release()
        assert set(old.read()) == {0}


def test_all_files_that_a_secret_was_saved_to_are_marked(plan: ss.Plan, tmp_path: Path) -> None:
    secret = ss.Secret.generate()
    for name in ("a", "b"):
        secret.save(tmp_path / name)
    filled(plan, secret).release()
    assert all(ss.Secret.inspect(tmp_path / name).spent for name in ("a", "b"))


def test_two_objects_of_one_file(plan: ss.Plan, path: Path) -> None:
    ss.Secret.generate().save(path)
    first, second = (filled(plan, ss.Secret.load(path)) for _ in range(2))
    first.release()
    with pytest.raises(ss.SecretSpent):
        second.release()


def test_a_merged_shard_brings_its_file(plan: ss.Plan, path: Path) -> None:
    """One shard was opened from bits, the other from the file: the release marks the file all the same."""
    ss.Secret.from_bytes(BITS).save(path)
    loaded = ss.Secret.load(path)
    total = filled(plan, ss.Secret.from_bytes(BITS), shard="a")
    total.merge(filled(plan, loaded, shard="b"))
    total.release()
    assert ss.Secret.inspect(path).spent
    assert loaded.spent


def test_through_a_symbolic_link_the_file_itself_is_marked(plan: ss.Plan, path: Path) -> None:
    ss.Secret.generate().save(path)
    link = path.with_name("link")
    link.symlink_to(path)
    filled(plan, ss.Secret.load(link)).release()
    assert link.is_symlink()
    assert ss.Secret.inspect(path).spent


def test_another_folder_than_at_the_time_of_loading(
    plan: ss.Plan, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ss.Secret.generate().save("here")
    secret = ss.Secret.load("here")
    monkeypatch.chdir("/")
    filled(plan, secret).release()
    assert ss.Secret.inspect(tmp_path / "here").spent


TROUBLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (lambda path: path.unlink(), "No such file"),
    "another secret": (lambda path: (path.unlink(), ss.Secret.generate().save(path)), "holds a different secret"),
    "readable by others": (lambda path: path.chmod(0o644), "others may have read it"),
    "damaged": (lambda path: path.write_text(path.read_text().replace("0", "1")), "damaged"),
    "something else": (lambda path: path.write_text("hello"), "not a stablesketch secret file"),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_a_file_that_cannot_be_marked_releases_nothing(plan: ss.Plan, path: Path, name: str) -> None:
    change, says = TROUBLE[name]
    ss.Secret.from_bytes(BITS).save(path)
    content = path.read_bytes()
    collector = filled(plan, ss.Secret.load(path))
    change(path)
    with pytest.raises(ss.SecretFileError, match=says):
        collector.release()
    assert not collector.secret.spent
    path.write_bytes(content)  # put right again, it releases
    path.chmod(0o600)
    collector.release()
    assert ss.Secret.inspect(path).spent


def test_a_leftover_of_a_killed_process_does_not_matter(plan: ss.Plan, path: Path) -> None:
    ss.Secret.generate().save(path)
    path.with_name(f".{path.name}.spent").write_text("half")
    filled(plan, ss.Secret.load(path)).release()
    assert ss.Secret.inspect(path).spent
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_spent_while_it_is_read_is_spent(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and reading, another process puts the spent file in its place and wipes the old one."""
    ss.Secret.generate().save(path)
    bits = secret_file.read(path).bits
    assert bits is not None
    opened = 0

    def spent_meanwhile(name: Path, mode: str) -> BinaryIO:
        nonlocal opened
        opened += 1
        file = io.open(name, mode)  # noqa: SIM115, UP020  # the one that is not replaced
        if opened == 1:
            monkeypatch.delattr(secret_file, "open")
            with secret_file.ready_to_spend(path, bits) as spending:
                spending.mark()
        return file  # type: ignore[return-value]

    monkeypatch.setattr(secret_file, "open", spent_meanwhile, raising=False)
    assert secret_file.read(path).about.spent


def test_a_damaged_spent_file_is_damaged(plan: ss.Plan, path: Path) -> None:
    secret = ss.Secret.generate()
    secret.save(path)
    filled(plan, secret).release()
    text = path.read_text()
    for bad in (text[:-3], text + "\n", text.replace(text.split("\n")[1], "0" * 16)):
        path.write_text(bad)
        with pytest.raises(ss.SecretFileError, match="damaged"):
            ss.Secret.load(path)


# --- groups ---


def test_children_are_independent_secrets_and_go_together(plan: ss.Plan, path: Path) -> None:
    ss.Secret.from_bytes(BITS).save(path)
    parent = ss.Secret.load(path)
    fr, de = parent.child("FR"), parent.child("DE")
    assert fr != de
    assert len({fr.fingerprint, de.fingerprint, parent.fingerprint}) == 3
    assert ss.Secret.from_bytes(BITS).child("FR") == fr  # derived, so that every shard has the same
    releases = ss.release_all([filled(plan, fr), filled(plan, de)])
    assert len(releases) == 2
    assert ss.Secret.inspect(path).spent
    for secret in (parent, fr, de):
        assert secret.spent
    with pytest.raises(ss.SecretSpent):
        parent.child("NO")


def test_one_child_spends_them_all(plan: ss.Plan) -> None:
    parent = ss.Secret.generate()
    first, second = filled(plan, parent.child("a")), filled(plan, parent.child("b"))
    first.release()
    with pytest.raises(ss.SecretSpent):
        second.release()


def test_wrong_ways_to_release_together(plan: ss.Plan) -> None:
    secret = ss.Secret.generate()
    one, same = filled(plan, secret), filled(plan, secret)
    with pytest.raises(ss.ArgumentError, match="Merge shards"):
        ss.release_all([one, same])
    with pytest.raises(ss.ArgumentError, match="must all be different"):
        ss.release_all([one, one])
    with pytest.raises(ss.ArgumentError, match=r"len\(labels\) must .*got 2"):
        ss.release_all([one], labels=["", ""])
    assert ss.release_all([]) == []
    for name in ("", 7, "\ud800"):
        with pytest.raises(ss.ArgumentError):
            secret.child(name)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="Save its parent"):
        secret.child("x").save("nowhere")
    one.release()
