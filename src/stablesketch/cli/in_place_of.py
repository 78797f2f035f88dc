"""Several options of a command in the place of one of its parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any


def in_place_of(
    name: str, own: Sequence[Parameter], made: Callable[[Mapping[str, Any]], Any], command: Callable[..., Any]
) -> Callable[..., Any]:
    """The command with the options `own` in the place of its parameter `name`, which is `made` of what was typed."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def called(**given: Any) -> Any:
        typed = {option.name: given.pop(option.name) for option in own}
        return command(**{name: made(typed)}, **given)

    parameters = [
        new
        for each, old in signature.parameters.items()
        for new in (own if each == name else [old.replace(kind=Parameter.KEYWORD_ONLY)])
    ]
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called
