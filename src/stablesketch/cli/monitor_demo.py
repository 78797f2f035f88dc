"""`stablesketch monitor --demo`: what it refuses, and the page that it opens."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping

import typer


def check_demo(given: Mapping[str, object]) -> None:
    """Refuses whatever would change the stream, of options by their names."""
    used = [name for name, value in given.items() if value is not None]
    if used:
        raise typer.BadParameter(f"--demo brings its own stream. Leave out {', '.join(used)}.")


def open_page(address: str) -> None:
    """Opens a browser where there is a screen; elsewhere the address that was printed must do."""
    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen and sys.stdout.isatty():
        webbrowser.open(address)
