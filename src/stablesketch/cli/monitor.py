"""`stablesketch monitor`: private numbers of a live stream, window by window."""

from __future__ import annotations

import os
import signal
import sys
import time as clock
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..errors import ArgumentError, LedgerMismatch
from ..ledger import Ledger
from ..ledger.period import Per
from ..monitor import Monitor, Watch
from ..monitor.alerts import Alerts, Judge, in_words
from ..monitor.block import Block
from ..monitor.demo_day import FIELDS as DEMO_FIELDS
from ..monitor.demo_day import PlayedDay
from ..monitor.fields import LineFields
from ..monitor.followed import followed
from ..monitor.lines import Clock
from ..monitor.messengers import Messenger, Post, command, json_lines, webhook
from ..monitor.monitor import Sink
from ..monitor.outlet import JsonLinesFile
from ..monitor.outputs import Outputs
from ..monitor.piped import piped
from ..monitor.state import MonitorState
from ..monitor.windows import Windows
from ..statistic import STATISTICS, Statistic
from . import options
from .exits import Exit
from .monitor_demo import check_demo, open_page
from .monitor_lines import promise, show_record
from .screen import note
from .statistic_options import Chosen, offered

EXAMPLES = """[bold]Examples[/]

stablesketch monitor --demo

tail -n 0 -F eve.json | stablesketch monitor - --preset suricata --statistic shannon --every 1m \\
  --epsilon 1 --delta 1e-9 --state /var/lib/stablesketch

stablesketch monitor /var/log/zeek/conn.log --follow --preset zeek --key id.orig_h --statistic hill --order 0.5 \\
  --every 5m --epsilon 1 --delta 1e-9 --state state --out releases.jsonl

stablesketch monitor day.csv --key app --time at --statistic shannon --every 1h --epsilon 1 --delta 1e-9 \\
  --from 2026-11-16T00:00:00Z --until 2026-11-17T00:00:00Z"""

in_windows, in_shown, in_alerts = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Windows", "Page and metrics", "Alerts")
)
_DROP = 3.0  # deviations from which the page marks a drop, if --alert-drop does not say


