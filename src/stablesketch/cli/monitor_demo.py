"""`stablesketch monitor --demo`: the options it refuses, and the page it opens."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping

import typer


def check_demo(given: Mapping[str, object]) -> None:
    """Refuses options that would change the stream, by their names."""
    used = [name for name, value in given.items() if value is not None]
    if used:
        raise typer.BadParameter(f"--demo brings its own stream. Leave out {', '.join(used)}.")


def not_shown(number: int, text: str) -> None:
    """Discards a record: in the demo the page shows records, and the terminal shows only alerts."""


def open_page(address: str) -> None:
    """Opens a browser if there is a screen; otherwise the user has the printed address."""
    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen and sys.stdout.isatty():
        webbrowser.open(address)
