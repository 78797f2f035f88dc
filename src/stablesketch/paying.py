"""From payment to output: what a ledger has recorded, and signals that wait until the value is there.

Between the payment and the moment at which the value is shown, an interrupt would leave a release that is paid for
and that nobody has. So SIGINT, SIGTERM and SIGHUP are held from just before the payment to the end of the outermost
`until_shown` block, and delivered then. What is held is short: the transaction of the ledger, the value computed from
what was collected, and on the command line the output. Reading data is never held.

Signals reach Python code in the main thread alone, so elsewhere nothing has to be held. SIGKILL, a crash and a power
cut cannot be held: then the ledger has the value that nobody saw (`Ledger.published`; secret/spending.py).
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from .errors import ReleaseInterrupted
from .spoken import at_most

_HELD = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


class Paid(NamedTuple):
    """A record of a ledger that a release was paid by."""

    ledger: Path
    number: int
    epsilon: float
    delta: float

    def __str__(self) -> str:
        price = f"ε = {at_most(self.epsilon)}, δ = {at_most(self.delta, 3)}"
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
        """From here signals wait. Called just before a payment."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _HELD:
            handler = signal.getsignal(number)
            # None: a handler that is not Python's, which could not be put back.
            if number not in self._handlers and handler is not None and handler != signal.SIG_IGN:
                self._handlers[number] = handler
                signal.signal(number, self._wait)

    def _wait(self, number: int, frame: object) -> None:
        self.caught.append(number)
        if self._on_signal is not None:
            self._on_signal(number)

    def let_go(self) -> None:
        """Signals arrive again, and those that waited arrive now: before something that takes long."""
        self.restore()
        waiting, self.caught = self.caught, []
        for number in dict.fromkeys(waiting):
            signal.raise_signal(number)

    def restore(self) -> None:
        """The handlers there were before."""
        while self._handlers:
            number, handler = next(iter(self._handlers.items()))
            signal.signal(number, handler)
            del self._handlers[number]

    def keep(self) -> None:
        """Signals are never delivered: for a process that has nothing more to do than to end."""
        self._handlers.clear()

    def in_words(self) -> str:
        """What was paid, as a clause; empty if nothing was."""
        return "; ".join(map(str, self.paid))


_current: ContextVar[Payment | None] = ContextVar("payment", default=None)


def current_payment() -> Payment:
    """The payment of the block around."""
    payment = _current.get()
    if payment is None:
        raise RuntimeError("nothing is paid outside of until_shown")
    return payment


@contextlib.contextmanager
def until_shown(on_signal: Callable[[int], None] | None = None) -> Iterator[Payment]:
    """A block at whose end everything released within it has been shown, or returned to the caller.

    Blocks within others are part of them. An error that leaves the outermost block after a payment says what was paid.

    Raises:
        ReleaseInterrupted: a KeyboardInterrupt that came after the payment; it has the releases.
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
