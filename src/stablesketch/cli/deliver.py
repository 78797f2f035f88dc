"""From a paid release to the user's screen and files: shown first, then stored, then drawn and explained.

The budget is spent whether or not a picture can be drawn. Files are therefore opened, and disk space reserved, before
anything is spent.

Asking again cannot repair a failure here, because it would cost the same price again. The value is therefore shown
before anything else is tried, and each output is tried by itself. If one fails, the others are still written, the
message names the missing one, and the exit code means "released, not stored".
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import typer
from rich.text import Text

from ..errors import ArgumentError
from ..files.durable import Reserved
from ..ledger import Ledger
from ..page import check_page_path
from ..pictures import check_picture_path, release_bytes
from ..pictures.style import need_matplotlib
from ..release.outcome import Outcome
from ..release.question import Question
from ..report import Context, Named, check_registry_path, registry_entry, report_page
from ..secret.paying import Payment, current_payment
from ..text.visible import visible
from .dry_run import advice_in_words, shares_in_words
from .exits import Exit
from .release_lines import nothing_shown, release_lines, release_notes
from .screen import drop, json_text, note, rendered, tell

_CHECKS = {"plot": check_picture_path, "report": check_page_path, "registry": check_registry_path}
_ROOM = 1 << 20  # bytes per file: enough for a page with a picture, or a table of several thousand groups


def check_new(**paths: Path | None) -> None:
    """Refuses files that cannot be written (plot, report, registry, output), before anything is spent."""
    given = {name: path for name, path in paths.items() if path is not None}
    for name, path in given.items():
        try:
            exists = path.exists() or path.is_symlink()
        except OSError as error:  # the name is too long, or the folder may not be read
            raise _unwritable(name, path, error) from None
        if exists:
            raise ArgumentError(name, str(path), "must be a new file", "This one already exists: choose another name")
        if not path.parent.is_dir():
            raise ArgumentError(
                name, str(path), "must be in an existing folder", "Create the folder first, or choose another place"
            )
        if name in _CHECKS:
            _CHECKS[name](path)
    if "plot" in given or "report" in given:
        need_matplotlib()
    places: dict[Path, str] = {}
    for name, path in given.items():
        if path.resolve() in places:
            raise ArgumentError(name, str(path), "must not be the same file as another output", "Choose another name")
        places[path.resolve()] = name


@contextlib.contextmanager
def reserved(**paths: Path | None) -> Iterator[dict[str, Reserved | None]]:
    """The files of a release, opened in their folders. Those not stored within the block are removed."""
    places: dict[str, Reserved | None] = {}
    try:
        for name, path in paths.items():
            try:
                places[name] = None if path is None else Reserved(path, _ROOM, public=True)
            except OSError as error:
                raise _unwritable(name, Path(str(path)), error) from None
        yield places
    finally:
        for place in places.values():
            if place is not None:
                place.discard()


def need_standard_output(output: Path | None) -> None:
    """Refuses to release where standard output is closed (`>&-`) and no file takes its place."""
    if output is None and getattr(sys.stdout, "name", "") == os.devnull:
        raise typer.BadParameter("standard output is closed, so the value could not be shown. Add -o FILE.")


def delivered(
    outcome: Outcome, question: Question | None, ledger: Ledger | None, json: bool, places: dict[str, Reserved | None],
    named: Named,
) -> Exit:  # fmt: skip
    """Shows what was released, then stores it, then draws it."""
    content = [one.content() for one in outcome.releases]
    text = json_text(content if outcome.grouped else content[0])
    delivery = Delivery(text, current_payment())
    if json:
        notes = [] if outcome.releases else nothing_shown(outcome)
    else:
        notes = release_notes(outcome)
        if question is not None:
            notes = [*shares_in_words(question, outcome.shares, outcome.price[0]), *notes]
        if question is not None:
            notes += advice_in_words(question, outcome.plan if outcome.releases else None)
    delivery.show(None if json else lambda: release_lines(outcome), notes)
    output, plot = places["output"], places["plot"]
    delivery.store(output, lambda: (text + "\n").encode())
    if outcome.releases:
        if plot is not None:
            delivery.store(plot, lambda: release_bytes(outcome, plot.path, named.noun))
        context = partial(Context.of, outcome, ledger, named)
        delivery.store(places["report"], lambda: report_page(outcome, context()).encode())
        delivery.store(places["registry"], lambda: registry_entry(outcome, context()).encode())
    else:
        for place in (plot, places["report"], places["registry"]):
            if place is not None:
                note(f"{place.path} was not written: no group is shown")
    return delivery.end()


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


def _unwritable(name: str, path: Path, error: OSError) -> ArgumentError:
    return ArgumentError(name, str(path), f"cannot be written ({error.strerror})", "Choose another place")
