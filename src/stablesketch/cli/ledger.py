"""`stablesketch ledger`: a budget for all releases of the same data."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from ..ledger import Ledger
from ..ledger.record import PEOPLE
from . import options
from .screen import fact_table, note, plain_table, print_text, write_new

app = typer.Typer(no_args_is_help=True, help="Keep a budget for all releases of the same data.")

_SHOWN = 20

File = Annotated[Path, typer.Argument(help="The file of the ledger.")]


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(help="The new file.")],
    epsilon: Annotated[float, typer.Option(help="ε that all releases together may cost.")],
    delta: Annotated[float, typer.Option(help="δ that all releases together may cost.")],
    relation: options.Relation = None,
    pairs_per_person: Annotated[int | None, typer.Option(help="Of the unit that is protected.")] = None,
    people: Annotated[
        bool, typer.Option("--people", help="For releases with --person: each protects all that one person did.")
    ] = False,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Allow plans that are chosen after a look at earlier values.")
    ] = False,
) -> None:
    """Makes a ledger. Then pass it to every release: --ledger budget.db."""
    if file.exists():
        raise typer.BadParameter(f"{file} exists already. Look at it: stablesketch ledger show {file}")
    if people and relation == "replace":
        raise typer.BadParameter(
            "--people come and go: their relation is add_remove. Leave out --relation, or --people."
        )
    Ledger(
        file,
        epsilon=epsilon,
        delta=delta,
        relation=PEOPLE if people else relation,
        pairs_per_person=pairs_per_person,
        adaptive=adaptive,
    )
    note(f"written to {file}: ε = {epsilon:g} at δ = {delta:g} for everything that is recorded there")


@app.command("show")
def show(file: File, json: options.Json = False) -> None:
    """What the budget is, what was spent, and on what."""
    ledger = options.open_ledger(file)
    records = list(ledger.records())
    if json:
        content = {
            "epsilon": ledger.epsilon, "delta": ledger.delta, "relation": ledger.relation,
            "pairs_per_person": ledger.pairs_per_person, "spent": ledger.spent(), "left": ledger.left(),
            "releases": len(records), "head": ledger.head,
        }  # fmt: skip
        print_text(json_module.dumps(content, sort_keys=True))
        return
    relation = ledger.relation or "fixed by the first release"
    facts = [
        ("left", f"ε = {ledger.left():.4g}"),
        ("spent", f"ε = {ledger.spent():.4g} by {len(records):,} releases"),
        ("budget", f"ε = {ledger.epsilon:g} at δ = {ledger.delta:g}"),
        ("head", ledger.head),
        ("unit", relation + (f", {ledger.pairs_per_person} pair(s) a person" if ledger.pairs_per_person else "")),
    ]
    fact_table(f"Ledger {file}", facts)
    if records:
        rows = [
            [f"{one.number}", one.time[:19], one.label, one.statistic, f"{one.epsilon:.4g}", f"{one.delta:.3g}"]
            for one in records[-_SHOWN:]
        ]
        plain_table(["release", "time", "label", "statistic", "ε", "δ"], rows, numbers=2)
    if len(records) > _SHOWN:
        note(f"the last {_SHOWN} of {len(records):,}; all of them: stablesketch ledger export {file} -o releases.csv")


@app.command("plan")
def plan(
    file: File,
    plan: Annotated[Path, typer.Argument(help="A plan: stablesketch plan ... -o plan.json.")],
    times: Annotated[int, typer.Option(help="How many such releases.")] = 1,
    fit: Annotated[bool, typer.Option("--fit", help="Find the ε at which so many fit, instead.")] = False,
    output: options.Output = None,
) -> None:
    """What releases by a plan would cost, and whether they fit; with --fit, the plan that fits so often."""
    ledger, chosen = options.open_ledger(file), options.read_plan(plan)
    if not fit:
        if output is not None:
            raise typer.BadParameter("-o writes the plan that --fit finds. Add --fit, or leave it out.")
        print_text(str(ledger.preview(chosen, times=times)))
        return
    found = ledger.schedule(chosen, releases=times)
    print_text(str(found))
    if output is not None:
        write_new(output, (found.plan.to_json() + "\n").encode())
        note(f"written to {output}")


@app.command("export")
def export(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file, .csv or .json.")],
) -> None:
    """Everything that was recorded, as CSV or JSON."""
    ledger = options.open_ledger(file)
    if output.suffix not in (".csv", ".json"):
        raise typer.BadParameter(f"{output}: the suffix decides the format, .csv or .json.")
    write_new(output, (ledger.to_csv() if output.suffix == ".csv" else ledger.to_json()).encode())
    note(f"written to {output}, {len(ledger):,} releases")


@app.command("value")
def value(file: File, number: Annotated[int, typer.Argument(help="The number of the release.")]) -> None:
    """What was released by one of the records, as JSON: for a value that got lost on its way to you."""
    published = options.open_ledger(file).published(number)
    if published is None:
        raise typer.BadParameter(
            f"{file} has no value of release {number}. See which releases there are: stablesketch ledger show {file}"
        )
    print_text(published)
