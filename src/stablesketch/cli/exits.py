"""From errors to what the command line says, and to its exit codes."""

from __future__ import annotations

import re
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
    BUG = 1  # an error nobody foresaw, or a library that is missing
    USAGE = 2  # the command itself is wrong
    DATA = 3  # the data cannot be read, or are not what was promised
    REFUSED = 4  # the guarantee cannot be given: infeasible, too short, over the budget, released already
    FILE = 5  # a secret, sketch, plan or ledger file is missing, damaged, or does not fit
    REFUTED = 6  # an audit refuted the claim
    NOT_STORED = 7  # released and paid for, but not all that was asked for could be shown or stored
    STOPPED = 130  # by Ctrl-C, before anything was paid; other signals have 128 + their number


_CODES: dict[Exit, tuple[type[StablesketchError], ...]] = {
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


# Arguments of Python that are options here, so that what an error says can be typed; beside those of statistics.
_OPTIONS = (
    "epsilon|delta|pairs|error|size|memory|entries_per_key|expected|mechanism|relation|confidence|trials|shard|format|"
    "delimiter|key|value|by|groups|person|max_value|pairs_per_person|groups_per_person|on_bad|sql|unit|total|"
    "statistic|output|plot|report|registry|port|people|rows|spread|quantile"
)


def in_options(message: str) -> str:
    """The message with `mechanism='exact'` and the like written as options.

    >>> in_options("Name the column (--person, person=), or use mechanism='exact'")
    'Name the column (--person), or use --mechanism exact'
    """
    from .statistic_options import statistic_options  # numpy, which --help need not wait for

    names = "|".join([_OPTIONS, *(option.name for option in statistic_options())])
    message = re.sub(rf"(--[a-z-]+(?: skip)?), (?:{names}|clip)=(?:True|'skip')?(?=\))", r"\1", message)
    message = re.sub(r"\bss\.([A-Z]\w*)\(([\d., \[\]]*)\)", _statistic, message)
    message = re.sub(r"^(\w+)(?= = )", _field, message)
    message = re.sub(rf"^({names}) = ", lambda m: f"{_option(m[1])} = ", message)
    message = re.sub(rf"\b({names})=['\"]?([\w.+-]*\w)['\"]?", lambda m: f"{_option(m[1])} {m[2]}", message)
    message = re.sub(rf"\b({names})=(?=[ ,.;)]|$)", lambda m: _option(m[1]), message)
    message = re.sub(r"\b(clip|wide)=(?:True)?", r"--\1", message).replace("auto_max_value=", "--max-value auto")
    # Where both were named, they are one now.
    return re.sub(r"(--[a-z-]+), \1(?![a-z-])", r"\1", message)


def _statistic(call: re.Match[str]) -> str:
    """A statistic as options: ss.Renyi(0.9) is --statistic renyi --order 0.9."""
    from .statistic_options import offered

    values = re.sub(r"[\[\] ]", "", call[2])
    found = [kind.in_options(*filter(None, [values])) for kind in offered() if kind.__name__ == call[1]]
    return found[0] if found else call[0]


def _field(name: re.Match[str]) -> str:
    """A field of a statistic by the name of its option: there is one --order for all of them."""
    from .statistic_options import offered

    fields = {each.field: each.option.name for kind in offered() for each in kind.arguments}
    return fields.get(name[1], name[1])


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
