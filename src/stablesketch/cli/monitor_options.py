"""The options of `stablesketch monitor` that no other command has; those it shares are in options.py."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..ledger.period import Per
from ..monitor.presets import LineFormat, PresetName, TimeUnit
from ..monitor.watch import Protect
from .options import count, in_data, in_output, in_privacy, in_size

in_windows, in_shown, in_alerts = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Windows", "Page and metrics", "Alerts")
)

Source = Annotated[str | None, typer.Argument(help="A file, or - for standard input.", show_default=False)]
Also = Annotated[
    list[str] | None,
    typer.Option(help="Another statistic: distinct, or hill:0.5. All of them share ε evenly. May be repeated."),
]
Every = Annotated[str, in_windows(help="Length of a window: 30s, 1m, 1h, 1d.")]
Lateness = Annotated[str | None, in_windows(help="How long a window waits for late rows (default: 10s with --time).")]
Since = Annotated[str | None, in_windows("--from", help="Replay: start of the first window, 2026-11-16T00:00:00Z.")]
Until = Annotated[str | None, in_windows("--until", help="Replay: end of the last window.")]
Follow = Annotated[bool, in_data("--follow", help="Wait for more lines, through rotation and truncation of the file.")]
PresetUsed = Annotated[
    PresetName | None,
    in_data(help="Use the field names that this collector writes."),
]
Time = Annotated[
    str | None,
    in_data(help="The field of times, since 1970 or RFC 3339; arrival: when the line was read (default)."),
]
UnitOfTimes = Annotated[TimeUnit | None, in_data(help="Unit of times that are numbers (default: s).")]
MaxValue = Annotated[int | None, in_privacy(parser=count, metavar="N", help="Maximum value of a row.")]
FormatOfLines = Annotated[
    LineFormat | None,
    in_data(help="The format of lines, if neither preset nor file suffix determines it."),
]
Fields = Annotated[str | None, in_data(help="The columns of CSV or TSV without a header, separated by commas.")]
Epsilon = Annotated[float | None, in_privacy(help="Maximum ε of a window (default: 1 with --protect event).")]
Delta = Annotated[float | None, in_privacy(help="Maximum δ of a window (default: 1e-9 with --protect event).")]
Protected = Annotated[
    Protect,
    in_privacy(help="Single rows, over all windows; or people in each window, whose ε each window spends."),
]
Person = Annotated[str | None, in_privacy(help="The field of people, with --protect person-window.")]
PairsPerPerson = Annotated[
    int | None,
    in_privacy(parser=count, metavar="N", help="How many rows of one person a window counts (default 1)."),
]
LedgerFile = Annotated[
    Path | None, in_privacy(help="Pay every window from this ledger; none is released once it is spent.")
]
BudgetPer = Annotated[Per | None, in_privacy(help="Require that the budget of --ledger renews by this period (UTC).")]
Mechanism = Annotated[Literal["sketch", "exact"], in_size(help="exact holds all keys of a window.")]
Confidence = Annotated[float, in_size(help="Confidence level.")]
State = Annotated[
    Path | None, in_output(help="Folder for the state, to continue after a stop. Guard it like the data.")
]
Out = Annotated[Path | None, in_output(help="Append releases to this file, as JSON lines, instead of showing them.")]
Demo = Annotated[
    bool, in_shown("--demo", help="Play a made-up day of DNS queries with an attack in it, and open the page.")
]
Listen = Annotated[
    str | None,
    in_shown(
        metavar="ADDRESS:PORT",
        help="Serve a live page and /metrics for Prometheus, /healthz, /readyz: released values alone.",
    ),
]
ListenPrivate = Annotated[
    str | None,
    in_shown(metavar="ADDRESS:PORT", help="Serve exact counts of rows, which are not private; loopback only."),
]
Textfile = Annotated[
    Path | None, in_shown(metavar="FILE.prom", help="Keep released values in a file for node_exporter.")
]
AlertBelow = Annotated[
    float | None, in_alerts(help="Alert if the released value is below this; of --statistic, not of --also.")
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
        help="POST the JSON of each alert to this webhook. A token "
        "in it is safer in the environment than in the list of processes.",
    ),
]
