"""Threads that share an object: the races of tests/shared/races.py, and the moments at which one could slip between.

The latter are forced: one thread is stopped in the middle of what it does until another is done.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable
from operator import xor
from pathlib import Path

import pyarrow as pa
import pytest
from races import RACES, at_once, busy, filled, plan, secret

import stablesketch as ss
from stablesketch.engines import secret_from
from stablesketch.engines.secret_from import SecretFrom, TheSecret
from stablesketch.mechanism.shared.state import SketchState
from stablesketch.secret import bits as secret_bits
from stablesketch.secret import file as secret_file
from stablesketch.sketch import workers


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.__name__)
def test_race(race: Callable[[int], None]) -> None:
    with busy():
        race(4)


def elsewhere(call: Callable[[], object], seconds: float = 60.0) -> threading.Thread:
    """Runs it in another thread, and waits for it at most so long."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    return thread


def test_bits_that_are_overwritten_while_a_key_is_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key would be one of zeros, which anybody can derive: there is none."""
    own, begun = secret(), threading.Event()
    wiping: list[threading.Thread] = []

    def slow(a: int, b: int) -> int:
        if not begun.is_set():
            begun.set()
            wiping.append(elsewhere(own._wipe, 0.3))
        return xor(a, b)

    monkeypatch.setattr(secret_bits, "xor", slow)
    for _ in range(2):
        with pytest.raises(ss.SecretSpent):
            own.derive("noise")
    wiping[0].join(60)


def test_an_interruption_while_a_key_is_derived_stops_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a lock would that the interrupted thread leaves held."""
    own, right = secret(), secret().derive("noise")

    def interrupted(a: int, b: int) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(secret_bits, "xor", interrupted)
        with pytest.raises(KeyboardInterrupt):
            own.derive("noise")
    found: list[bytes] = []
    elsewhere(lambda: found.append(own.derive("noise"))).join(60)
    assert found == [right]


def test_bits_that_were_overwritten_just_before(monkeypatch: pytest.MonkeyPatch) -> None:
    own = secret()
    living = type(own)._living

    def then_wiped(self: ss.Secret) -> secret_bits.Bits:
        found = living(self)
        self._wipe()
        return found

    monkeypatch.setattr(ss.Secret, "_living", then_wiped)
    for ask in (lambda: own.derive("noise"), lambda: own.derive_secret("one release")):
        with pytest.raises(ss.SecretSpent):
            ask()


def test_a_secret_that_is_released_while_its_twin_is_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two objects with the same bits: of all collectors under them one releases, whoever was faster."""
    one, two = secret(), secret()
    whole, part, third = (filled(plan("sketch"), [1], own, name) for own, name in ((one, "a"), (two, "b"), (two, "c")))
    merge, released = SketchState.merge, []

    def slow(self: SketchState, other: SketchState) -> None:
        elsewhere(lambda: released.append(third.release()))
        merge(self, other)

    monkeypatch.setattr(SketchState, "merge", slow)
    whole.merge(part)
    assert len(released) == 1
    with pytest.raises(ss.SecretSpent):
        whole.release()


def test_a_secret_that_is_being_released_gets_no_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = secret(), secret()
    whole, part, third = (filled(plan("sketch"), [1], own, name) for own, name in ((one, "a"), (two, "b"), (two, "c")))
    claimed, go_on, released = threading.Event(), threading.Event(), []
    measure = SketchState.release

    def slow(self: SketchState, terms: object) -> ss.Release:
        claimed.set()
        go_on.wait(60)
        return measure(self, terms)  # type: ignore[arg-type]

    monkeypatch.setattr(SketchState, "release", slow)
    thread = threading.Thread(target=lambda: released.append(third.release()))
    thread.start()
    assert claimed.wait(60)
    before = whole.to_bytes()
    with pytest.raises(ss.SecretSpent):
        whole.merge(part)
    assert whole.to_bytes() == before
    go_on.set()
    thread.join()
    assert len(released) == 1


def test_a_collector_whose_release_is_paid_is_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is in the ledger: another of the same noise would tell the difference."""
    secret().save(tmp_path / "key")
    one, two = (ss.Secret.load(tmp_path / "key") for _ in range(2))
    whole, part = filled(plan("sketch"), [0], one, "a"), filled(plan("sketch"), [1], two, "b")
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=9, delta=1e-6)

    def fails(self: secret_file.Spending) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(secret_file.Spending, "mark", fails)
        with pytest.raises(ss.SecretFileError, match="not charged again"):
            part.release(ledger=ledger)
    with pytest.raises(ss.SecretSpent, match="paid for but not finished"):
        whole.merge(part)


def test_looking_at_a_collector_that_is_being_released(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, spent, looked = filled(plan("exact"), [1]), ss.Secret.spent, threading.Event()

    def slow(self: ss.Secret) -> bool:
        found = bool(spent.fget(self))  # type: ignore[attr-defined]
        if not looked.is_set():
            looked.set()
            elsewhere(shared.release)
        return found

    monkeypatch.setattr(ss.Secret, "spent", property(slow))
    assert shared.pairs == 200
    with pytest.raises(ss.ReleasedAlready):
        _ = shared.pairs


def test_two_workers_of_one_pipeline_release_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both look whether it was released before either has written that it was."""
    meet = threading.Barrier(2)

    class Slow(set):  # type: ignore[type-arg]
        def __contains__(self, name: object) -> bool:
            found = super().__contains__(name)
            with contextlib.suppress(threading.BrokenBarrierError):
                meet.wait(0.3)
            return found

    monkeypatch.setattr(secret_from, "_released", Slow())
    own = TheSecret(SecretFrom.this_process(), "once")
    outcomes = at_once([lambda: own.spend(("FR",))] * 2)
    assert sorted(type(one).__name__ for one in outcomes) == ["Secret", "SecretSpent"]


def test_keys_that_look_at_the_sketch_that_reads_them() -> None:
    sketch = ss.Sketch(0.5, 4, secret(), law="symmetric")
    before, seen = sketch.to_bytes(), []

    class Keys:
        def __arrow_c_stream__(self, requested: object = None) -> object:
            seen.append(sketch.to_bytes())
            return pa.chunked_array([["a", "b"]]).__arrow_c_stream__(requested)

    assert at_once([lambda: sketch.update(Keys())]) == [None]
    assert seen == [before]
    assert sketch.pairs == 2


def test_chunks_are_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 6000
    with busy():
        monkeypatch.setattr(workers, "CHUNK", 3)
        for _ in range(5):
            begins: list[list[int]] = []

            def start(_: int, begins: list[list[int]] = begins) -> Callable[[int, int], None]:
                own: list[int] = []
                begins.append(own)
                return lambda begin, _: own.append(begin)

            workers.share(rows, 4, start)
            assert sorted(itertools.chain.from_iterable(begins)) == list(range(0, rows, 3))
