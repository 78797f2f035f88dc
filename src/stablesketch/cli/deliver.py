"""From a paid release to the user's screen and files: shown first, then stored, then drawn.

Asking again cannot repair a failure here, because it would cost the same price again. The value is therefore shown
before anything else is tried, and each output is tried by itself. If one fails, the others are still written, the
message names the missing one, and the exit code means "released, not stored".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import typer
from rich.text import Text

from ..files.durable import Reserved
from ..secret.paying import Payment
from ..text.visible import visible
from .exits import Exit
from .screen import drop, note, rendered, tell


def need_standard_output(output: Path | None) -> None:
    """Refuses to release where standard output is closed (`>&-`) and no file takes its place."""
    if output is None and getattr(sys.stdout, "name", "") == os.devnull:
        raise typer.BadParameter("standard output is closed, so the value could not be shown. Add -o FILE.")


class Delivery:
    """One release on its way out. `json` is all of it on one line. Steps may fail; `end` reports what did."""

    def __init__(self, json: str, payment: Payment) -> None:
        self._json = json
        self._payment = payment
        self._problems: list[str] = []
        self._json_shown = False

    def show(self, lines: Callable[[], Sequence[Text]] | None, notes: Sequence[str]) -> None:
        """Shows the value on standard output, as lines or as JSON. If that fails, `end` shows it elsewhere."""
        try:
            sys.stdout.write(self._json + "\n" if lines is None else rendered(lines()))
            sys.stdout.flush()
            self._json_shown = lines is None
        except Exception as error:
            drop(sys.stdout)
            self._problems.append(f"standard output cannot be written ({_reason(error)})")
        for line in notes:
            note(line)
        for paid in self._payment.paid:
            note(f"recorded as release {paid.number} of the ledger {paid.ledger.name}")

    def store(self, place: Reserved | None, content: Callable[[], bytes]) -> None:
        """Writes a file that was opened before anything was paid. Any failure to make its content is noted."""
        if place is None:
            return
        try:
            place.store(content())
            note(f"written to {place.path}")
        except Exception as error:
            self._problems.append(f"{place.path} was not written ({_reason(error)})")

    def end(self) -> Exit:
        """The exit code. If something is missing, says so, with the value once more, to the last digit."""
        if not self._problems:
            return Exit.DONE
        if not self._json_shown:
            tell(self._json + "\n")
        paid = self._payment.in_words()
        charged = f" It is paid for ({paid})." if paid else ""
        said = f"released, but not everything was stored: {'; '.join(self._problems)}."
        way_out = "Keep the value shown above: releasing again means paying again."
        message = visible(f"{said}{charged} {way_out}")
        tell(rendered([Text.assemble(("Error: ", "bold red"), message)], error=True))
        return Exit.NOT_STORED


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
