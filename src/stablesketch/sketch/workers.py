"""How the work is done, on which no byte depends: the tier of the kernel, locks, and rows divided among threads.

Every mutable object has one lock. A thread that changes or copies the object holds it, so calls from several threads
run one after another (docs/threads.md).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from .._native import tier_names
from ..errors import ArgumentError
from ..numbers.checked import checked_whole

CHUNK = 1 << 16  # rows at a time: bounds the memory of a worker, and keeps its rows in the second-level cache
_ALONE = 1 << 14  # fewer rows than this are not worth a second thread

Worker = Callable[[int, int], object]
"""Does the rows from one to another."""

_limit = 1024


def _chosen_tier() -> str:
    available = tier_names()
    wanted = os.environ.get("STABLESKETCH_TIER", "")
    if wanted and wanted not in available:
        must = f"must be one of {', '.join(available)} on this machine"
        raise ArgumentError("STABLESKETCH_TIER", wanted, must, "Unset it, or set it to one of these")
    return wanted or available[0]


TIER = _chosen_tier()
"""The best tier that this processor has, or the one that STABLESKETCH_TIER names, for measuring and testing them."""


@contextlib.contextmanager
def holding(*locks: AbstractContextManager[object]) -> Iterator[None]:
    """Holds all of these locks for the length of the block; a lock given twice is held once.

    They are always taken in the same order, so that threads cannot deadlock.
    """
    with contextlib.ExitStack() as held:
        for lock in sorted({id(lock): lock for lock in locks}.values(), key=id):
            held.enter_context(lock)
        yield


def limit_threads(threads: int) -> None:
    """From now on, `threads=None` uses at most this many: for processes that share their processors."""
    global _limit
    _limit = checked_threads(threads)


def checked_threads(threads: object) -> int:
    """The number of workers for `threads=`: None means every processor that this process may use."""
    if threads is None:
        there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(there, _limit)
    count = checked_whole("threads", threads, "Pass None to use all cores", must="must be an integer or None")
    if not 1 <= count <= 1024:
        raise ArgumentError("threads", threads, "must be between 1 and 1024", "Leave it out to use all cores")
    return count


def share(rows: int, threads: int, start: Callable[[int], Worker]) -> None:
    """Runs worker(begin, end) over rows 0..rows, with up to `threads` workers made by start(expected rows).

    Chunks are taken in order and finished once taken. So if any raises an error, the caller always sees that of the
    earliest row.
    """
    count = 1 if rows < _ALONE else min(threads, -(-rows // CHUNK))
    workers = [start(-(-rows // count)) for _ in range(count)]
    chunk = CHUNK if count == 1 else min(CHUNK, -(-rows // (4 * count)))
    begins = iter(range(0, rows, chunk))
    turn = threading.Lock()  # iterators are not safe for several threads
    errors: dict[int, BaseException] = {}

    def run(worker: Worker) -> None:
        while not errors:
            with turn:
                begin = next(begins, rows)
            if begin == rows:
                return
            try:
                worker(begin, min(begin + chunk, rows))
            except BaseException as error:
                errors[begin] = error

    helpers = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers[1:]]
    for helper in helpers:
        helper.start()
    run(workers[0])
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[min(errors)]
