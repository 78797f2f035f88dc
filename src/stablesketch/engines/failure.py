"""Errors of workers as data: a worker reports an error as a row, and the driver raises it.

An exception in a worker would be retried, wrapped in the tracebacks of two languages, and logged on every machine. As a
row it is raised once, typed, where the user sees it.
"""

from __future__ import annotations

import json

from .. import errors
from ..errors import BlobError, StablesketchError
from ..format.checked_json import Fields, JsonError, parsed

_LONGEST = 1_000_000  # characters of a message


def to_text(error: StablesketchError) -> str:
    return json.dumps({"type": type(error).__name__, "message": error.wording})


def from_text(text: str) -> StablesketchError:
    """Reads the result of `to_text`: an error with the same type and message."""
    try:
        with Fields(parsed(text), "the error") as fields:
            named, message = getattr(errors, fields.text("type"), None), fields.text("message", _LONGEST)
    except JsonError:
        return BlobError("a worker failed, and its error cannot be read: corrupt data.")
    kind = named if isinstance(named, type) and issubclass(named, StablesketchError) else StablesketchError
    error: StablesketchError = kind.__new__(kind)
    StablesketchError.__init__(error, message)
    return error
