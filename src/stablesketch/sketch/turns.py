"""Takes the locks of several objects at once, always in the same order, so that threads cannot deadlock.

Every mutable object has one lock. A thread that changes or copies the object holds it, so calls from several threads
run one after another (docs/threads.md).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager


@contextlib.contextmanager
def holding(*locks: AbstractContextManager[object]) -> Iterator[None]:
    """Holds all of these locks for the length of the block; a lock given twice is held once."""
    with contextlib.ExitStack() as held:
        for lock in sorted({id(lock): lock for lock in locks}.values(), key=id):
            held.enter_context(lock)
        yield
