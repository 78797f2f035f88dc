"""A monitor while it runs: its stream, its alerts, its state and its outputs, what it tells, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from ..errors import LedgerMismatch
from ..ledger import Ledger
from ..monitor import Monitor, Watch
from ..monitor.demo_day import PlayedDay
from ..monitor.input.blocks import Block, piped
from ..monitor.input.followed import followed
from ..monitor.shown.alerts import Alerts, Judge, alert_in_words, has_few
from ..monitor.shown.messengers import Messenger, Post, command, json_lines, webhook
from ..monitor.shown.outputs import Outputs
from ..monitor.state.outbox import Sink
from ..monitor.state.records import WINDOW
from ..monitor.state.state import MonitorState
from ..monitor.windows import Clock, shown
from ..secret.paying import STOPPING
from ..statistic.published import Release
from ..text.spoken import at_least
from . import options
from .screen import drop, note, number, rendered

DROP = 3.0  # deviations from which the page marks a drop, and --demo alerts, if --alert-drop does not say


@dataclass(frozen=True)
class LineInput:
    """Where lines come from: a file by its name, standard input by -, or the day of --demo."""

    source: str
    follow: bool
    day: PlayedDay | None

    @property
    def piped(self) -> bool:
        return self.source == "-"

    @property
    def place(self) -> str:
        """The name by which a state recognises this input."""
        return self.source if self.piped else os.path.abspath(self.source)

    def blocks(self, clock: Clock, position: Any, seen: int | None) -> Iterator[Block]:
        if self.day is not None:
            return self.day.blocks(clock, position, seen)
        if self.piped:
            return piped(sys.stdin.fileno(), clock)
        return followed(Path(self.source), clock, follow=self.follow, position=position, seen=seen)


@dataclass(frozen=True)
class Alerting:
    """What counts as an alert, and where alerts go."""

    judge: Judge
    judge_of_page: Judge  # which marks drops even if nobody is alerted
    messengers: Sequence[Messenger]

    @classmethod
    def of(
        cls, below: float | None, drop: float | None, file: Path | None, run: str | None, url: str | None
    ) -> Alerting:
        """From the options. The terminal shows every alert."""
        messengers: list[Messenger] = [lambda alert: note(alert_in_words(alert))]
        if file is not None:
            messengers.append(json_lines(file))
        if run is not None:
            messengers.append(command(run))
        if url is not None:
            messengers.append(webhook(url))
        if below is None and drop is None and len(messengers) > 1:
            raise typer.BadParameter("no alert is defined. Add --alert-drop 3, or --alert-below.")
        return cls(Judge(below, drop), Judge(below, DROP if drop is None else drop), messengers)


def paying_ledger(path: Path | None, per: str | None, watch: Watch) -> Ledger | None:
    """The ledger that windows pay from. It must protect what they protect, and renew as asked."""
    people = watch.protect != "event"
    if path is None:
        if per is not None:
            raise typer.BadParameter("--budget-per needs --ledger. Add --ledger, or leave it out.")
        return None
    name = path.name if not path.exists() else f"{path.stem}-{per}{path.suffix}"
    made = f"stablesketch ledger new {name} --epsilon 10{' --people' * people}{f' --per {per}' if per else ''}"
    if not path.exists():
        raise LedgerMismatch(f"ledger {path} does not exist. Create one: {made}")
    found = options.open_ledger(path)
    if per is not None and found.per != per:
        renews = "does not renew" if found.per is None else f"renews each {found.per}"
        raise LedgerMismatch(f"the budget of {path} {renews}, but --budget-per is {per}. Create another ledger: {made}")
    for decision in watch.decisions:
        found.require_unit(decision.ask)  # refuses another unit now, not after the first window
    return found


def run(
    watch: Watch, stream: LineInput, sink: Sink, alerting: Alerting, outputs: Outputs, state: Path | None,
    ledger: Ledger | None,
) -> None:  # fmt: skip
    """Runs until the stream ends or a signal arrives. Outputs and state are always closed."""
    try:
        paid_from = "" if ledger is None else str(ledger.path)
        held = MonitorState(state, watch.to_json(stream.place, follow=stream.follow, ledger=paid_from))
    except BaseException:
        outputs.close()
        raise
    post = Post(alerting.messengers, note)
    before_signals: dict[int, Any] = {}
    try:
        before = held.delivered()
        alerts = Alerts(post, alerting.judge, before)
        budget = None if ledger is None else ledger.epsilon
        others = outputs.sinks(watch, alerting.judge_of_page, before, note, budget)
        day = stream.day
        running = Monitor(
            watch, "standard input" if stream.piped else stream.source, stream.blocks, held, [sink, alerts, *others],
            replays=not stream.piped, ledger=ledger, say=note, clock=time.time_ns if day is None else day.clock,
            elapsed=time.monotonic_ns if day is None else None,
        )  # fmt: skip
        note(_promise(watch, ledger, piped=stream.piped, begins=running.begins))
        outputs.begin(running)
        for said in outputs.addresses:
            note(said)
        if outputs.released is not None and day is not None:
            _open_page(outputs.released.root)
        before_signals = _stopping(running)
        running.run()
        if running.stopped:
            note(
                "stopped. Open windows are lost, because there is no --state"
                if state is None
                else "stopped. To continue from --state, run the same command again"
            )
    finally:
        outputs.close()
        held.close()
        post.close()
        for kind, handler in before_signals.items():
            signal.signal(kind, handler)


def _stopping(running: Monitor) -> dict[int, Any]:
    """Makes signals end it between two blocks, at a checkpoint. Returns the old handlers, to restore at the end."""
    heard = [kind for kind in STOPPING if signal.getsignal(kind) != signal.SIG_IGN]
    return {kind: signal.signal(kind, lambda *_: running.stop()) for kind in heard}


def _promise(watch: Watch, ledger: Ledger | None, *, piped: bool, begins: int | None) -> str:
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


def _open_page(address: str) -> None:
    """Opens a browser if there is a screen; otherwise the user has the printed address."""
    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen and sys.stdout.isatty():
        webbrowser.open(address)


def not_shown(number: int, text: str) -> None:
    """Discards a record: in the demo the page shows records, and the terminal shows only alerts."""


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
