"""Reads untrusted JSON with care: anything wrong with it is a `JsonError`.

`json.loads` alone raises RecursionError if brackets nest too deeply and ValueError if a number has too many digits. It
silently takes the last of two equal names, and reads NaN. Callers turn `JsonError` into their own typed error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Self, TypeGuard

from ..errors import in_one_line, shortened
from ..text.visible import writable

MOST_WHOLE = 2**63 - 1
"""The largest whole number allowed; no count is larger."""


class JsonError(ValueError):
    """What is wrong, in a few words. Callers put it into a message of their own."""


def parsed(text: object, *, finite: bool = True) -> Any:
    """The content of a JSON text. If it need not be `finite`, the ranges of its fields still refuse NaN."""
    if not isinstance(text, str):
        raise JsonError(f"expected text, got {type(text).__name__}")

    def constant(name: str) -> float:
        if finite:
            raise JsonError(f"{name} is not a valid JSON number")
        return float(name)

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=_each_once)
    except JsonError:
        raise
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except ValueError as error:
        raise JsonError(in_one_line(str(error.args[0] if error.args else error), 80)) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise JsonError("duplicate name")
    return found


def is_count(value: object, least: int = 0, most: int = MOST_WHOLE) -> TypeGuard[int]:
    """Whether something stored is a whole number from `least` to `most`; a truth value is none."""
    return type(value) is int and least <= value <= most


class Fields:
    """The fields of a JSON object, taken one after another in a `with` block; each has a type and a range.

    The end of the block refuses any fields that are left.
    """

    def __init__(self, content: object, what: str) -> None:
        if not isinstance(content, Mapping):
            raise JsonError(f"{what} is not an object")
        self._content = dict(content)
        self._what = what

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._content and error is None:
            names = sorted(self._content)
            raise JsonError(f"{self._what} has unknown fields: {shortened(', '.join(names[:5]))}")

    def any(self, name: str, *default: Any) -> Any:
        """The field as it is, or `default`, if given, when the field is missing."""
        if name not in self._content:
            if default:
                return default[0]
            raise JsonError(f"{self._what} has no field {name}")
        return self._content.pop(name)

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A number from `least` to `most`, as a float."""
        value = self.any(name)
        huge = type(value) is int and abs(value) > 2**1023  # not converted first: an int of 400 digits has no float
        if type(value) not in (int, float) or huge or not least <= value <= most:
            raise self._odd(name, value, f"a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, least: int = 0, most: int = MOST_WHOLE) -> int:
        """A whole number from `least` to `most`."""
        value = self.any(name)
        if not is_count(value, least, most):
            raise self._odd(name, value, f"a whole number from {least} to {most}")
        return value

    def text(self, name: str, most: int = 1000) -> str:
        """A text of 1 to `most` characters that UTF-8 can encode."""
        value = self.any(name)
        if type(value) is not str or not 0 < len(value) <= most or not writable(value):
            raise self._odd(name, value, f"a text of up to {most} characters")
        return value

    def choice(self, name: str, *choices: str) -> str:
        value = self.any(name)
        if type(value) is not str or value not in choices:
            raise self._odd(name, value, f"one of {', '.join(choices)}")
        return value

    def has(self, name: str) -> bool:
        """Whether the field exists and has not been taken yet."""
        return name in self._content

    def optional(self, name: str) -> bool:
        """Whether the field holds something other than null; a null is taken."""
        if self._content.get(name, 0) is None:
            del self._content[name]
            return False
        return True

    def _odd(self, name: str, value: object, needed: str) -> JsonError:
        return JsonError(f"{name} of {self._what} must be {needed}, got {shortened(value)}")
