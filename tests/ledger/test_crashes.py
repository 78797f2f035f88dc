"""Releasing processes that are killed (SIGKILL) at any moment, and several that race for one secret.

Children are forked, do the real release on real files, and write the value into a pipe: that is "printed". The parent
then looks at what is left, as the next process would. What must hold, whatever the moment:

- every value that was printed is in the ledger, and its secret is spent;
- what is in the ledger has its value there, and that is the value of the stream and the secret, bit for bit;
- the ledger is within its budget, and every record, page and composition of it is right;
- the secret file is fresh or spent, and nothing else; if it is spent, the ledger has it.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import pytest

import stablesketch as ss

BUDGET = 4.0


class Bench:
    """A folder with a ledger, and always one secret with a collector stored under it, ready to be released."""

    def __init__(self, folder: Path, plan: ss.Plan) -> None:
        folder.mkdir()
        self.folder, self.plan = folder, plan
        self.budget, self.secret, self.blob = (folder / name for name in ("budget.db", "secret.key", "collector.ssk"))
        self.printed: dict[str, float] = {}  # by the fingerprint of the secret, as are
        self.expected: dict[str, float] = {}  # what a release gives
        self.found = {"nothing": 0, "paid only": 0, "paid and spent": 0}
        self.renew_ledger()
        self.renew_secret()
        # Quantiles and distributions are computed once, here: children inherit them, and have only the release to do.
        plan.open().release()
        ss.Ledger(self.budget).preview(plan, times=12)

    def renew_ledger(self) -> None:
        for file in self.folder.glob("budget.db*"):
            file.unlink()
        ss.Ledger(self.budget, epsilon=BUDGET, delta=1e-6)
        self.printed.clear()

    def renew_secret(self) -> None:
        for file in (self.secret, self.blob):
            file.unlink(missing_ok=True)
        bits = secrets.token_bytes(32)
        secret = ss.Secret.from_bytes(bits)
        secret.save(self.secret)
        collector = self.plan.open(secret)
        collector.update(range(30))
        self.blob.write_bytes(collector.to_bytes())
        twin = ss.Collector.from_bytes(self.blob.read_bytes(), ss.Secret.from_bytes(bits))
        self.expected[secret.fingerprint.hex()] = twin.release().value

    def release(self) -> str:
        """What the killed process does, from its first file to its value."""
        secret = ss.Secret.load(self.secret)
        fingerprint = secret.fingerprint.hex()
        collector = ss.Collector.from_bytes(self.blob.read_bytes(), secret)
        release = collector.release(ledger=ss.Ledger(self.budget))
        return json.dumps({"fingerprint": fingerprint, "value": release.value})

    def saw(self, said: dict[str, Any]) -> None:
        """What a child printed."""
        assert said["fingerprint"] not in self.printed, "released twice"
        self.printed[said["fingerprint"]] = said["value"]

    def check(self) -> None:
        """After a child is gone: checks everything listed at the top of this file, then prepares the next one."""
        ledger = ss.Ledger(self.budget)
        recorded = {record.fingerprint for record in ledger.records()}
        assert self.printed.keys() <= recorded
        assert len(recorded) == len(ledger)
        assert ledger.spent() <= BUDGET * (1.0 + 1e-9)
        for record in ledger.records():  # what was paid for is there, whoever was killed
            published = ledger.published(record.number)
            assert published is not None
            release = ss.Release.from_json(published)
            assert release.record == record.number
            assert record.fingerprint is not None
            assert release.value == self.expected[record.fingerprint]
            assert release.value == self.printed.get(record.fingerprint, release.value)
        about = ss.Secret.inspect(self.secret)  # an error if the file is neither fresh nor spent
        if about.spent or about.fingerprint in self.printed:
            assert about.spent
            assert about.fingerprint in recorded
        paid = about.fingerprint in recorded
        self.found["paid and spent" if about.spent else "paid only" if paid else "nothing"] += 1
        left = {file.name for file in self.folder.iterdir()}
        beside = {".secret.key.spent", ".secret.key.spent-", "budget.db-wal", "budget.db-shm"}
        assert left - beside == {"budget.db", "secret.key", "collector.ssk"}
        if paid:
            if not about.spent:  # paid, and killed before the file was marked: the ledger refuses it
                with pytest.raises(ss.SecretSpent):
                    self.release()
                assert len(ss.Ledger(self.budget)) == len(recorded)
            self.renew_secret()
        if len(recorded) >= 12:
            ledger.verify()
            self.renew_ledger()


def child_of(work: Callable[[int], None]) -> tuple[int, int]:
    """(process, pipe) of a fork that does the work with the other end of the pipe."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(writing)
        except ss.StablesketchError as error:
            os.write(writing, json.dumps({"refused": type(error).__name__}).encode())
        except BaseException as error:
            os.write(writing, json.dumps({"broken": repr(error)}).encode())
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def printed_by(child: int, reading: int) -> dict[str, Any]:
    """What the child wrote before it was gone."""
    os.waitpid(child, 0)
    said = os.read(reading, 4096)
    os.close(reading)
    found: dict[str, Any] = json.loads(said) if said else {}
    assert "broken" not in found, found
    return found


