"""`stablesketch monitor`: private numbers of a live stream, window by window."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import ArgumentError
from ..ledger.period import Per
from ..monitor import Watch
from ..monitor.demo_day import FIELDS as DEMO_FIELDS
from ..monitor.demo_day import PlayedDay
from ..monitor.input.fields import LineFields, LineFormat, PresetName, TimeUnit
from ..monitor.shown.outputs import Outputs
from ..monitor.state.outbox import JsonLinesFile, Sink
from ..monitor.watch import Protect
from ..monitor.windows import Windows
from ..release.arguments import DEFAULTS
from ..statistic import STATISTICS, Statistic
from . import options
from .exits import Exit
from .monitor_run import DROP, Alerting, LineInput, not_shown, paying_ledger, run, show_record
from .option_groups import Chosen, offered
from .screen import note

_in_windows, _in_shown, _in_alerts = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Windows", "Page and metrics", "Alerts")
)
USUAL = 1.0, 1e-9  # ε and δ of single rows, if the user does not say: what one row costs, however long it runs
EXAMPLES = """[bold]Examples[/]

stablesketch monitor --demo

tail -n 0 -F eve.json | stablesketch monitor - --preset suricata \\
  --statistic shannon --every 1m --epsilon 1 --delta 1e-9 \\
  --state /var/lib/stablesketch

stablesketch monitor /var/log/zeek/conn.log --follow --preset zeek \\
  --key id.orig_h --statistic hill --order 0.5 \\
  --every 5m --epsilon 1 --delta 1e-9 --state state \\
  --out releases.jsonl

