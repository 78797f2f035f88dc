"""`stablesketch ledger`: a budget for all releases of the same data."""

from __future__ import annotations

import json as json_module
import re
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ArgumentError
from ..ledger import Ledger
from ..ledger.period import Per
from ..ledger.preview import MANY, many_releases
from ..ledger.record import PEOPLE, Record
from ..ledger.unit import noun
from ..plan.in_words import of_one_person, used
from ..privacy import Relation
from ..text.spoken import at_least, at_most
from . import options
from .exits import Exit
from .screen import fact_table, note, plain_table, print_text, write_and_note
from .with_examples import Group, WithExamples

app = typer.Typer(cls=Group, no_args_is_help=True)

_SHOWN = 20

LedgerArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger file.")]


@app.command("new", cls=WithExamples)
def new(
    epsilon: Annotated[float, typer.Option(help="Maximum ε of all releases together; with --per, in each period.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new file.")] = Path("budget.db"),
    delta: Annotated[
        float, typer.Option(help="Maximum δ of all releases together; with --per, in each period.")
    ] = 1e-6,
    per: Annotated[
        Per | None,
        typer.Option(metavar="PERIOD", help="Renew the budget each day, week, month, quarter or year (UTC)."),
    ] = None,
    relation: Annotated[
        Relation | None, typer.Option(help="The relation of all releases (default: that of the first release).")
    ] = None,
    pairs_per_person: Annotated[
        int | None,
        typer.Option(help="Maximum number of pairs per person in all releases (default: that of the first release)."),
    ] = None,
    people: Annotated[
        bool, typer.Option("--people", help="For releases with --person, which protect everything one person did.")
    ] = False,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Allow plans that are chosen after looking at earlier values.")
    ] = False,
) -> None:
    """Create a ledger. Then pass it to every release: --ledger budget.db."""
    if file.exists() and (not file.is_file() or file.stat().st_size):  # an empty one is left by Ctrl-C
        raise typer.BadParameter(f"{file} already exists. To see it: stablesketch ledger show {file}")
    if people and relation == "replace":
        raise typer.BadParameter("--people implies --relation add_remove. Leave out --relation or --people.")
    Ledger(
        file,
        epsilon=epsilon,
        delta=delta,
        relation=PEOPLE if people else relation,
        pairs_per_person=pairs_per_person,
        adaptive=adaptive,
        per=per,
    )
    covered = "everything that is recorded there" if per is None else f"what is recorded there each {per}"
    note(f"written to {file}: ε = {epsilon:g} at δ = {delta:g} for {covered}")


@app.command("show", cls=WithExamples)
def show(
    file: LedgerArgument,
    plan: Annotated[Path | None, typer.Option(help="Forecast releases of this plan instead of the last one.")] = None,
    json: options.Json = False,
) -> None:
    """Show the budget, what is left of it, how many more releases fit, and what each release cost."""
    ledger = options.open_ledger(file)
    records = list(ledger.records())
    more = ledger.forecast(None if plan is None else options.read_plan(plan))
    if json:
        content = {
            "epsilon": ledger.epsilon, "delta": ledger.delta, "relation": ledger.relation,
            "pairs_per_person": ledger.pairs_per_person, "spent": ledger.spent(), "left": ledger.left(),
            "releases": len(records), "head": ledger.head, "forecast": more,
        }  # fmt: skip
        if ledger.per is not None:
            content |= {"per": ledger.per, "period": ledger.period, "renews": ledger.renews}
            content |= {"spent_in_all": ledger.spent_in_all(), "delta_in_all": ledger.delta_in_all}
        print_text(json_module.dumps(content, sort_keys=True))
        return
    relation = ledger.relation or "fixed by the first release"
    now = [record for record in records if record.period == (ledger.period or "")]
    facts = [
        ("left", f"ε = {at_least(ledger.left())}" + (f" until {ledger.renews}, when it renews" if ledger.per else "")),
        ("spent", f"ε = {at_most(ledger.spent())} by {many_releases(len(now))}{_during(ledger.period)}"),
        ("forecast", _forecast(more, "by this plan" if plan else "like the last one", ledger.period)),
        ("budget", f"ε = {ledger.epsilon:g} at δ = {ledger.delta:g}" + (f", each {ledger.per}" if ledger.per else "")),
        ("unit", relation + (f", {_units(relation, ledger.pairs_per_person)}" if ledger.pairs_per_person else "")),
        ("head", ledger.head),
    ]
    if ledger.adaptive:
        price = f"ε = {at_most(ledger.adaptive_price)} of what is spent, once"
        facts.insert(2, ("adaptive", f"{price}: the price of choosing plans after looking"))
    if ledger.per is not None:
        in_all = f"ε = {at_most(ledger.spent_in_all())} at δ = {at_most(ledger.delta_in_all, 3)}"
        facts.insert(3, ("all periods", f"{in_all}, for somebody whose data were in all of them"))
    fact_table(f"Ledger {file}", facts)
    verify = f"stablesketch ledger verify {file} --head HEAD"
    note(f"keep the head elsewhere, to check later that the ledger was not changed: {verify}")
    if records:
        plain_table(
            ["release", "date (UTC)", "label", "statistic", "ε", "δ", "left after"],
            [_row(record, ledger.epsilon) for record in records[-_SHOWN:]],
            numbers=3,
        )
    if len(records) > _SHOWN:
        note(f"the last {_SHOWN} of {len(records):,}; all of them: stablesketch ledger export {file} -o releases.csv")


