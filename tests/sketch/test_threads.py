"""Threads: however many work on an update, or call a sketch at once, the bytes are those of one after the other."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_update import reference_entries
from sketch_helpers import SECRET, entries_of

from stablesketch import ArgumentError, ArgumentTypeError, Sketch
from stablesketch._native import Accumulator
from stablesketch.sketch import projection, workers
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.workers import TIER

ROWS = 200_000  # several chunks for each of several threads
THREADS = [1, 2, 3, 8, None]

INTEGERS = np.random.default_rng(1).zipf(1.2, ROWS).astype(np.int64) % 30_000
VALUES = np.random.default_rng(2).integers(1, 2 ** np.random.default_rng(3).integers(1, 54, ROWS))
TEXTS = [f"page {i}" for i in INTEGERS.tolist()]

COLUMNS: dict[str, tuple[object, object]] = {
    "integers": (INTEGERS, None),
    "weighted integers": (INTEGERS, VALUES),
    "unsigned integers": (INTEGERS.astype(np.uint64) + np.uint64(2**63 - 15_000), VALUES),
    "text, Arrow chunks": (pa.chunked_array([TEXTS[:11], TEXTS[11:70_000], TEXTS[70_000:]]), None),
    "weighted text, Arrow": (pa.array(TEXTS), pa.chunked_array([VALUES[:99_999], VALUES[99_999:]])),
    "lists": (TEXTS, VALUES.tolist()),
    "composite": ((INTEGERS, pa.array(TEXTS)), None),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_any_number_of_threads_gives_the_same_bytes(name: str) -> None:
    keys, values = COLUMNS[name]
    blobs = []
    for threads in THREADS:
        sketch = Sketch(0.4, 3, SECRET, law="symmetric")
        sketch.update(keys, values, threads=threads)
        sketch.delete(INTEGERS, threads=threads)
        blobs.append(sketch.to_bytes())
    assert len(set(blobs)) == 1


def test_two_threads_update_while_others_look() -> None:
    """All batches are alike, so that a look from outside must see a whole number of them: never half of one."""
    batch, rounds = INTEGERS[:40_000], 12
    one = Sketch(0.5, 8, SECRET, law="symmetric")
    one.update(batch, threads=1)
    unit, blob_of_one = entries_of(one), one.to_bytes()
    sketch, copies = Sketch(0.5, 8, SECRET, law="symmetric"), Sketch(0.5, 8, SECRET, law="symmetric")
    done = threading.Event()

    def update() -> None:
        for _ in range(rounds):
            sketch.update(batch, threads=2)

    def look() -> int:
        looks = 0
        while not done.is_set() or not looks:
            blob = sketch.to_bytes()
            seen = Sketch.from_bytes(blob)
            batches = seen.pairs // len(batch)
            assert seen.pairs == seen.total == batches * len(batch)
            assert entries_of(seen) == [batches * x for x in unit]
            assert sketch.estimate().value >= 0.0
            copies.merge(sketch)
            looks += 1
        return looks

    with ThreadPoolExecutor(4) as pool:
        updates, looking = [pool.submit(update) for _ in range(2)], pool.submit(look)
        try:
            for each in updates:
                each.result()
        finally:
            done.set()
        assert looking.result() > 0
    assert entries_of(sketch) == [2 * rounds * x for x in unit]
    assert copies.pairs % len(batch) == 0
    assert entries_of(copies) == [copies.pairs // len(batch) * x for x in unit]
    assert one.to_bytes() == blob_of_one


def test_updates_and_deletes_from_many_threads_at_once() -> None:
    """Each thread updates parts of its own and deletes them again but for the first: deletes may even come first."""
    parts = np.array_split(INTEGERS, 8)
    sketch, expected = Sketch(0.2, 4, SECRET, law="symmetric"), Sketch(0.2, 4, SECRET, law="symmetric")
    steps: list[Callable[[], None]] = [lambda part=part: sketch.update(part, threads=2) for part in parts]
    steps += [lambda part=part: sketch.delete(part, threads=2) for part in parts[1:]]
    random.Random(4).shuffle(steps)
    with ThreadPoolExecutor(5) as pool:
        for each in [pool.submit(step) for step in steps]:
            each.result()
    expected.update(parts[0], threads=1)
    assert sketch.to_bytes() == expected.to_bytes()


def test_the_interpreter_is_free_while_rows_are_added() -> None:
    """During one compiled call another thread runs. Nobody is made to give the interpreter's lock away here, so if the
    call kept it, this thread would only ever wake up after it. Tried a few times, as this thread may be slow to wake.
    """
    accumulator, keys = (
        Accumulator(EntryLaw("symmetric", 0.5), 50, bytes(16), 0, 1_000_000, TIER),
        np.arange(1_000_000, dtype=np.uint64),
    )

    def awake_within_the_call() -> bool:
        started, finished = threading.Event(), threading.Event()

        def add() -> None:
            started.set()
            accumulator.add(keys, None, False)
            finished.set()

        thread = threading.Thread(target=add)
        thread.start()
        started.wait()
        within = not finished.is_set()
        thread.join()
        return within

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        assert any(awake_within_the_call() for _ in range(50))
    finally:
        sys.setswitchinterval(interval)


# --- errors ---

BAD: dict[str, Callable[[list[int]], tuple[object, object]]] = {
    "null in a list": lambda rows: ([None if i in rows else i for i in range(ROWS)], None),
    "null in Arrow": lambda rows: (pa.array([None if i in rows else f"{i}" for i in range(ROWS)]), None),
    "float in a list": lambda rows: ([0.5 if i in rows else f"{i}" for i in range(ROWS)], None),
    "value 0": lambda rows: (INTEGERS, np.where(np.isin(np.arange(ROWS), rows), 0, VALUES)),
    "null value": lambda rows: (INTEGERS, pa.array([None if i in rows else 1 for i in range(ROWS)])),
}


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("kind", BAD)
def test_the_earliest_wrong_row_is_named_and_nothing_is_counted(kind: str, threads: int) -> None:
    """Many chunks are summed before the wrong ones are met, and several threads meet wrong ones at the same time."""
    keys, values = BAD[kind]([150_001, 150_002, 155_000, 162_000, 170_000, 185_000, ROWS - 1])
    sketch = Sketch(0.5, 2, SECRET, law="symmetric")
    sketch.update(["before"])
    before = sketch.to_bytes()
    for attempt in (sketch.update, sketch.delete):
        with pytest.raises(ArgumentError, match=r"150002|150,002"):
            attempt(keys, values, threads=threads)
        assert sketch.to_bytes() == before
    sketch.update(["after"], threads=threads)
    assert sketch.pairs == 2


class Interruption(BaseException):
    """Like KeyboardInterrupt: not an Exception."""


@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError, SystemExit, Interruption])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_exception_in_a_worker_comes_out(
    raised: type[BaseException], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(rows: int, threads: int, start: Callable[[int], workers.Worker]) -> None:
        def started(expected: int) -> workers.Worker:
            calm = start(expected)

            def worker(begin: int, end: int) -> None:
                if begin > ROWS // 2:
                    raise raised("stop")
                calm(begin, end)

            return worker

        workers.share(rows, threads, started)

    sketch = Sketch(0.5, 2, SECRET, law="symmetric")
    sketch.update(["before"])
    before, running = sketch.to_bytes(), threading.active_count()
    monkeypatch.setattr(projection, "share", interrupted)
    with pytest.raises(raised, match="stop"):
        sketch.update(INTEGERS, threads=threads)
    assert sketch.to_bytes() == before
    assert threading.active_count() == running


def test_of_several_errors_the_earliest_rows_win() -> None:
    """Whichever thread is first to fail: chunks are taken in order, and one that was taken is finished."""
    meet = threading.Barrier(3, timeout=10)

    def worker(begin: int, end: int) -> None:
        meet.wait()  # all three chunks are under way before any of them fails
        raise ArithmeticError(begin)

    rows = 3 * workers.CHUNK
    for _ in range(20):
        with pytest.raises(ArithmeticError, match=r"^0$"):
            workers.share(rows, 3, lambda _: worker)


@pytest.mark.parametrize("rows", [0, 1, 16_383, 16_384, 16_385, 32_768, 32_769, 100_000, 1_000_003])
@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_every_row_is_read_once(rows: int, threads: int) -> None:
    """By no more workers than allowed, in chunks of bounded length, and none of them empty."""
    chunks: list[tuple[int, int]] = []
    started: list[int] = []

    def start(expected: int) -> workers.Worker:
        assert expected >= rows // threads
        started.append(expected)
        return lambda begin, end: chunks.append((begin, end))

    workers.share(rows, threads, start)
    assert 1 <= len(started) <= threads
    assert all(0 < end - begin <= workers.CHUNK for begin, end in chunks)
    edges = [0, *(end for _, end in sorted(chunks))]
    assert [begin for begin, _ in sorted(chunks)] == edges[:-1]
    assert edges[-1] == rows


@pytest.mark.parametrize("threads", [0, -1, 1_025, 10**20])
def test_numbers_that_are_not_a_number_of_threads(threads: int) -> None:
    with pytest.raises(ArgumentError, match=rf"threads must be between 1 and 1024, got {threads}. Leave it out"):
        Sketch(0.5, 2, SECRET, law="symmetric").update([1], threads=threads)


@pytest.mark.parametrize("threads", [True, 2.0, "2", [2]])
def test_things_that_are_not_a_number_of_threads(threads: object) -> None:
    sketch = Sketch(0.5, 2, SECRET, law="symmetric")
    with pytest.raises(ArgumentTypeError, match="threads must"):
        sketch.delete([1], threads=threads)  # type: ignore[arg-type]
    assert sketch.pairs == 0


# --- any interleaving ---

CALL = st.tuples(
    st.booleans(),  # delete
    st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 2**53)), max_size=60),
    st.integers(1, 9),  # threads
    st.integers(1, 9),  # rows of a chunk
)


@settings(deadline=None, max_examples=60)
@given(p=st.sampled_from([0.05, 0.3, 0.5, 1.0]), size=st.integers(1, 6), calls=st.lists(CALL, max_size=6))
def test_any_interleaving_is_the_reference(
    p: float, size: int, calls: list[tuple[bool, list[tuple[int, int]], int, int]]
) -> None:
    """Updates and deletes in batches of any length, each by any number of threads, in chunks of a few rows."""
    sketch, totals = Sketch(p, size, SECRET, law="symmetric"), dict.fromkeys(range(-20, 21), 0)
    pairs = 0
    for delete, batch, threads, rows in calls:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "CHUNK", rows)
            patch.setattr(workers, "_ALONE", 1)
            keys = np.array([key for key, _ in batch], np.int64)
            values = np.array([value for _, value in batch], np.int64)
            (sketch.delete if delete else sketch.update)(keys, values, threads=threads)
        pairs += -len(batch) if delete else len(batch)
        for key, value in batch:
            totals[key] += -value if delete else value
    # The integers from -2^63 to 2^63 - 1 are their own fingerprints.
    fingerprints = [key % 2**64 for key in totals]
    assert entries_of(sketch) == reference_entries(
        EntryLaw("symmetric", p), size, SECRET, fingerprints, totals.values()
    )
    assert (sketch.pairs, sketch.total) == (pairs, sum(totals.values()))


# --- memory ---

MEMORY = """
import resource
import sys

import numpy as np

from stablesketch import Sketch

rows, distinct = 30_000_000, sys.argv[1] == "distinct"
keys = np.arange(rows)
keys *= 0x9E3779B97F4A7C15 - 2**64  # in place: an array of its own would hide what the update takes
if not distinct:
    keys %= 100_000
values = np.full(rows, 3)
sketch = Sketch(0.5, 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sketch.update(keys, values, threads=4)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert sketch.total == 3 * rows
print((after - before) * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.parametrize("kind", ["distinct", "few"])
def test_memory_does_not_grow_with_the_rows(kind: str) -> None:
    """Thirty million rows, four threads: less than 64 MB on top of the 480 MB that the two columns are."""
    pytest.importorskip("resource", reason="NOT TESTED: this system has no getrusage")
    done = subprocess.run([sys.executable, "-c", MEMORY, kind], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 * 2**20
