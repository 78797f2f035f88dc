"""From payment to output: what a ledger has recorded, and signals that wait until the value is shown.

An interrupt between the payment and the moment when the value is shown would leave a release that is paid for but
that nobody has seen. So SIGINT, SIGTERM and SIGHUP are held from just before the payment to the end of the outermost
`until_shown` block, and then delivered. They are held for a short time only: for the ledger's transaction, the
computation of the value, and on the command line the output. They are never held while data are read.

Only the main thread handles signals in Python, so other threads need not hold any. SIGKILL, a crash or a power cut
cannot be held: the ledger then has a value that nobody saw (`Ledger.published`; secret/spending.py).
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ReleaseInterrupted
from ..text.spoken import price_in_words

STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


class Paid(NamedTuple):
    """The ledger's record that paid for a release."""

    ledger: Path
    number: int
    epsilon: float
    delta: float

    def __str__(self) -> str:
        price = price_in_words(self.epsilon, self.delta)
        return f"release {self.number} of the ledger {self.ledger.name}: {price}"


class Payment:
    """What was paid within an `until_shown` block, what was released for it, and the signals that wait."""

    def __init__(self, on_signal: Callable[[int], None] | None = None) -> None:
        self.paid: list[Paid] = []
        self.releases: list[Any] = []  # Release, or GroupRelease
        self.caught: list[int] = []
        self._on_signal = on_signal
        self._handlers: dict[int, Any] = {}

    def hold(self) -> None:
        """Signals wait from here on. Called just before a payment."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in STOPPING:
            handler = signal.getsignal(number)
            # None: the handler is not Python's, and could not be restored.
            if number not in self._handlers and handler is not None and handler != signal.SIG_IGN:
                self._handlers[number] = handler
                signal.signal(number, self._wait)

    def _wait(self, number: int, frame: object) -> None:
        self.caught.append(number)
        if self._on_signal is not None:
            self._on_signal(number)

    def let_go(self) -> None:
        """Restores the handlers and delivers the waiting signals. For use before something that takes long."""
        while self._handlers:
            number, handler = next(iter(self._handlers.items()))
            signal.signal(number, handler)
            del self._handlers[number]
        waiting, self.caught = self.caught, []
        for number in dict.fromkeys(waiting):
            signal.raise_signal(number)

    def keep(self) -> None:
        """Never delivers the signals: for a process that is about to end."""
        self._handlers.clear()

    def in_words(self) -> str:
        """What was paid, as a clause; empty if nothing was."""
        return "; ".join(map(str, self.paid))


_current: ContextVar[Payment | None] = ContextVar("payment", default=None)


def current_payment() -> Payment:
    """The payment of the surrounding block."""
    payment = _current.get()
    if payment is None:
        raise RuntimeError("a payment must be made inside until_shown")
    return payment


@contextlib.contextmanager
def until_shown(on_signal: Callable[[int], None] | None = None) -> Iterator[Payment]:
    """A block: when it ends, everything released inside it has been shown or returned to the caller.

    Inner blocks are part of the outermost one. An error that leaves it after a payment says what was paid.

    Raises:
        ReleaseInterrupted: a KeyboardInterrupt after the payment; it holds the releases.
    """
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    payment = Payment(on_signal)
    token = _current.set(payment)
    try:
        try:
            yield payment
        finally:
            _current.reset(token)
            payment.let_go()
    except KeyboardInterrupt as stop:
        if payment.releases:
            raise ReleaseInterrupted(payment.releases, payment.in_words()) from None
        _add_note(stop, payment)
        raise
    except BaseException as error:
        _add_note(error, payment)
        raise


def _add_note(error: BaseException, payment: Payment) -> None:
    if payment.paid:
        error.add_note(f"This was paid for all the same: {payment.in_words()}. Ledger.published has its value.")
