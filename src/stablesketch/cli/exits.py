"""Errors of the command line: their messages and exit codes."""

from __future__ import annotations

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
