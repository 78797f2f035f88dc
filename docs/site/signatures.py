"""Signatures in the reference: `**what: Unpack[WhatOfFiles]` is shown as the arguments that it stands for."""

from __future__ import annotations

from typing import Any

import griffe

from stablesketch.reading import arguments as of_reading
from stablesketch.release import arguments


class Signatures(griffe.Extension):
    """Writes out the arguments of every function that takes them as **what, as Python's own help does."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        *own, last = [*func.parameters] or [None]
        if last is None or not str(last.annotation).startswith("Unpack["):
            return
        kind = str(last.annotation).removeprefix("Unpack[").removesuffix("]")
        what = getattr(of_reading, kind, None) or getattr(arguments, kind)
        first = [one for one in own if one.kind != griffe.ParameterKind.keyword_only]
        func.parameters = griffe.Parameters(
            *first, *map(_parameter, arguments.shown_arguments(what)), *own[len(first) :]
        )


def _parameter(one: Any) -> griffe.Parameter:
    default = None if one.default is one.empty else repr(one.default)
    return griffe.Parameter(
        one.name, kind=griffe.ParameterKind.keyword_only, annotation=one.annotation, default=default
    )
