"""`stablesketch monitor`: private numbers of a live stream, window by window."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

from ..errors import ArgumentError, LedgerMismatch
from ..ledger import Ledger
from ..ledger.record import Ask
from ..monitor import Watch
from ..monitor.demo_day import FIELDS as DEMO_FIELDS
from ..monitor.demo_day import PlayedDay
from ..monitor.input.fields import LineFields
from ..monitor.shown.outputs import Outputs
from ..monitor.state.outbox import JsonLinesFile, Sink
from ..monitor.windows import Windows
from ..release.arguments import DEFAULTS
from ..statistic import STATISTICS, Statistic
from . import monitor_options as own
from . import options
from .exits import Exit
from .monitor_run import DROP, Alerting, LineSource, not_shown, run, show_record
from .option_groups import Chosen, offered
from .screen import note

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
    source: own.Source = None,
    also: own.Also = None,
    every: own.Every = "1m",
    lateness: own.Lateness = None,
    since: own.Since = None,
    until: own.Until = None,
    follow: own.Follow = False,
    preset: own.PresetUsed = None,
    key: options.Key = None,
    time: own.Time = None,
    time_unit: own.UnitOfTimes = None,
    value: options.Value = None,
    max_value: own.MaxValue = None,
    clip: options.Clip = DEFAULTS["clip"],
    format: own.FormatOfLines = None,
    fields: own.Fields = None,
    delimiter: own.Delimiter = None,
    on_bad: options.OnBad = "skip",
    epsilon: own.Epsilon = None,
    delta: own.Delta = None,
    protect: own.Protected = "event",
    person: own.Person = None,
    pairs_per_person: own.PairsPerPerson = None,
    ledger: own.LedgerFile = None,
    budget_per: own.BudgetPer = None,
    mechanism: own.Mechanism = DEFAULTS["mechanism"],
    error: options.Error = None,
    memory: options.Memory = None,
    confidence: own.Confidence = DEFAULTS["confidence"],
    state: own.State = None,
    out: own.Out = None,
    demo: own.Demo = False,
    listen: own.Listen = None,
    listen_private: own.ListenPrivate = None,
    textfile: own.Textfile = None,
    alert_below: own.AlertBelow = None,
    alert_drop: own.AlertDrop = None,
    alert_out: own.AlertOut = None,
    alert_run: own.AlertRun = None,
    alert_url: own.AlertUrl = None,
) -> int:
    """Release private numbers from a live stream, one for each window of time."""
    day = PlayedDay() if demo else None
    if day is not None:
        _check_demo(
            {"the source": source, "--follow": follow or None, "--preset": preset, "--key": key, "--time": time,
             "--time-unit": time_unit, "--value": value, "--max-value": max_value, "--format": format,
             "--fields": fields, "--delimiter": delimiter, "--lateness": lateness, "--from": since, "--until": until,
             "--state": state, "--person": person, "--ledger": ledger},
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
    stream = LineSource(source, follow, day)
    _check_replayed(stream, since)
    watch = Watch.of(
        [statistic.made(), *map(_statistic, also or ())], privacy.epsilon, privacy.delta, read,
        Windows.of(every, _waiting(lateness, read, since), since, until), mechanism=mechanism, memory=memory,
        error=error, on_bad=on_bad, confidence=confidence, protect=protect,
        pairs_per_person=1 if pairs_per_person is None else pairs_per_person,
    )  # fmt: skip
    books = _ledger(ledger, budget_per, watch)
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


def _check_replayed(stream: LineSource, since: str | None) -> None:
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


def _ledger(path: Path | None, per: str | None, watch: Watch) -> Ledger | None:
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
    for plan in watch.plans:
        found.require_unit(Ask.of_plan(plan, person=people))  # refuses another unit now, not after the first window
    return found
