"""The options of `stablesketch monitor` that no other command has; those it shares are in options.py."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..ledger.period import Per
from ..monitor.input.fields import LineFormat, PresetName, TimeUnit
from ..monitor.watch import Protect
from .options import count, in_data, in_output, in_privacy, in_size

in_windows, in_shown, in_alerts = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Windows", "Page and metrics", "Alerts")
)

Source = Annotated[
    str | None, typer.Argument(metavar="SOURCE", help="A file, or - for standard input.", show_default=False)
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Another statistic: distinct, or hill:0.5. All of them share ε evenly. May be repeated."
    ),
]
Every = Annotated[str, in_windows(metavar="DURATION", help="Length of a window: 30s, 1m, 1h, 1d.")]
Lateness = Annotated[
    str | None, in_windows(metavar="DURATION", help="How long a window waits for late rows (default: 10s with --time).")
]
Since = Annotated[
    str | None, in_windows("--from", metavar="TIME", help="Replay: start of the first window, 2026-11-16T00:00:00Z.")
]
Until = Annotated[str | None, in_windows("--until", metavar="TIME", help="Replay: end of the last window.")]
Follow = Annotated[bool, in_data("--follow", help="Wait for more lines, through rotation and truncation of the file.")]
PresetUsed = Annotated[
    PresetName | None,
    in_data(help="Use the field names of this program's logs."),
]
Time = Annotated[
    str | None,
    in_data(
        metavar="FIELD", help="The time field: a number since 1970, or RFC 3339. Default: arrival, when a line is read."
    ),
]
UnitOfTimes = Annotated[TimeUnit | None, in_data(help="Unit of numeric times (default: s).")]
MaxValue = Annotated[int | None, in_privacy(parser=count, metavar="N", help="Maximum value of a row.")]
FormatOfLines = Annotated[
    LineFormat | None,
    in_data(help="Format of the lines, if neither --preset nor the file suffix determines it."),
]
Fields = Annotated[
    str | None, in_data(metavar="NAMES", help="Column names of CSV or TSV without a header, separated by commas.")
]
Delimiter = Annotated[
    str | None, in_data(metavar="CHARACTER", help="Field separator of CSV or TSV (default: a comma, or a tab).")
]
Epsilon = Annotated[float | None, in_privacy(help="Maximum ε of a window (default: 1 with --protect event).")]
Delta = Annotated[float | None, in_privacy(help="Maximum δ of a window (default: 1e-9 with --protect event).")]
Protected = Annotated[
    Protect,
    in_privacy(
        help="event: each row, across all windows. person-window: each person within a window; every window costs "
        "them ε again."
    ),
]
Person = Annotated[
    str | None, in_privacy(metavar="FIELD", help="The field that identifies a person, with --protect person-window.")
]
PairsPerPerson = Annotated[
    int | None,
    in_privacy(parser=count, metavar="N", help="How many rows of one person a window counts (default 1)."),
]
LedgerFile = Annotated[
    Path | None,
    in_privacy(
        help="Pay for every window from this ledger; once it is spent, releases stop until it renews, if it does."
    ),
]
BudgetPer = Annotated[
    Per | None,
    in_privacy(
        metavar="PERIOD", help="Require a --ledger whose budget renews each day, week, month, quarter or year (UTC)."
    ),
]
Mechanism = Annotated[
    Literal["sketch", "exact"],
    in_size(help="sketch; or exact, private too, which holds all keys of a window and is more accurate."),
]
Confidence = Annotated[float, in_size(help="Confidence level of the intervals.")]
State = Annotated[
    Path | None,
    in_output(metavar="FOLDER", help="Folder for the state, to continue after a stop. Guard it like the data."),
]
Out = Annotated[Path | None, in_output(help="Append releases to this file, as JSON lines, instead of showing them.")]
Demo = Annotated[
    bool, in_shown("--demo", help="Play a made-up day of DNS queries with an attack in it, and open the page.")
]
Listen = Annotated[
    str | None,
    in_shown(
        metavar="ADDRESS:PORT",
        help="Serve a live page and /metrics for Prometheus, /healthz, /readyz: released values and, on the page, "
        "notes about the input.",
    ),
]
ListenPrivate = Annotated[
    str | None,
    in_shown(metavar="ADDRESS:PORT", help="Serve exact counts of rows, which are not private; loopback only."),
]
Textfile = Annotated[
    Path | None, in_shown(metavar="FILE.prom", help="Write released values to a file for node_exporter.")
]
AlertBelow = Annotated[
    float | None, in_alerts(help="Alert if the released value of --statistic (not of --also) is below this.")
]
AlertDrop = Annotated[
    float | None,
    in_alerts(metavar="K", help="Alert if it is K deviations below the median of the last 60 windows."),
]
AlertOut = Annotated[Path | None, in_alerts(help="Append alerts to this file, as JSON lines.")]
AlertRun = Annotated[
    str | None, in_alerts(metavar="COMMAND", help="Run this for each alert, with its JSON on standard input.")
]
AlertUrl = Annotated[
    str | None,
    in_alerts(
        metavar="URL",
        envvar="STABLESKETCH_ALERT_URL",
        help="POST the JSON of each alert to this webhook. If it contains a token, use the environment variable: "
        "other users can see a command line.",
    ),
]
