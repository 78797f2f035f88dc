"""Errors of workers: finds our error in what a runner raises.

On the direct runner with threads, an error arrives as it was raised. Every other runner raises its own error. Its text
contains the worker's traceback, with the type and message of our error.
"""

from __future__ import annotations

import json
import re

from ... import errors
from ...errors import StablesketchError
from .. import failure

# Beam replaces an exception with another one that names the step in its message, unless this mark says that this was
# already done. Our errors have constructors that Beam cannot call, and would become RuntimeErrors.
setattr(StablesketchError, "_tagged_with_step", True)  # noqa: B010  # not an attribute of the class for anybody else

_OURS = re.compile(rf"{re.escape(errors.__name__)}\.(\w+): (.+)")
_STEP = re.compile(r"( \[while running '.*'\])+$")


def typed_error(error: BaseException) -> StablesketchError | None:
    """The error of this library in what a runner raised, with its type and message; None if there is none.

    `except Exception as error: raise typed_error(error) or error`
    """
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        if isinstance(one, StablesketchError):
            return one
        found = _OURS.findall(str(one))
        if found:
            kind, message = found[-1]  # the last one in the text was raised last
            return failure.from_text(json.dumps({"type": kind, "message": _STEP.sub("", message.strip())}))
        one = one.__cause__ or one.__context__
    return None
