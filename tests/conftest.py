"""What is random comes out the same in every run: the generator behind `secrets` is seeded with the name of the test.

So a statistical test passes always or never, whatever folder it stands in. What its docstring says of false alarms is
about another seed. Processes that a test starts, and those it forks, have the operating system's randomness.

And what was imported and collected is taken out of the garbage collector's sight: nine thousand tests and their modules
stay until the end, and would be looked through again and again.

A shell that starts the tests in the background, or nohup, lets them ignore Ctrl-C and hanging up, and so would all that
they start: both are as in a terminal here.
"""

from __future__ import annotations

import gc
import os
import random
import secrets
import signal

import pytest

_SYSTEM = secrets._sysrand  # type: ignore[attr-defined]


def _back() -> None:
    secrets._sysrand = _SYSTEM  # type: ignore[attr-defined]


os.register_at_fork(after_in_child=_back)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the fixtures of the test, those that are shared too."""
    secrets._sysrand = random.Random(item.nodeid.rpartition("/")[2])  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test is begun first: begun last, it would be waited for with the other processors idle."""
    items.sort(key=lambda item: item.path.name != "test_sanitizers.py")  # all others as they were


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    _back()
