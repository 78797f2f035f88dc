"""How accurate or how large a sketch is to be, and by which mechanism: the options of planning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

from ..release.arguments import DEFAULTS
from . import options
from .in_place_of import in_place_of

_TYPED = {
    "error": options.Error,
    "size": options.Size,
    "memory": options.Memory,
    "entries_per_key": options.PerKey,
    "expected": options.Expected,
    "mechanism": options.Mechanism,
}

Sizes = dict[str, Any]
"""What was typed, by the names that arguments have in Python."""


def with_sizes(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with these options in the place of its parameter `sizes`, which is a `Sizes`."""
    own = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=kind)
        for name, kind in _TYPED.items()
    ]
    return in_place_of("sizes", own, _made, command)


def _made(given: Mapping[str, Any]) -> Sizes:
    lists = {name: options.sizes_of(given[name]) for name in ("size", "entries_per_key")}
    return {**given, **lists}