def _row(record: Record, budget: float) -> list[str]:
    """`left after` belongs to the period that the release counts for."""
    price = at_most(record.epsilon), at_most(record.delta, 3)
    left = at_least(max(0.0, budget - record.spent_after))
    return [f"{record.number}", record.time[:16].replace("T", " "), record.label, record.statistic, *price, left]


def _during(period: str | None) -> str:
    a_day = period is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", period)
    return "" if period is None else f" {'on' if a_day else 'in'} {period}"


def _forecast(more: int | None, like: str, period: str | None) -> str:
    if more is None:
        return "to forecast, pass a plan: --plan plan.json"
    count = f"{more:,} more" if more < MANY else f"at least {MANY:,} more"
    return f"{count} {like} would fit{_during(period)}"


@app.command("verify", cls=WithExamples)
def verify(
    file: LedgerArgument,
    head: Annotated[
        str | None,
        typer.Option(
            help="A head kept from an earlier ledger show: check that everything recorded then is still there."
        ),
    ] = None,
) -> None:
    """Check every record; with --head, also that the file was not rolled back, replaced or rewritten since."""
    ledger = options.open_ledger(file)
    try:
        ledger.verify(since=head)
    except ArgumentError:
        raise typer.BadParameter(
            f"--head must be a number, a colon and 64 hex digits, got {head!r}. Copy it from: "
            f"stablesketch ledger show {file}"
        ) from None
    found = f"{many_releases(len(ledger))}, head {ledger.head}"
    if head is None:
        note(f"{file} is consistent: {found}. To detect an older copy as well, keep the head and pass it (--head)")
    else:
        note(f"{file} still has every record and budget that it had at {head}, unchanged: {found}")


@app.command("plan", cls=WithExamples)
def plan(
    file: LedgerArgument,
    plan: options.PlanFile,
    times: Annotated[int, typer.Option(help="Number of releases.")] = 1,
    fit: Annotated[bool, typer.Option("--fit", help="Instead, find the ε at which this many releases fit.")] = False,
    output: options.Output = None,
) -> None:
    """Show what releases by a plan would cost and whether they fit; with --fit, find a plan that fits."""
    ledger, chosen = options.open_ledger(file), options.read_plan(plan)
    if not fit:
        if output is not None:
            raise typer.BadParameter("-o needs --fit: it saves the plan that --fit finds. Add --fit, or leave out -o.")
        preview = ledger.preview(chosen, times=times)
        print_text(str(preview))
        print_text(f"in all  {_forecast(ledger.forecast(chosen), 'by this plan', ledger.period)}")
        if not preview.fits:
            raise typer.Exit(Exit.REFUSED)
        return
    found = ledger.schedule(chosen, releases=times)
    print_text(str(found))
    if output is not None:
        write_and_note(output, (found.plan.to_json() + "\n").encode())


@app.command("export", cls=WithExamples)
def export(
    file: LedgerArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file, .csv or .json.")],
) -> None:
    """Write everything that was recorded, as CSV or JSON."""
    ledger = options.open_ledger(file)
    if output.suffix not in (".csv", ".json"):
        raise typer.BadParameter(f"--output must end in .csv or .json, got {str(output)!r}.")
    content = ledger.to_csv() if output.suffix == ".csv" else ledger.to_json()
    write_and_note(output, content.encode(), f", {many_releases(len(ledger))}")


@app.command("value", cls=WithExamples)
def value(
    file: LedgerArgument, number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the release.")]
) -> None:
    """Show the value of a recorded release, as JSON, in case it got lost on its way to you."""
    published = options.open_ledger(file).published(number)
    if published is None:
        raise typer.BadParameter(
            f"{file} has no value for release {number}. To list the releases: stablesketch ledger show {file}"
        )
    print_text(published)


def _units(relation: str, most: int) -> str:
    if relation == PEOPLE:
        return f"any one person, of whom {used(most, 'pair')}"
    return f"any {of_one_person(most, noun(relation))}"
