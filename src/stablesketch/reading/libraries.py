"""The libraries data are read with: optional, and imported only when something is read."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import LibraryMissing


def need(name: str, extra: str = "cli") -> Any:
    """The module `name`, or an error that says how to install it: it comes with an `extra` of this package."""
    try:
        return importlib.import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        raise LibraryMissing(
            f"reading this needs {library}, which is not installed. Run: pip install 'stablesketch[{extra}]'."
        ) from None
