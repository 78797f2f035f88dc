"""Signals that stop a command: each has its own exit code, and all stop cleanly before anything is paid."""

from __future__ import annotations

import contextlib
import os
import signal

_NAMES = {signal.SIGINT: "Ctrl-C"}
_last = signal.SIGINT


def stop_cleanly() -> None:
    """Makes SIGTERM and SIGHUP stop a command as Ctrl-C does: open files are discarded, and a message is shown."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # under nohup, SIGHUP stays ignored
            signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    global _last
    _last = signal.Signals(number)
    raise KeyboardInterrupt


def stopped_by() -> signal.Signals:
    """The signal that stopped the command: Ctrl-C, unless another one arrived."""
    return _last


def name_of(number: int) -> str:
    """The name people use for a signal."""
    return _NAMES.get(signal.Signals(number), signal.Signals(number).name)


def finishing(number: int) -> None:
    """Says why a signal must wait. Writes straight to the file: a signal may come in the middle of a print."""
    said = f"\n{name_of(number)}: the release is being paid for, so it is finished first.\n"
    with contextlib.suppress(OSError):
        os.write(2, said.encode())