def monitor(
    statistic: Chosen,
    source: Annotated[str | None, typer.Argument(help="A file, or - for standard input.", show_default=False)] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(help="Another statistic: distinct, or hill:0.5. All of them share ε evenly. May be repeated."),
    ] = None,
    every: Annotated[str, in_windows(help="Length of a window: 30s, 1m, 1h, 1d.")] = "1m",
    lateness: Annotated[
        str | None, in_windows(help="How long a window waits for late rows (default: 10s with --time).")
    ] = None,
    since: Annotated[
        str | None, in_windows("--from", help="Replay: start of the first window, 2026-11-16T00:00:00Z.")
    ] = None,
    until: Annotated[str | None, in_windows("--until", help="Replay: end of the last window.")] = None,
    follow: Annotated[
        bool, options.in_data("--follow", help="Wait for more lines, through rotation and truncation of the file.")
    ] = False,
    preset: Annotated[
        Literal["zeek", "suricata", "goflow2"] | None,
        options.in_data(help="Use the field names that this collector writes."),
    ] = None,
    key: options.Key = None,
    time: Annotated[
        str | None,
        options.in_data(help="The field of times, since 1970 or RFC 3339; arrival: when the line was read (default)."),
    ] = None,
    time_unit: Annotated[
        Literal["s", "ms", "us", "ns"] | None, options.in_data(help="Unit of times that are numbers (default: s).")
    ] = None,
    value: options.Value = None,
    max_value: Annotated[
        int | None, options.in_privacy(parser=options.count, metavar="N", help="Maximum value of a row.")
    ] = None,
    clip: options.Clip = False,
    format: Annotated[
        Literal["json", "csv", "tsv", "zeek", "lines"] | None,
        options.in_data(help="The format of lines, if neither preset nor file suffix determines it."),
    ] = None,
    fields: Annotated[
        str | None, options.in_data(help="The columns of CSV or TSV without a header, separated by commas.")
    ] = None,
    delimiter: options.Delimiter = None,
    on_bad: options.OnBad = "skip",
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    protect: Annotated[
        Literal["event", "person-window"],
        options.in_privacy(help="Single rows, over all windows; or people in each window, whose ε each window spends."),
    ] = "event",
    person: Annotated[str | None, options.in_privacy(help="The field of people, with --protect person-window.")] = None,
    pairs_per_person: Annotated[
        int | None,
        options.in_privacy(
            parser=options.count, metavar="N", help="How many rows of one person a window counts (default 1)."
        ),
    ] = None,
    ledger: Annotated[
        Path | None, options.in_privacy(help="Pay every window from this ledger; none is released once it is spent.")
    ] = None,
    budget_per: Annotated[
        Per | None, options.in_privacy(help="Require that the budget of --ledger renews by this period (UTC).")
    ] = None,
    mechanism: Annotated[
        Literal["sketch", "exact"], options.in_size(help="exact holds all keys of a window.")
    ] = "sketch",
    error: options.Error = None,
    memory: options.Memory = None,
    confidence: Annotated[float, options.in_size(help="Confidence level.")] = 0.95,
    state: Annotated[
        Path | None, options.in_output(help="Folder for the state, to continue after a stop. Guard it like the data.")
    ] = None,
    out: Annotated[
        Path | None, options.in_output(help="Append releases to this file, as JSON lines, instead of showing them.")
    ] = None,
    demo: Annotated[
        bool, in_shown("--demo", help="Play a made-up day of DNS queries with an attack in it, and open the page.")
    ] = False,
    listen: Annotated[
        str | None,
        in_shown(
            metavar="ADDRESS:PORT",
            help="Serve a live page and /metrics for Prometheus, /healthz, /readyz: released values alone.",
        ),
    ] = None,
    listen_private: Annotated[
        str | None,
        in_shown(metavar="ADDRESS:PORT", help="Serve exact counts of rows, which are not private; loopback only."),
    ] = None,
    textfile: Annotated[
        Path | None, in_shown(metavar="FILE.prom", help="Keep released values in a file for node_exporter.")
    ] = None,
    alert_below: Annotated[
        float | None, in_alerts(help="Alert if the released value is below this; of --statistic, not of --also.")
    ] = None,
    alert_drop: Annotated[
        float | None,
        in_alerts(metavar="K", help="Alert if it is K deviations below the median of the last 60 windows."),
    ] = None,
    alert_out: Annotated[Path | None, in_alerts(help="Append alerts to this file, as JSON lines.")] = None,
    alert_run: Annotated[
        str | None, in_alerts(metavar="COMMAND", help="Run this for each alert, with its JSON on standard input.")
    ] = None,
    alert_url: Annotated[
        str | None,
        in_alerts(
            metavar="URL",
            envvar="STABLESKETCH_ALERT_URL",
            help="POST the JSON of each alert to this webhook. A token "
            "in it is safer in the environment than in the list of processes.",
        ),
    ] = None,
) -> int:
    """Private numbers of a live stream: one release for each window of time."""
    day = PlayedDay() if demo else None
    if day is not None:
        check_demo(
            {"the source": source, "--follow": follow or None, "--preset": preset, "--key": key, "--time": time,
             "--time-unit": time_unit, "--value": value, "--max-value": max_value, "--format": format,
             "--fields": fields, "--delimiter": delimiter, "--lateness": lateness, "--from": since, "--until": until,
             "--state": state, "--person": person, "--ledger": ledger},
        )  # fmt: skip
        source, read, lateness = "demo", DEMO_FIELDS, "0s"
        epsilon, delta = 1.0 if epsilon is None else epsilon, 1e-9 if delta is None else delta
        listen = "127.0.0.1:0" if listen is None else listen
    elif source is None:
        raise typer.BadParameter("the source is missing. Pass a file, or - for standard input; to look first, --demo.")
    else:
        read = LineFields.of(
            format=format, preset=preset, key=tuple(options.listed(key)), time=time, time_unit=time_unit, value=value,
            max_value=max_value, clip=clip, names=tuple(options.listed(fields)) or None, delimiter=delimiter,
            source=source, person=person,
        )  # fmt: skip
    privacy = options.privacy_of(epsilon, delta, 0, 1, "add_remove", 1)
    if follow and (source == "-" or since is not None):
        raise typer.BadParameter("--follow is for a file that is being written. Leave it out.")
    if day is None and source != "-" and not follow and since is None:
        raise typer.BadParameter(
            "a file that is not followed is replayed, and needs --time, --from and --until: which windows there are "
            "must not depend on its rows. To wait for more rows, add --follow."
        )
    if lateness is not None and (read.time is None or since is not None):
        why = "without --time no row is late" if read.time is None else "a replay waits for all rows"
        raise typer.BadParameter(f"--lateness has no use: {why}. Leave it out.")
    late = lateness or ("0s" if read.time is None or since is not None else "10s")
    watch = Watch.of(
        [statistic.made(), *map(_statistic, also or ())], privacy.epsilon, privacy.delta, read,
        Windows.of(every, late, since, until), mechanism=mechanism, memory=memory, error=error, on_bad=on_bad,
        confidence=confidence, protect=protect, pairs_per_person=1 if pairs_per_person is None else pairs_per_person,
    )  # fmt: skip
    books = _ledger(ledger, budget_per, people=protect != "event")
    sink: Sink = show_record if out is None else JsonLinesFile(out)
    messengers: list[Messenger] = [lambda alert: note(in_words(alert))]
    if alert_out is not None:
        messengers.append(json_lines(alert_out))
    if alert_run is not None:
        messengers.append(command(alert_run))
    if alert_url is not None:
        messengers.append(webhook(alert_url))
    if alert_below is None and alert_drop is None and len(messengers) > 1:
        raise typer.BadParameter("nothing is an alert. Add --alert-drop 3, or --alert-below.")
    name = source if source == "-" else os.path.abspath(source)
    judge = Judge(alert_below, alert_drop)
    outputs = Outputs(listen, listen_private, textfile)
    try:
        held = MonitorState(state, watch.to_json(name, follow=follow, ledger=str(books.path) if books else ""))
    except BaseException:
        outputs.close()
        raise
    post = Post(messengers, note)
    try:
        before = held.delivered()
        alerts = Alerts(post, judge, before)
        shown = outputs.sinks(watch, Judge(alert_below, _DROP if alert_drop is None else alert_drop), before, note)
        running = Monitor(
            watch, "standard input" if source == "-" else source,
            partial(_source, source, follow) if day is None else day.blocks, held, [sink, alerts, *shown],
            replays=source != "-", ledger=books, say=note, clock=clock.time_ns if day is None else day.clock,
            elapsed=clock.monotonic_ns if day is None else None,
        )  # fmt: skip
        note(promise(watch, books, piped=source == "-"))
        outputs.begin(running)
        for said in outputs.addresses:
            note(said)
        if outputs.released is not None and demo:
            open_page(outputs.released.root)
        _stopping(running)
        running.run()
    finally:
        outputs.close()
        held.close()
        post.close()
    return Exit.DONE


