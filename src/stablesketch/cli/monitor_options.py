"""The options of `stablesketch monitor` that belong together: windows, lines, price, accuracy, pages and alerts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..ledger.period import Per
from ..monitor.input.fields import LineFields, LineFormat, PresetName, TimeUnit
from ..monitor.shown.outputs import Outputs
from ..monitor.watch import Protect, Watch
from ..monitor.windows import Windows
from ..privacy import Privacy
from ..release.arguments import DEFAULTS
from . import options
from .monitor_run import DROP, Alerting, LineInput

_in_windows, _in_shown, _in_alerts = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Windows", "Page and metrics", "Alerts")
)
_USUAL = 1.0, 1e-9  # ε and δ of single rows, if the user does not say: what one row costs, however long it runs


@dataclass(frozen=True)
class WindowOptions:
    """The windows of time."""

    every: Annotated[str, _in_windows(metavar="DURATION", help="Length of a window: 30s, 1m, 1h, 1d.")] = "1m"
    lateness: Annotated[
        str | None,
        _in_windows(metavar="DURATION", help="How long a window waits for late rows (default: 10s with --time)."),
    ] = None
    since: Annotated[
        str | None,
        _in_windows("--from", metavar="TIME", help="Replay: start of the first window, 2026-11-16T00:00:00Z."),
    ] = None
    until: Annotated[str | None, _in_windows("--until", metavar="TIME", help="Replay: end of the last window.")] = None

    def windows(self, read: LineFields) -> Windows:
        """The windows of a stream of these lines."""
        return Windows.of(self.every, self._waiting(read), self.since, self.until)

    def _waiting(self, read: LineFields) -> str:
        """How long a window waits for late rows."""
        none_is_late = read.time is None or self.since is not None
        if self.lateness is not None and none_is_late:
            why = "without --time no row is late" if read.time is None else "a replay waits for all rows"
            raise typer.BadParameter(f"--lateness has no effect here: {why}. Leave it out.")
        return self.lateness or ("0s" if none_is_late else "10s")

    def check(self, stream: LineInput) -> None:
        """Refuses a replay without its windows, and following what is replayed or piped."""
        if stream.follow and (stream.piped or self.since is not None):
            raise typer.BadParameter("--follow is for a file that is being written. Leave it out.")
        if stream.day is None and not stream.piped and not stream.follow and self.since is None:
            raise typer.BadParameter(
                "without --follow a file is replayed, which needs --time, --from and --until: the windows must not "
                "depend on the rows. To wait for more rows, add --follow."
            )


@dataclass(frozen=True)
class LineOptions:
    """How lines are read."""

    follow: Annotated[
        bool, options.in_data("--follow", help="Wait for more lines, through rotation and truncation of the file.")
    ] = False
    preset: Annotated[PresetName | None, options.in_data(help="Use the field names of this program's logs.")] = None
    key: options.Key = None
    time: Annotated[
        str | None,
        options.in_data(
            metavar="FIELD",
            help="The time field: a number since 1970, or RFC 3339. Default: arrival, when a line is read.",
        ),
    ] = None
    time_unit: Annotated[TimeUnit | None, options.in_data(help="Unit of numeric times (default: s).")] = None
    value: options.Value = None
    max_value: Annotated[int | None, options.count_in_privacy(help="Maximum value of a row.")] = None
    clip: options.Clip = DEFAULTS["clip"]
    format: Annotated[
        LineFormat | None,
        options.in_data(help="Format of the lines, if neither --preset nor the file suffix determines it."),
    ] = None
    fields: Annotated[
        str | None,
        options.in_data(metavar="NAMES", help="Column names of CSV or TSV without a header, separated by commas."),
    ] = None
    delimiter: Annotated[
        str | None,
        options.in_data(metavar="CHARACTER", help="Field separator of CSV or TSV (default: a comma, or a tab)."),
    ] = None
    on_bad: options.OnBad = Watch.on_bad

    def read(self, source: str, person: str | None) -> LineFields:
        """The fields of the lines of this source."""
        return LineFields.of(
            format=self.format, preset=self.preset, key=tuple(options.columns_listed(self.key)), time=self.time,
            time_unit=self.time_unit, value=self.value, max_value=self.max_value, clip=self.clip,
            names=tuple(options.columns_listed(self.fields)) or None, delimiter=self.delimiter, source=source,
            person=person,
        )  # fmt: skip


@dataclass(frozen=True)
class PriceOptions:
    """What a window costs, whom it protects, and the ledger that pays."""

    epsilon: Annotated[
        float | None, options.in_privacy(help="Maximum ε of a window (default: 1 with --protect event).")
    ] = None
    delta: Annotated[
        float | None, options.in_privacy(help="Maximum δ of a window (default: 1e-9 with --protect event).")
    ] = None
    protect: Annotated[
        Protect,
        options.in_privacy(
            help="event: each row, across all windows. person-window: each person within a window; every window costs "
            "them ε again."
        ),
    ] = Watch.protect
    person: Annotated[
        str | None,
        options.in_privacy(metavar="FIELD", help="The field that identifies a person, with --protect person-window."),
    ] = None
    pairs_per_person: Annotated[
        int | None, options.count_in_privacy(help="How many rows of one person a window counts (default 1).")
    ] = None
    ledger: Annotated[
        Path | None,
        options.in_privacy(
            help="Pay for every window from this ledger; once it is spent, releases stop until it renews, if it does."
        ),
    ] = None
    budget_per: Annotated[
        Per | None,
        options.in_privacy(
            metavar="PERIOD",
            help="Require a --ledger whose budget renews each day, week, month, quarter or year (UTC).",
        ),
    ] = None

    @property
    def chosen(self) -> bool:
        """Whether both ε and δ were typed."""
        return self.epsilon is not None and self.delta is not None

    def privacy(self) -> Privacy:
        """ε and δ of a window. People pay again in every window: there only the user can choose them."""
        epsilon, delta = self.epsilon, self.delta
        if self.protect == "event":
            epsilon, delta = _USUAL[0] if epsilon is None else epsilon, _USUAL[1] if delta is None else delta
        return options.privacy_of(epsilon, delta, 0, 1, "add_remove", 1)


@dataclass(frozen=True)
class AccuracyOptions:
    """How accurate or how large a sketch is to be, by the names that arguments of `Watch.of` have."""

    mechanism: Annotated[
        Literal["sketch", "exact"],
        options.in_size(help="sketch; or exact, private too, which holds all keys of a window and is more accurate."),
    ] = DEFAULTS["mechanism"]
    error: options.Error = None
    memory: options.Memory = None
    confidence: options.Confidence = DEFAULTS["confidence"]


@dataclass(frozen=True)
class PageOptions:
    """The live page and the metrics."""

    demo: Annotated[
        bool, _in_shown("--demo", help="Play a made-up day of DNS queries with an attack in it, and open the page.")
    ] = False
    listen: Annotated[
        str | None,
        _in_shown(
            metavar="ADDRESS:PORT",
            help="Serve a live page and /metrics for Prometheus, /healthz, /readyz: released values and, on the page, "
            "notes about the input.",
        ),
    ] = None
    listen_private: Annotated[
        str | None,
        _in_shown(metavar="ADDRESS:PORT", help="Serve exact counts of rows, which are not private; loopback only."),
    ] = None
    textfile: Annotated[
        Path | None, _in_shown(metavar="FILE.prom", help="Write released values to a file for node_exporter.")
    ] = None

    def outputs(self) -> Outputs:
        """Reserves the ports. The demo always has a page."""
        listen = "127.0.0.1:0" if self.demo and self.listen is None else self.listen
        return Outputs(listen, self.listen_private, self.textfile)


@dataclass(frozen=True)
class AlertOptions:
    """What counts as an alert, and where alerts go."""

    alert_below: Annotated[
        float | None, _in_alerts(help="Alert if the released value of --statistic (not of --also) is below this.")
    ] = None
    alert_drop: Annotated[
        float | None,
        _in_alerts(metavar="K", help="Alert if it is K deviations below the median of the last 60 windows."),
    ] = None
    alert_out: Annotated[Path | None, _in_alerts(help="Append alerts to this file, as JSON lines.")] = None
    alert_run: Annotated[
        str | None, _in_alerts(metavar="COMMAND", help="Run this for each alert, with its JSON on standard input.")
    ] = None
    alert_url: Annotated[
        str | None,
        _in_alerts(
            metavar="URL",
            envvar="STABLESKETCH_ALERT_URL",
            help="POST the JSON of each alert to this webhook. If it contains a token, use the environment variable: "
            "other users can see a command line.",
        ),
    ] = None

    def alerting(self, *, demo: bool) -> Alerting:
        """The demo alerts of a drop if nothing else is asked for."""
        drop = DROP if demo and self.alert_below is None and self.alert_drop is None else self.alert_drop
        return Alerting.of(self.alert_below, drop, self.alert_out, self.alert_run, self.alert_url)
