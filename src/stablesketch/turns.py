"""Locks of several objects at once, always taken in the same order: so threads cannot wait for each other in a ring.

Every object that changes has one lock, and whoever changes or copies it holds that: calls from several threads come one
after the other (docs/threads.md).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager


@contextlib.contextmanager
def holding(*locks: AbstractContextManager[object]) -> Iterator[None]:
    """All of these locks, for the length of the block. One that is given twice is held once."""
    with contextlib.ExitStack() as held:
        for lock in sorted({id(lock): lock for lock in locks}.values(), key=id):
            held.enter_context(lock)
        yield
