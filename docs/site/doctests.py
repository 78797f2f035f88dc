"""Examples in docstrings (`>>> ...`) are shown as code: for Markdown a line that begins with > is a quotation."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences the examples of every object as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", obj.docstring.value)
