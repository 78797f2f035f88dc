"""Races: threads that do to one object at once whatever can be done to it. Each compares with what one thread gives.

`RACES` has them all; every one takes a number of threads. The tests run them on whatever Python there is
(tests/attacks/test_races.py), and tests/native/race.py again and again under the thread sanitizer. On a Python with an
interpreter lock threads take turns between bytecodes, so less can happen, but the same must come out.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import stablesketch as ss
from stablesketch._native import MOST_TABLES, table, tables_held
from stablesketch.sketch import workers
from stablesketch.sketch.distinct import DistinctRegisters
from stablesketch.sketch.entry_law import EntryLaw

BATCHES: list[tuple[object, object]] = [
    (np.arange(300, dtype=np.int64) % 70, None),
    ([f"page {i % 50}" for i in range(200)], None),
    (np.arange(20_000, dtype=np.int64) % 900, np.arange(20_000, dtype=np.int64) % 9 + 1),  # by several workers
    (["a", b"b", 3, "käse", 2**63], [1, 2, 3, 4, 5]),
]
_WAIT = 300.0


def secret() -> ss.Secret:
    """The same bits each time, and not yet spent."""
    return ss.Secret.from_bytes(bytes(range(32)))


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """An interpreter lock, if there is one, changes hands as often as can be, and small updates have many workers."""
    before = sys.getswitchinterval(), workers.CHUNK, workers._ALONE
    sys.setswitchinterval(1e-6)
    workers.CHUNK, workers._ALONE = 512, 1
    try:
        yield
    finally:
        sys.setswitchinterval(before[0])
        workers.CHUNK, workers._ALONE = before[1:]


def at_once(calls: Sequence[Callable[[], object]]) -> list[object]:
    """What each call returned or raised, all begun at the same moment. AssertionError if they do not end."""
    outcomes: list[object] = [None] * len(calls)
    gate = threading.Barrier(len(calls))

    def run(i: int) -> None:
        gate.wait()
        try:
            outcomes[i] = calls[i]()
        except BaseException as error:
            outcomes[i] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_WAIT)
        assert not thread.is_alive(), "threads wait for each other"
    return outcomes


def unexpected(outcomes: Sequence[object], *expected: type[BaseException]) -> list[object]:
    """Errors that are not of these types."""
    return [one for one in outcomes if isinstance(one, BaseException) and not isinstance(one, expected)]


SKETCHES: dict[str, Callable[[], ss.Sketch | DistinctRegisters]] = {
    "symmetric": lambda: ss.Sketch(0.5, 12, secret(), law="symmetric"),
    "one-sided": lambda: ss.Sketch(0.5, 12, secret()),
    "buckets": lambda: ss.Sketch(0.75, 64, secret(), buckets=8),
    "registers": lambda: DistinctRegisters(64, secret()),
}
STATISTICS: dict[str, tuple[ss.Statistic, str]] = {
    "sketch": (ss.Moment(0.5), "sketch"),
    "bare": (ss.Moment(0.5), "bare"),
    "exact": (ss.Moment(0.5), "exact"),
    "entropy": (ss.Shannon(), "exact"),
    "derived": (ss.Hill(0.5), "sketch"),
    "distinct": (ss.Distinct(), "sketch"),
}
_plans: dict[str, ss.Plan] = {}


def plan(name: str) -> ss.Plan:
    """A small plan for any stream; one release has computed what later ones need."""
    if name not in _plans:
        statistic, mechanism = STATISTICS[name]
        privacy = ss.Privacy(3.0, 1e-8, 20, max_value=9, relation="replace")
        size = {} if mechanism == "exact" else {"size": 64 if name == "distinct" else 12}
        made = ss.plan(statistic, privacy, mechanism=mechanism, **size)
        filled(made, range(3)).release()
        _plans[name] = made
    return _plans[name]


def add(to: ss.Sketch | DistinctRegisters | ss.Collector, batch: int, threads: int | None = 3) -> None:
    keys, values = BATCHES[batch % len(BATCHES)]
    if isinstance(to, DistinctRegisters):
        to.add(keys, threads=threads)
    else:
        to.update(keys, values, threads=threads)


def filled(plan: ss.Plan, batches: Sequence[int], own: ss.Secret | None = None, shard: str = "s") -> ss.Collector:
    collector = plan.open(secret=secret() if own is None else own, shard=shard)
    for batch in batches:
        add(collector, batch, 1)
    return collector


def updates(threads: int) -> None:
    """All threads add to one sketch, or to one collector."""
    for make in (*SKETCHES.values(), *((lambda name=name: filled(plan(name), ())) for name in STATISTICS)):
        shared, alone = make(), make()
        assert not unexpected(at_once([lambda i=i, shared=shared: add(shared, i) for i in range(threads)]))
        for i in range(threads):
            add(alone, i, 1)
        assert shared.to_bytes() == alone.to_bytes()


def large_updates(threads: int) -> None:
    """Sums so large that the workers of one update share them; tables and columns are read by all at once."""
    made = [ss.Sketch(0.5, 1 << 17, secret(), buckets=1 << 13) for _ in range(threads)]
    keys = np.arange(60_000, dtype=np.int64) % 50_021
    assert not unexpected(at_once([lambda one=one: one.update(keys, threads=3) for one in made]))
    alone = ss.Sketch(0.5, 1 << 17, secret(), buckets=1 << 13)
    alone.update(keys, threads=1)
    assert {one.to_bytes() for one in made} == {alone.to_bytes()}


def sketches_merged_while_added_to(threads: int) -> None:
    """One is added to while others take it in and look at it: only whole batches are seen."""
    for name, make in SKETCHES.items():
        source, sums = make(), [make() for _ in range(threads)]
        steps = [make() for _ in range(6)]  # what may be seen: 0, 1, ... batches
        for count, step in enumerate(steps):
            for _ in range(count):
                add(step, 2, 1)
        known = {step.to_bytes() for step in steps}

        def fill(source: ss.Sketch | DistinctRegisters = source) -> None:
            for _ in range(5):
                add(source, 2)

        def take(i: int, source: ss.Sketch | DistinctRegisters = source, sums: list = sums) -> bytes:  # type: ignore[type-arg]
            sums[i].merge(source)
            return source.to_bytes()

        seen = at_once([fill, *(lambda i=i, take=take: take(i) for i in range(threads))])
        assert not unexpected(seen)
        assert {one for one in seen if isinstance(one, bytes)} <= known, name
        assert {each.to_bytes() for each in sums} <= known, name


def sketches_merged_in_a_ring(threads: int) -> None:
    """a takes b while b takes a: as if one had come after the other, and nobody waits for ever."""
    for make in SKETCHES.values():

        def pair(make: Callable[[], ss.Sketch | DistinctRegisters] = make) -> tuple:  # type: ignore[type-arg]
            a, b = make(), make()
            add(a, 0, 1)
            add(b, 1, 1)
            return a, b

        possible = set()
        for first in (0, 1):
            both = pair()
            both[first].merge(both[1 - first])
            both[1 - first].merge(both[first])
            possible.add((both[0].to_bytes(), both[1].to_bytes()))
        for _ in range(threads):
            a, b = pair()
            assert not unexpected(at_once([lambda a=a, b=b: a.merge(b), lambda a=a, b=b: b.merge(a)]))
            assert (a.to_bytes(), b.to_bytes()) in possible


def collectors_merged_in_a_ring(threads: int) -> None:
    """a takes b while b takes a: one of them has all pairs, the other is closed."""
    for name in STATISTICS:
        own = secret()
        a, b = filled(plan(name), [0], own, "a"), filled(plan(name), [1], own, "b")
        outcomes = at_once([lambda a=a, b=b: a.merge(b), lambda a=a, b=b: b.merge(a)])
        assert not unexpected(outcomes, ss.MergeError)
        assert outcomes.count(None) == 1
        whole = a if outcomes[0] is None else b
        assert whole.shards == {"a", "b"}
        assert whole.pairs == filled(plan(name), [0, 1]).pairs


def collectors_merged_while_added_to(threads: int) -> None:
    """What was taken before the merge is in it, what came after was refused: nothing is lost, nothing counts twice."""
    for name in STATISTICS:
        own = secret()
        whole, part = filled(plan(name), (), own, "whole"), filled(plan(name), (), own, "part")
        adding = [lambda i=i, part=part: add(part, i) for i in range(threads)]
        outcomes = at_once([*adding, lambda whole=whole, part=part: whole.merge(part)])
        assert not unexpected(outcomes, ss.MergeError)
        taken = [i for i, one in enumerate(outcomes[:-1]) if one is None]
        alone = filled(plan(name), (), own, "whole")
        alone.merge(filled(plan(name), taken, own, "part"))
        assert whole.to_bytes() == alone.to_bytes()


def collectors_stored_while_added_to(threads: int) -> None:
    """Stored bytes are of a moment between two calls."""
    for name in STATISTICS:
        shared = filled(plan(name), ())
        known = {filled(plan(name), [2] * count).to_bytes() for count in range(threads + 1)}
        stored = at_once([lambda shared=shared: (add(shared, 2), shared.to_bytes())[1] for _ in range(threads)])
        assert not unexpected(stored)
        assert set(stored) <= known, name
        assert shared.to_bytes() == filled(plan(name), [2] * threads).to_bytes()


def released_at_once(threads: int) -> None:
    """Many release one collector, or collectors of one secret, in memory or in a file: exactly one gets the value."""
    refused = (ss.ReleasedAlready, ss.SecretSpent)
    for name in STATISTICS:
        value = filled(plan(name), range(4)).release()
        shared, own = filled(plan(name), range(4)), secret()
        each = [filled(plan(name), range(4), own, f"shard {i}") for i in range(threads)]
        with tempfile.TemporaryDirectory() as folder:
            secret().save(Path(folder) / "key")
            loads = [ss.Secret.load(Path(folder) / "key") for _ in range(threads)]
            loaded = [filled(plan(name), range(4), one, "s") for one in loads]
            for collectors in ([shared] * threads, each, loaded):
                outcomes = at_once([collector.release for collector in collectors])
                assert not unexpected(outcomes, *refused)
                assert [one for one in outcomes if isinstance(one, ss.Release)] == [value], name


def released_while_added_to(threads: int) -> None:
    """The value is that of the pairs that were taken; what comes later is refused."""
    for name in STATISTICS:
        shared = filled(plan(name), [0])
        adding = [lambda i=i, shared=shared: add(shared, i) for i in range(threads)]
        looking = [lambda shared=shared: (shared.pairs, shared.shards, repr(shared), shared.fingerprint(["a"]))]
        outcomes = at_once([*adding, *looking, shared.release])
        assert not unexpected(outcomes, ss.ReleasedAlready, ss.SecretSpent)
        taken = [i for i, one in enumerate(outcomes[: len(adding)]) if one is None]
        assert outcomes[-1] == filled(plan(name), [0, *taken]).release(), name


def paid_from_one_budget(threads: int) -> None:
    """A ledger has room for two releases, and many ask: two are paid, and no more."""
    made = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, relation="replace"), mechanism="exact")
    with tempfile.TemporaryDirectory() as folder:
        ledger = ss.Ledger(Path(folder) / "budget.db", epsilon=2.0, delta=1e-8, adaptive=False)
        collectors = [made.open() for _ in range(threads)]
        outcomes = at_once([lambda each=each: each.release(ledger=ledger) for each in collectors])
        assert not unexpected(outcomes, ss.BudgetExceeded)
        assert sum(isinstance(one, ss.Release) for one in outcomes) == min(2, threads)
        assert len(ledger) == min(2, threads)


def keys_derived_while_wiped(threads: int) -> None:
    """A key is derived from all bits, or not at all."""
    right = secret().derive("something")
    for _ in range(20):
        own = secret()
        outcomes = at_once([own._wipe, *(lambda own=own: own.derive("something") for _ in range(threads))])
        assert not unexpected(outcomes, ss.SecretSpent)
        assert {one for one in outcomes if isinstance(one, bytes)} <= {right}


def tables_built_at_once(threads: int) -> None:
    """More laws than are kept, the same and different ones: tables are let go of while others read them."""
    orders = [0.3 + 0.001 * i for i in range(4)]
    known = {p: np.array(table(EntryLaw("one-sided", p))[0]).tobytes() for p in orders}

    def ask(i: int) -> None:
        for k in range(MOST_TABLES + 2):
            p = orders[(i + k) % len(orders)] if k % 8 == 0 else 0.4 + 0.001 * ((i + k) % (2 * MOST_TABLES))
            rows = table(EntryLaw("one-sided", p))[0]
            assert p not in known or np.array(rows).tobytes() == known[p]
            assert tables_held() <= MOST_TABLES

    assert not unexpected(at_once([lambda i=i: ask(i) for i in range(threads)]))


def planned_at_once(threads: int) -> None:
    """Plans, estimates and whatever they remember: the same from many threads as from one."""
    asked = [
        lambda: ss.plan(ss.Moment(0.37), ss.Privacy(1.0, 1e-8, 1000), error=0.2).to_json(),
        lambda: ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-8, 1000), mechanism="exact").to_json(),
        lambda: repr(filled_sketch(0.61).estimate()),
        lambda: repr(filled_sketch(1.3).estimate()),
    ]
    outcomes = at_once([asked[i % len(asked)] for i in range(2 * threads)])
    assert not unexpected(outcomes)
    for i, call in enumerate(asked):
        assert set(outcomes[i :: len(asked)]) <= {call()}


def filled_sketch(p: float) -> ss.Sketch:
    sketch = ss.Sketch(p, 24, secret(), law="symmetric")
    add(sketch, 1, 1)
    return sketch


def columns_that_change(threads: int) -> None:
    """A list grows and shrinks while it is read: what was read is counted, or the list is refused; nothing breaks."""
    keys = [f"key {i}" for i in range(3000)]
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            keys.append("one more")
            keys[7] = "another"
            del keys[-1]

    def read() -> Counter[str]:
        said: Counter[str] = Counter()
        sketch = ss.Sketch(0.5, 4, secret(), law="symmetric")
        for _ in range(10):
            try:
                sketch.update(keys, threads=1)
                said["taken"] += 1
            except ss.ArgumentError:
                said["refused"] += 1
        assert sketch.pairs in range(3000 * said["taken"], 3001 * said["taken"] + 1)
        return said

    changer = threading.Thread(target=change, daemon=True)
    changer.start()
    outcomes = at_once([read] * threads)
    done.set()
    changer.join(_WAIT)
    assert not unexpected(outcomes)


RACES: tuple[Callable[[int], None], ...] = (
    updates,
    large_updates,
    sketches_merged_while_added_to,
    sketches_merged_in_a_ring,
    collectors_merged_in_a_ring,
    collectors_merged_while_added_to,
    collectors_stored_while_added_to,
    released_at_once,
    released_while_added_to,
    paid_from_one_budget,
    keys_derived_while_wiped,
    tables_built_at_once,
    planned_at_once,
    columns_that_change,
)
