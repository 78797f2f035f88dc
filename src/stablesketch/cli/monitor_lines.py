"""What a monitor tells the person who runs it: its promise before it reads, and its records as lines."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.text import Text

from ..ledger import Ledger
from ..monitor import Watch
from ..monitor.shown.alerts import has_few
from ..monitor.state.records import WINDOW
from ..monitor.windows import shown
from ..statistic.published import Release
from ..text.spoken import at_least
from .screen import drop, number, rendered


def promise(watch: Watch, ledger: Ledger | None, *, piped: bool, begins: int | None) -> str:
    """What the user gets for ε, in plain words, before anything is read."""
    said = watch.promise
    if ledger is not None:
        until = "" if ledger.per is None else f" each {ledger.per}"
        said += (
            f". The ledger allows ε = {ledger.epsilon:g} at δ = {ledger.delta:g}{until}; {at_least(ledger.left())} left"
        )
    if watch.on_bad == "error":
        said += ". A line that cannot be used ends the monitor (--on-bad error), and everybody can see that it ended"
    if piped and watch.fields.time is None:
        said += ". Every line must come through the pipe exactly once, even after a restart: use tail -n 0 -F"
    if watch.windows.span is None:
        said += ". Counting "
        said += (
            "continues where it stopped" if begins is None else f"begins with the next whole window, {shown(begins)}"
        )
    return said


def show_record(_: int, text: str) -> None:
    """A record on standard output: a line for people on a terminal, JSON in a pipe."""
    content = json.loads(text)
    lines = [Text(text)] if not sys.stdout.isatty() else _in_words(content)
    try:
        sys.stdout.write(rendered(lines))
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
        raise


def _in_words(content: dict[str, Any]) -> list[Text]:
    if content["format"] != WINDOW:
        return [Text(f"{content['time']}  {content['note']}", style="dim")]
    lines = []
    for each in content["releases"]:
        release = Release.from_json(json.dumps(each))
        between = f"{100 * release.confidence:g}% between {number(release.low)} and {number(release.high)}"
        value = (f"{release.statistic} = {number(release.value)}", "bold green")
        few = ("  too few rows to say", "yellow") if has_few(content) else ""
        lines.append(Text.assemble((content["start"], "dim"), "  ", value, "  ", (between, "dim"), few))
    return lines
