"""`stablesketch monitor`: private numbers of a live stream, window by window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ArgumentError
from ..monitor import Watch
from ..monitor.demo_day import FIELDS as DEMO_FIELDS
from ..monitor.demo_day import PlayedDay
from ..monitor.state.outbox import JsonLinesFile, Sink
from ..reading.files import no_file
from ..statistic import STATISTICS, Statistic
from . import options
from .exits import Exit
from .monitor_options import AccuracyOptions, AlertOptions, LineOptions, PageOptions, PriceOptions, WindowOptions
from .monitor_run import LineInput, not_shown, paying_ledger, run, show_record
from .option_groups import Chosen, offered
from .screen import note

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
    *,
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
    windows: WindowOptions,
    lines: LineOptions,
    price: PriceOptions,
    accuracy: AccuracyOptions,
    state: Annotated[
        Path | None,
        options.in_output(
            metavar="FOLDER", help="Folder for the state, to continue after a stop. Guard it like the data."
        ),
    ] = None,
    out: Annotated[
        Path | None, options.in_output(help="Append releases to this file, as JSON lines, instead of showing them.")
    ] = None,
    page: PageOptions,
    alerts: AlertOptions,
) -> int:
    day = PlayedDay() if page.demo else None
    if day is not None:
        _check_demo(source, {**asdict(lines), **asdict(windows), **asdict(price), "state": state})
        source, read, windows = "demo", DEMO_FIELDS, replace(windows, lateness="0s")
    elif source is None:
        raise typer.BadParameter(
            "the source is missing. Pass a file, or - for standard input. To try it first, use --demo."
        )
    else:
        if source != "-" and state is None and not Path(source).exists():  # a state finds one that was renamed
            raise no_file(source)
        read = lines.read(source, price.person)
    privacy = price.privacy()
    stream = LineInput(source, lines.follow, day)
    windows.check(stream)
    watch = Watch.of(
        [statistic.made(), *map(_statistic, also or ())], privacy.epsilon, privacy.delta, read, windows.windows(read),
        on_bad=lines.on_bad, protect=price.protect,
        pairs_per_person=1 if price.pairs_per_person is None else price.pairs_per_person, **asdict(accuracy),
    )  # fmt: skip
    books = paying_ledger(price.ledger, price.budget_per, watch)
    sink: Sink = JsonLinesFile(out) if out is not None else show_record if day is None else not_shown
    alerting = alerts.alerting(demo=page.demo)
    if not price.chosen and day is None:
        note(f"ε = {privacy.epsilon:g} and δ = {privacy.delta:g}: choose others with --epsilon and --delta")
    run(watch, stream, sink, alerting, page.outputs(), state, books)
    return Exit.DONE


_NOT_IN_DEMO = (
    "follow", "preset", "key", "time", "time_unit", "value", "max_value", "format", "fields", "delimiter", "lateness",
    "since", "until", "state", "person", "ledger",
)  # fmt: skip


def _check_demo(source: str | None, given: Mapping[str, object]) -> None:
    """Refuses options that would change the stream."""
    used = [name for name in _NOT_IN_DEMO if given[name] is not None and given[name] is not False]
    typed = [f"--{'from' if name == 'since' else name.replace('_', '-')}" for name in used]
    found = typed if source is None else ["the source", *typed]
    if found:
        raise typer.BadParameter(f"--demo brings its own stream. Leave out {', '.join(found)}.")


def _statistic(text: str) -> Statistic:
    name, _, argument = text.partition(":")
    names = [kind.name for kind in offered()]
    if name not in names:
        raise ArgumentError("also", text, f"must be one of {', '.join(names)}", "Choose one of these")
    given = {each.option: argument for each in STATISTICS[name].arguments[:1] if argument}
    if argument and not given:
        raise ArgumentError("also", text, f"cannot have a value for {name}", f"Pass {name}")
    return Chosen(name, {option: option.kind(value) for option, value in given.items()}).made()