class Killable(Protocol):
    """Something to release, whose process is killed, and what must hold then."""

    def release(self) -> str: ...

    def saw(self, said: dict[str, Any]) -> None: ...

    def check(self) -> None: ...


def killed_at_random(bench: Killable, times: int, seed: int) -> dict[str, int]:
    """`times` releases, each killed after a time drawn over the whole length of a release and a little more."""
    rng = random.Random(seed)
    length, counted = 0.0, {"printed": 0, "killed": 0, "refused": 0}
    for number in range(times):
        child, reading = child_of(lambda pipe: os.write(pipe, bench.release().encode()) and None)
        began = time.monotonic()
        wait = rng.uniform(0.0, 1.2 * length) if number >= 5 else None  # the first ones show how long it takes
        select.select([reading], [], [], wait)  # or until it has printed, if that is sooner
        os.kill(child, signal.SIGKILL)
        took = time.monotonic() - began
        said = printed_by(child, reading)
        if "value" in said:
            counted["printed"] += 1
            bench.saw(said)
            length += (0.1 if length else 1.0) * (took - length)
        else:
            counted["refused" if said else "killed"] += 1
            length *= 1.005  # it may have become slower
        bench.check()
    return counted


def test_killed_at_random_moments(tmp_path: Path, plan: ss.Plan) -> None:
    counted = killed_at_random(Bench(tmp_path / "bench", plan), 40, seed=1)
    assert counted["killed"] >= 15
    assert counted["printed"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("half", range(2))
def test_killed_five_hundred_times(tmp_path: Path, plan: ss.Plan, half: int) -> None:
    """In two tests of 250, so that they can run beside each other. Killed counts what had not printed its value.

    Every call to the system has its own kill below; tests/attacks/long_run.py kills for as long as one likes.
    """
    bench = Bench(tmp_path / "bench", plan)
    killed, rounds = 0, 0
    while killed < 250:
        killed += killed_at_random(bench, 50, seed=1000 * (half + 1) + rounds)["killed"]
        rounds += 1
        assert rounds < 40
    print(f"{killed} killed; left behind: {bench.found}")
    assert min(bench.found.values()) >= 5


# --- at every call to the system ---


class Trap:
    """Counts calls into the system's files, locks and database within this process, and kills it at one of them."""

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("c_call", "c_return"):
            return
        owner = getattr(argument, "__self__", None)
        name = getattr(owner, "__name__", type(owner).__name__)
        if name in ("posix", "fcntl", "Connection", "Cursor", "_sqlite3"):
            self.seen += 1
            if self.seen == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def trapped(bench: Bench, at: int, pipe: int) -> None:
    trap = Trap(at)
    sys.setprofile(trap)
    try:
        said = bench.release()
    finally:
        sys.setprofile(None)
    os.write(pipe, json.dumps({**json.loads(said), "calls": trap.seen}).encode())


def calls_of_a_release(bench: Bench) -> int:
    """The most of several: how many compositions there are to do depends on how many releases there were before."""
    calls = 0
    for _ in range(4):
        said = printed_by(*child_of(lambda pipe: trapped(bench, 0, pipe)))
        bench.saw(said)
        bench.check()
        calls = max(calls, int(said["calls"]))
    return calls


def test_killed_before_and_after_every_call_to_the_system(tmp_path: Path, plan: ss.Plan) -> None:
    """Not at random: at each of the calls a release makes to files, locks and database, on its way in and out.

    The fast test takes every ninth, the slow one all.
    """
    bench = Bench(tmp_path / "bench", plan)
    kill_at(bench, range(1, calls_of_a_release(bench), 9))


@pytest.mark.slow
def test_killed_at_all_of_them(tmp_path: Path, plan: ss.Plan) -> None:
    bench = Bench(tmp_path / "bench", plan)
    kill_at(bench, range(1, calls_of_a_release(bench) + 1))


def kill_at(bench: Bench, moments: range) -> None:
    assert len(moments) > 20
    bench.found = dict.fromkeys(bench.found, 0)
    for at in moments:
        said = printed_by(*child_of(lambda pipe, at=at: trapped(bench, at, pipe)))  # type: ignore[misc]
        if "value" in said:
            bench.saw(said)
        bench.check()
    assert min(bench.found.values()) >= 1  # before the commit, between the commit and the mark, and after it


# --- several at once ---


def race(bench: Bench, processes: int, work: Callable[[], str]) -> list[dict[str, Any]]:
    """All children wait at a gate; it is opened when they are all there."""
    gate_out, gate_in = os.pipe()

    def run(pipe: int) -> None:
        os.read(gate_out, 1)
        os.write(pipe, work().encode())

    children = [child_of(run) for _ in range(processes)]
    os.write(gate_in, b"x" * processes)
    said = [printed_by(*child) for child in children]
    os.close(gate_in)
    os.close(gate_out)
    return said


def check_race(bench: Bench, processes: int, rounds: int) -> None:
    for _ in range(rounds):
        said = race(bench, processes, bench.release)
        winners = [one for one in said if "value" in one]
        assert len(winners) == 1, said
        assert [one["refused"] for one in said if "value" not in one] == ["SecretSpent"] * (processes - 1)
        bench.saw(winners[0])
        bench.check()


@pytest.mark.parametrize("processes", [2, 4])
def test_of_several_processes_with_one_secret_exactly_one_wins(tmp_path: Path, plan: ss.Plan, processes: int) -> None:
    check_race(Bench(tmp_path / "bench", plan), processes, rounds=8)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_of_several_processes_with_one_secret_exactly_one_wins_always(
    tmp_path: Path, plan: ss.Plan, processes: int
) -> None:
    check_race(Bench(tmp_path / "bench", plan), processes, rounds=60)


@pytest.mark.parametrize("processes", [2, 4])
def test_without_a_ledger_the_file_decides(tmp_path: Path, plan: ss.Plan, processes: int) -> None:
    bench = Bench(tmp_path / "bench", plan)

    def release() -> str:
        collector = ss.Collector.from_bytes(bench.blob.read_bytes(), ss.Secret.load(bench.secret))
        return json.dumps({"value": collector.release().value})

    for _ in range(8):
        said = race(bench, processes, release)
        assert sum("value" in one for one in said) == 1, said
        assert ss.Secret.inspect(bench.secret).spent
        bench.renew_secret()


def test_copies_of_one_secret_race_for_the_ledger(tmp_path: Path, plan: ss.Plan) -> None:
    """Each has its own copy of the file, so that only the ledger knows: exactly one wins."""
    bench = Bench(tmp_path / "bench", plan)
    bits, blob = bytes(range(32)), b""
    collector = plan.open(ss.Secret.from_bytes(bits))
    collector.update(range(30))
    blob = collector.to_bytes()

    def release() -> str:
        copy = tmp_path / f"copy {os.getpid()}"
        ss.Secret.from_bytes(bits).save(copy)
        restored = ss.Collector.from_bytes(blob, ss.Secret.load(copy))
        return json.dumps({"value": restored.release(ledger=ss.Ledger(bench.budget)).value})

    said = race(bench, 4, release)
    assert sum("value" in one for one in said) == 1, said
    assert len(ss.Ledger(bench.budget)) == 1


def test_many_processes_share_a_budget(tmp_path: Path, exact: ss.Plan) -> None:
    """Six processes with secrets of their own and room for 25 releases of ε = 0.1: never a 26th."""
    budget = tmp_path / "budget.db"
    ss.Ledger(budget, epsilon=2.5, delta=1e-12)

    def work(pipe: int) -> None:
        ledger, done = ss.Ledger(budget), 0
        try:
            while True:
                collector = exact.open()
                collector.release(ledger=ledger)
                done += 1
        except ss.BudgetExceeded:
            os.write(pipe, json.dumps({"done": done}).encode())

    children = [child_of(work) for _ in range(6)]
    done = [printed_by(*child)["done"] for child in children]
    ledger = ss.Ledger(budget)
    assert sum(done) == len(ledger) == 25
    assert ledger.spent() <= 2.5 * (1.0 + 1e-9)
    ledger.verify()


# --- an ingest that is killed ---


def ingest(folder: Path, plan: ss.Plan, batches: int) -> None:
    """Reads a source of numbered batches, with a checkpoint after each; continues from the last one."""
    secret = ss.Secret.load(folder / "secret.key")
    try:
        collector = ss.Collector.resume(folder / "state", secret)
    except ss.CheckpointError:
        collector = plan.open(secret, shard="only")
        collector.checkpoint(folder / "state", offset=0)
    while collector.offset < batches:
        number = collector.offset
        collector.update(range(number * 7, number * 7 + 20))
        collector.checkpoint(folder / "state", offset=number + 1)


def killed_ingest(tmp_path: Path, plan: ss.Plan, batches: int, seed: int) -> int:
    secret = ss.Secret.generate()
    secret.save(tmp_path / "secret.key")
    rng, kills, patience, reached = random.Random(seed), 0, 0.03, 0
    while True:
        child, reading = child_of(lambda pipe: (ingest(tmp_path, plan, batches), os.write(pipe, b"{}"))[0])
        ready, _, _ = select.select([reading], [], [], rng.uniform(0.0, patience))
        os.kill(child, signal.SIGKILL)
        done = bool(ready) and printed_by(child, reading) == {}
        if not ready:
            printed_by(child, reading)
        resumed = ss.Collector.resume(tmp_path / "state", secret) if (tmp_path / "state").exists() else None
        if resumed is not None and resumed.offset == batches:
            break
        if resumed is None or resumed.offset == reached:
            patience *= 1.1  # on a busy machine it would otherwise be killed before it does anything, again and again
        else:
            if resumed.offset - reached > batches // 40:
                patience *= 0.8  # on a fast one it would otherwise be done after a few kills
            reached = resumed.offset
        kills += 1
        assert kills < 5_000
        assert not done or resumed is not None
    whole = plan.open(ss.Secret.load(tmp_path / "secret.key"), shard="only")
    for number in range(batches):
        whole.update(range(number * 7, number * 7 + 20))
    assert resumed.to_bytes() == whole.to_bytes()  # every pair once, byte for byte
    return kills


def test_a_killed_ingest_counts_every_pair_once(tmp_path: Path, plan: ss.Plan) -> None:
    assert killed_ingest(tmp_path, plan, batches=40, seed=3) >= 2


@pytest.mark.slow
def test_a_killed_ingest_counts_every_pair_once_at_length(tmp_path: Path, plan: ss.Plan) -> None:
    assert killed_ingest(tmp_path, plan, batches=400, seed=4) >= 25
