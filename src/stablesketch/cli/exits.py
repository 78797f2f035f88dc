"""How a command ends: its exit codes, and the signals that stop it, all of them cleanly before anything is paid."""

from __future__ import annotations

import contextlib
import os
import signal
from enum import IntEnum

from ..errors import (
    ArgumentError,
    BlobError,
    BudgetExceeded,
    CheckpointError,
    DataError,
    LedgerError,
    LibraryMissing,
    MergeError,
    NegativeTotal,
    NotDelivered,
    PlanInfeasible,
    ReleasedAlready,
    SecretFileError,
    SecretMismatch,
    SecretMissing,
    ShardsMissing,
    StablesketchError,
    StreamTooShort,
)


class Exit(IntEnum):
    """The exit codes, as docs/command-line.md lists them."""

    DONE = 0
    BUG = 1  # an unexpected error, or a missing library
    USAGE = 2  # the command itself is wrong
    DATA = 3  # the data cannot be read, or are not what was promised
    REFUSED = 4  # the guarantee cannot be given: infeasible, too short, over the budget, already released
    FILE = 5  # a secret, sketch, plan or ledger file is missing, damaged, or does not match
    REFUTED = 6  # an audit refuted the claim
    NOT_STORED = 7  # released and paid for, but not all that was asked for could be shown or stored
    STOPPED = 130  # by Ctrl-C, before anything was paid; other signals have 128 + their number


_CODES: dict[Exit, tuple[type[StablesketchError], ...]] = {
    Exit.NOT_STORED: (NotDelivered,),  # before its base class
    Exit.DATA: (DataError, NegativeTotal),
    Exit.REFUSED: (PlanInfeasible, StreamTooShort, BudgetExceeded, ReleasedAlready, ShardsMissing),
    Exit.FILE: (
        BlobError,
        MergeError,
        SecretFileError,
        SecretMismatch,
        SecretMissing,
        LedgerError,
        CheckpointError,
    ),
    Exit.BUG: (LibraryMissing,),
    Exit.USAGE: (ArgumentError,),
}


def exit_code(error: StablesketchError) -> Exit:
    """The exit code of an error that was raised on purpose."""
    return next((code for code, kinds in _CODES.items() if isinstance(error, kinds)), Exit.BUG)


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
