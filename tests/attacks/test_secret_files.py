"""Files of secrets with two names, met twice, or that cannot be replaced: one release, and nothing paid for nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from attack_tools import NOBODY, Forked, attribute, filled, hand_over, mounted

import stablesketch as ss
from stablesketch.secret import file as secret_file


@pytest.fixture
def key(home: Path) -> Path:
    ss.Secret.generate().save(home / "key")
    return home / "key"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ss.Ledger]:
    """In a folder of its own: it is the secret that is attacked."""
    (tmp_path / "books").mkdir()
    return ss.Ledger(tmp_path / "books" / "budget.db", epsilon=3.0, delta=1e-6)


def finishes(release: object, seconds: float = 20.0) -> list[object]:
    """What came of a call that must not wait for itself: its value or its error."""
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(release())  # type: ignore[operator]
        except ss.StablesketchError as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcome, "it waits for itself"
    return outcome


# --- two names ---


def test_a_hard_link_is_refused(home: Path, key: Path, plan: ss.Plan) -> None:
    early = filled(plan, ss.Secret.load(key))
    os.link(key, home / "link")
    for name in (key, home / "link"):
        with pytest.raises(ss.SecretFileError, match="2 names"):
            ss.Secret.load(name)
    with pytest.raises(ss.SecretFileError, match="2 names"):
        early.release()
    (home / "link").unlink()
    early.release()


def test_a_read_only_file_with_a_link_as_an_ordinary_user(home: Path, key: Path, plan: ss.Plan) -> None:
    """It cannot be overwritten, so that the second name kept the bits: both released."""
    if os.geteuid() != 0:
        pytest.skip("SKIPPED ATTACK: becoming another user takes root")
    key.chmod(0o400)
    os.link(key, home / "link")
    hand_over(home)

    def attack() -> int:
        done = 0
        for name in (key, home / "link"):
            try:
                filled(plan, ss.Secret.load(name)).release()
                done += 1
            except ss.StablesketchError:
                pass
        return done

    assert Forked(attack, user=NOBODY).says()["done"] <= 1


def test_a_read_only_file_is_overwritten_too(home: Path, key: Path, plan: ss.Plan) -> None:
    key.chmod(0o400)
    with open(key, "rb") as old:
        filled(plan, ss.Secret.load(key)).release()
        assert set(old.read()) == {0}


def test_what_a_killed_save_left_is_no_second_name(home: Path, key: Path, plan: ss.Plan) -> None:
    """Killed between the new name and the end of the temporary one, which is then taken away."""
    os.link(key, home / ".key-x7f3")
    filled(plan, ss.Secret.load(key)).release()
    assert [file.name for file in home.iterdir()] == ["key"]


# --- met twice ---


def test_two_loads_by_two_names_merged(home: Path, key: Path, plan: ss.Plan) -> None:
    total = filled(plan, ss.Secret.load(key), "a")
    (home / "folder").symlink_to(home)
    total.merge(filled(plan, ss.Secret.load(home / "folder" / "key"), "b"))
    assert isinstance(finishes(total.release)[0], ss.Release)
    assert ss.Secret.inspect(key).spent


def test_two_loads_through_two_mounts_merged(tmp_path: Path, home: Path, key: Path, plan: ss.Plan) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with mounted("--bind", home, inside):
        total = filled(plan, ss.Secret.load(key), "a")
        total.merge(filled(plan, ss.Secret.load(inside / "key"), "b"))
        assert isinstance(finishes(total.release)[0], ss.Release)
    assert ss.Secret.inspect(key).spent


def test_groups_of_two_loads_released_together(key: Path, plan: ss.Plan) -> None:
    groups = [filled(plan, ss.Secret.load(key).child(name)) for name in ("FR", "DE")]
    (releases,) = finishes(lambda: ss.release_all(groups))
    assert isinstance(releases, list)
    assert ss.Secret.inspect(key).spent


def test_a_file_that_another_holds_is_not_waited_for_without_end(
    key: Path, plan: ss.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stablesketch.files.durable._WAIT", 0.1)
    collector = filled(plan, ss.Secret.load(key))
    with (
        secret_file.fresh(key, collector.secret._bits),
        pytest.raises(ss.SecretFileError, match=r"part of this one\. Try"),
    ):
        collector.release()
    collector.release()


# --- files that cannot be replaced ---

OBSTACLES = {"file +i": ("i", "key"), "folder +a": ("a", "."), "folder +i": ("i", ".")}


@pytest.mark.parametrize("name", [*OBSTACLES, "mounted alone", "mounted read-only"])
def test_what_cannot_be_marked_is_not_paid(
    name: str, tmp_path: Path, home: Path, key: Path, plan: ss.Plan, ledger: ss.Ledger
) -> None:
    place = home
    obstacle: AbstractContextManager[None]
    if name in OBSTACLES:
        flag, what = OBSTACLES[name]
        obstacle = attribute(flag, home / what)
    elif name == "mounted alone":
        place = tmp_path / "inside"
        place.mkdir()
        (place / "key").touch()
        obstacle = mounted("--bind", key, place / "key")
    else:
        obstacle = mounted("-t", "tmpfs", "-o", "ro", "tmpfs", home)
    collector = None if name.startswith("mounted") else filled(plan, ss.Secret.load(key))
    if name == "mounted read-only":  # loaded before, and then the disk became read-only
        collector = filled(plan, ss.Secret.load(key))
    with obstacle, pytest.raises(ss.SecretFileError):
        (collector or filled(plan, ss.Secret.load(place / "key"))).release(ledger=ledger)
    assert len(ledger) == 0
    assert [file.name for file in home.iterdir()] == ["key"]
    (collector or filled(plan, ss.Secret.load(key))).release(ledger=ledger)
    assert len(ledger) == 1


def test_what_was_paid_can_be_finished(
    key: Path, plan: ss.Plan, ledger: ss.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder becomes unchangeable between the payment and the mark: as no test beforehand could know."""
    monkeypatch.setattr(secret_file, "_PAUSES", (0.0, 0.01))
    collector = filled(plan, ss.Secret.load(key))
    entered = ss.Ledger.enter

    def obstructed(self: ss.Ledger, entries: object, published: object) -> object:
        records = entered(self, entries, published)  # type: ignore[arg-type]
        obstacle.__enter__()
        return records

    obstacle = attribute("i", key.parent)
    monkeypatch.setattr(ss.Ledger, "enter", obstructed)
    try:
        with pytest.raises(ss.SecretFileError, match="not charged again"):
            collector.release(ledger=ledger, label="week 1")
    finally:
        obstacle.__exit__(None, None, None)
    monkeypatch.undo()
    assert len(ledger) == 1
    with pytest.raises(ss.SecretFileError, match="paid"):
        collector.secret.save(key.with_name("other"))
    for wrong in ({}, {"ledger": ledger, "label": "week 2"}):
        with pytest.raises(ss.SecretSpent, match="which is not finished yet"):
            collector.release(**wrong)  # type: ignore[arg-type]
    release = collector.release(ledger=ledger, label="week 1")
    assert len(ledger) == 1
    assert ledger.published(1) == release.to_json()  # the value that was recorded when it was paid
    assert ss.Secret.inspect(key).spent
    with pytest.raises(ss.ReleasedAlready):
        collector.release(ledger=ledger, label="week 1")


def test_of_two_files_one_cannot_be_marked(home: Path, plan: ss.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is marked by then: the release is begun, and can be finished once the second can be marked."""
    monkeypatch.setattr(secret_file, "_PAUSES", (0.0,))
    (home / "a").mkdir()
    (home / "b").mkdir()
    secret = ss.Secret.generate()
    secret.save(home / "a" / "key")
    secret.save(home / "b" / "key")
    collector = filled(plan, secret)
    marked = secret_file.Spending.mark
    obstacle = attribute("i", home / "b")

    def then_obstructed(self: secret_file.Spending) -> None:
        marked(self)
        if self.path.parent.name == "a":
            obstacle.__enter__()

    monkeypatch.setattr(secret_file.Spending, "mark", then_obstructed)
    try:
        with pytest.raises(ss.SecretFileError, match="call release again"):
            collector.release()
    finally:
        obstacle.__exit__(None, None, None)
    collector.release()
    assert all(ss.Secret.inspect(home / name / "key").spent for name in ("a", "b"))