stablesketch monitor day.csv --key app --time at --statistic shannon \\
  --every 1h --epsilon 1 --delta 1e-9 \\
  --from 2026-11-16T00:00:00Z --until 2026-11-17T00:00:00Z"""


def monitor(
    statistic: Chosen,
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="A file, or - for standard input.", show_default=False)
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another statistic: distinct, or hill:0.5. All of them share ε evenly. May be repeated.",
        ),
    ] = None,
    every: Annotated[str, _in_windows(metavar="DURATION", help="Length of a window: 30s, 1m, 1h, 1d.")] = "1m",
    lateness: Annotated[
        str | None,
        _in_windows(metavar="DURATION", help="How long a window waits for late rows (default: 10s with --time)."),
    ] = None,
    since: Annotated[
        str | None,
        _in_windows("--from", metavar="TIME", help="Replay: start of the first window, 2026-11-16T00:00:00Z."),
    ] = None,
    until: Annotated[str | None, _in_windows("--until", metavar="TIME", help="Replay: end of the last window.")] = None,
    follow: Annotated[
        bool, options.in_data("--follow", help="Wait for more lines, through rotation and truncation of the file.")
    ] = False,
    preset: Annotated[
        PresetName | None,
        options.in_data(help="Use the field names of this program's logs."),
    ] = None,
    key: options.Key = None,
    time: Annotated[
        str | None,
        options.in_data(
            metavar="FIELD",
            help="The time field: a number since 1970, or RFC 3339. Default: arrival, when a line is read.",
        ),
    ] = None,
    time_unit: Annotated[TimeUnit | None, options.in_data(help="Unit of numeric times (default: s).")] = None,
    value: options.Value = None,
    max_value: Annotated[int | None, options.count_in_privacy(help="Maximum value of a row.")] = None,
    clip: options.Clip = DEFAULTS["clip"],
    format: Annotated[
        LineFormat | None,
        options.in_data(help="Format of the lines, if neither --preset nor the file suffix determines it."),
    ] = None,
    fields: Annotated[
        str | None,
        options.in_data(metavar="NAMES", help="Column names of CSV or TSV without a header, separated by commas."),
    ] = None,
    delimiter: Annotated[
        str | None,
        options.in_data(metavar="CHARACTER", help="Field separator of CSV or TSV (default: a comma, or a tab)."),
    ] = None,
    on_bad: options.OnBad = Watch.on_bad,
    epsilon: Annotated[
        float | None, options.in_privacy(help="Maximum ε of a window (default: 1 with --protect event).")
    ] = None,
    delta: Annotated[
        float | None, options.in_privacy(help="Maximum δ of a window (default: 1e-9 with --protect event).")
    ] = None,
    protect: Annotated[
        Protect,
        options.in_privacy(
            help="event: each row, across all windows. person-window: each person within a window; every window costs "
            "them ε again."
        ),
    ] = Watch.protect,
    person: Annotated[
        str | None,
        options.in_privacy(metavar="FIELD", help="The field that identifies a person, with --protect person-window."),
    ] = None,
    pairs_per_person: Annotated[
        int | None, options.count_in_privacy(help="How many rows of one person a window counts (default 1).")
    ] = None,
    ledger: Annotated[
        Path | None,
        options.in_privacy(
            help="Pay for every window from this ledger; once it is spent, releases stop until it renews, if it does."
        ),
    ] = None,
    budget_per: Annotated[
        Per | None,
        options.in_privacy(
            metavar="PERIOD",
            help="Require a --ledger whose budget renews each day, week, month, quarter or year (UTC).",
        ),
    ] = None,
    mechanism: Annotated[
        Literal["sketch", "exact"],
        options.in_size(help="sketch; or exact, private too, which holds all keys of a window and is more accurate."),
    ] = DEFAULTS["mechanism"],
    error: options.Error = None,
    memory: options.Memory = None,
    confidence: options.Confidence = DEFAULTS["confidence"],
    state: Annotated[
        Path | None,
        options.in_output(
            metavar="FOLDER", help="Folder for the state, to continue after a stop. Guard it like the data."
        ),
    ] = None,
    out: Annotated[
        Path | None, options.in_output(help="Append releases to this file, as JSON lines, instead of showing them.")
    ] = None,
    demo: Annotated[
        bool, _in_shown("--demo", help="Play a made-up day of DNS queries with an attack in it, and open the page.")
    ] = False,
    listen: Annotated[
        str | None,
        _in_shown(
            metavar="ADDRESS:PORT",
            help="Serve a live page and /metrics for Prometheus, /healthz, /readyz: released values and, on the page, "
            "notes about the input.",
        ),
    ] = None,
    listen_private: Annotated[
        str | None,
        _in_shown(metavar="ADDRESS:PORT", help="Serve exact counts of rows, which are not private; loopback only."),
    ] = None,
    textfile: Annotated[
        Path | None, _in_shown(metavar="FILE.prom", help="Write released values to a file for node_exporter.")
    ] = None,
    alert_below: Annotated[
        float | None, _in_alerts(help="Alert if the released value of --statistic (not of --also) is below this.")
    ] = None,
    alert_drop: Annotated[
        float | None,
        _in_alerts(metavar="K", help="Alert if it is K deviations below the median of the last 60 windows."),
    ] = None,
    alert_out: Annotated[Path | None, _in_alerts(help="Append alerts to this file, as JSON lines.")] = None,
    alert_run: Annotated[
        str | None, _in_alerts(metavar="COMMAND", help="Run this for each alert, with its JSON on standard input.")
    ] = None,
    alert_url: Annotated[
        str | None,
        _in_alerts(
            metavar="URL",
            envvar="STABLESKETCH_ALERT_URL",
            help="POST the JSON of each alert to this webhook. If it contains a token, use the environment variable: "
            "other users can see a command line.",
        ),
    ] = None,
) -> int:
    day = PlayedDay() if demo else None
    if day is not None:
        _check_demo(
            {"the source": source, "--follow": follow or None, "--preset": preset, "--key": key, "--time": time,
             "--time-unit": time_unit, "--value": value, "--max-value": max_value, "--format": format,
             "--fields": fields, "--delimiter": delimiter, "--lateness": lateness, "--from": since, "--until": until,
             "--state": state, "--person": person, "--ledger": ledger}
        )  # fmt: skip
        source, read, lateness = "demo", DEMO_FIELDS, "0s"
        listen = "127.0.0.1:0" if listen is None else listen
        alert_drop = DROP if alert_below is None and alert_drop is None else alert_drop
    elif source is None:
        raise typer.BadParameter(
            "the source is missing. Pass a file, or - for standard input. To try it first, use --demo."
        )
    else:
        read = LineFields.of(
            format=format, preset=preset, key=tuple(options.listed(key)), time=time, time_unit=time_unit, value=value,
            max_value=max_value, clip=clip, names=tuple(options.listed(fields)) or None, delimiter=delimiter,
            source=source, person=person,
        )  # fmt: skip
    chosen = epsilon is not None and delta is not None
    if protect == "event":  # people pay again in every window: there only the user can choose
        epsilon, delta = USUAL[0] if epsilon is None else epsilon, USUAL[1] if delta is None else delta
    privacy = options.privacy_of(epsilon, delta, 0, 1, "add_remove", 1)
    stream = LineInput(source, follow, day)
    _check_replayed(stream, since)
    watch = Watch.of(
        [statistic.made(), *map(_statistic, also or ())], privacy.epsilon, privacy.delta, read,
        Windows.of(every, _waiting(lateness, read, since), since, until), mechanism=mechanism, memory=memory,
        error=error, on_bad=on_bad, confidence=confidence, protect=protect,
        pairs_per_person=1 if pairs_per_person is None else pairs_per_person,
    )  # fmt: skip
    books = paying_ledger(ledger, budget_per, watch)
    sink: Sink = JsonLinesFile(out) if out is not None else show_record if day is None else not_shown
    alerting = Alerting.of(alert_below, alert_drop, alert_out, alert_run, alert_url)
    if not chosen and day is None:
        note(f"ε = {privacy.epsilon:g} and δ = {privacy.delta:g}: choose others with --epsilon and --delta")
    run(watch, stream, sink, alerting, Outputs(listen, listen_private, textfile), state, books)
    return Exit.DONE


def _check_demo(given: Mapping[str, object]) -> None:
    """Refuses options that would change the stream, by their names."""
    used = [name for name, value in given.items() if value is not None]
    if used:
        raise typer.BadParameter(f"--demo brings its own stream. Leave out {', '.join(used)}.")


def _check_replayed(stream: LineInput, since: str | None) -> None:
    """Refuses a replay without its windows, and following what is replayed or piped."""
    if stream.follow and (stream.piped or since is not None):
        raise typer.BadParameter("--follow is for a file that is being written. Leave it out.")
    if stream.day is None and not stream.piped and not stream.follow and since is None:
        raise typer.BadParameter(
            "without --follow a file is replayed, which needs --time, --from and --until: the windows must not depend "
            "on the rows. To wait for more rows, add --follow."
        )


def _waiting(lateness: str | None, read: LineFields, since: str | None) -> str:
    """How long a window waits for late rows."""
    none_is_late = read.time is None or since is not None
    if lateness is not None and none_is_late:
        why = "without --time no row is late" if read.time is None else "a replay waits for all rows"
        raise typer.BadParameter(f"--lateness has no effect here: {why}. Leave it out.")
    return lateness or ("0s" if none_is_late else "10s")


def _statistic(text: str) -> Statistic:
    name, _, argument = text.partition(":")
    names = [kind.name for kind in offered()]
    if name not in names:
        raise ArgumentError("also", text, f"must be one of {', '.join(names)}", "Choose one of these")
    given = {each.option: argument for each in STATISTICS[name].arguments[:1] if argument}
    if argument and not given:
        raise ArgumentError("also", text, f"cannot have a value for {name}", f"Pass {name}")
    return Chosen(name, {option: option.kind(value) for option, value in given.items()}).made()