def _statistic(text: str) -> Statistic:
    name, _, argument = text.partition(":")
    names = [kind.name for kind in offered()]
    if name not in names:
        raise ArgumentError("also", text, f"must be one of {', '.join(names)}", "Choose one of these")
    given = {each.option: argument for each in STATISTICS[name].arguments[:1] if argument}
    if argument and not given:
        raise ArgumentError("also", text, f"cannot have a value for {name}", f"Pass {name}")
    return Chosen(name, {option: option.kind(value) for option, value in given.items()}).made()


def _source(name: str, follow: bool, clock: Clock, position: Any, seen: int | None) -> Iterator[Block]:
    if name == "-":
        return piped(sys.stdin.fileno(), clock)
    return followed(Path(name), clock, follow=follow, position=position, seen=seen)


def _stopping(running: Monitor) -> None:
    """Signals end it between two blocks, at a checkpoint."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        kind = getattr(signal, name, None)
        if kind is not None and signal.getsignal(kind) != signal.SIG_IGN:
            signal.signal(kind, lambda *_: running.stop())


def _ledger(path: Path | None, per: str | None, *, people: bool) -> Ledger | None:
    """The ledger that windows pay from, which must be for what they protect, and renew as is asked for."""
    if path is None:
        if per is not None:
            raise typer.BadParameter("--budget-per is about a ledger. Add --ledger, or leave it out.")
        return None
    made = f"stablesketch ledger new {path.name} --epsilon 10{' --people' * people}{f' --per {per}' if per else ''}"
    if not path.exists():
        raise LedgerMismatch(f"there is no ledger {path}. Make one: {made}")
    found = options.open_ledger(path)
    if per is not None and found.per != per:
        renews = "does not renew" if found.per is None else f"renews each {found.per}"
        raise LedgerMismatch(f"the budget of {path} {renews}, and --budget-per is {per}. Make another ledger: {made}")
    return found
