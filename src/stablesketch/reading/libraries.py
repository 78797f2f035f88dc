"""The libraries that read data: optional, and imported only when something is read."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import LibraryMissing


def need(name: str, extra: str | None = "cli") -> Any:
    """The module `name`, or an error that says how to install it: with an `extra` of this package, or by itself."""
    try:
        return importlib.import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        what = library if extra is None else f"'stablesketch[{extra}]'"
        doing = "reading this" if extra == "cli" else "this"
        raise LibraryMissing(f"{doing} needs {library}, which is not installed. Run: pip install {what}.") from None
