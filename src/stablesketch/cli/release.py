"""`stablesketch release`: from data or stored sketches to a publishable number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..bounding.persons import groups_of_each
from ..engines.local import run
from ..engines.spark.files import run_files
from ..privacy import delta_advice, epsilon_advice
from ..release.arguments import DEFAULTS, question
from ..release.outcome import Outcome
from ..release.question import Question
from ..statistic import Statistic
from . import options
from .deliver import check_new, delivered, need_standard_output, reserved
from .dry_run import check_dry, show_plan
from .exits import Exit
from .option_groups import Chosen, Data, Sizes
from .progress import progress
from .release_options import ColumnOptions, EngineOptions, FileOptions, PrivacyOptions
from .screen import note
from .stored import check_still_open, is_blob, release_stored

EXAMPLES = """[bold]Examples[/]

stablesketch release events.csv --key app --epsilon 1 --delta 1e-9

stablesketch release 'events/*.parquet' --key src,dst --value bytes \\
  --max-value auto --epsilon 1 --delta 1e-9

stablesketch release events.csv --key app --person user_id \\
  --pairs-per-person 20 --epsilon 1 --delta 1e-9

stablesketch release events.csv --key app --by country \\
  --groups countries.txt --order 1 --epsilon 1 --delta 1e-9

stablesketch release --sql "select a, n from 'e.csv'" \\
  --key a --value n --max-value 50 --epsilon 1 --delta 1e-9

cut -d' ' -f1 access.log | stablesketch release - --epsilon 1 --delta 1e-9

stablesketch release events.csv --key app --epsilon 1 --delta 1e-9 \\
  --plot app.svg --report app.html

stablesketch release events.csv --key app --p 0.5 --epsilon 1 --delta 1e-9

zcat events.jsonl.gz | stablesketch release - --key app \\
  --epsilon 1 --delta 1e-9

stablesketch release events.csv --key app --statistic profile \\
  --epsilon 1 --delta 1e-9 --plot profile.svg

stablesketch release wages.csv --key id --value wage --max-value 1500 \\
  --statistic atkinson --order 0.5 --epsilon 1 --delta 1e-9

stablesketch release 'events/*.csv.gz' --key app --epsilon 1 --delta 1e-9 \\
  --engine spark --master 'local[*]'

stablesketch release species.csv --wide --by site --groups sites.txt \\
  --order 1 --epsilon 1 --delta 1e-9

stablesketch release all.ssk --secret s.key"""


def release(
    *,
    context: typer.Context,
    statistic: Chosen,
    columns: ColumnOptions,
    read: Data,
    wide: options.Wide = DEFAULTS["wide"],
    protection: PrivacyOptions,
    groups_per_person: options.GroupsPerPerson = DEFAULTS["groups_per_person"],
    ledger: Annotated[Path | None, options.in_privacy(help="Record the release in this ledger.")] = None,
    label: Annotated[str, options.in_privacy(help="Name of the release, in the ledger and the report.")] = "",
    secret: Annotated[Path | None, options.in_privacy("--secret", help="The secret file, for stored sketches.")] = None,
    sizes: Sizes,
    confidence: options.Confidence = DEFAULTS["confidence"],
    json: options.Json = False,
    kept: FileOptions,
    place: EngineOptions,
    dry_run: Annotated[
        bool,
        options.in_output(
            "--dry-run", help="Show the plan and the price without reading data. Files and columns are not checked."
        ),
    ] = False,
) -> int:
    sketches = [name for name in read.files or () if is_blob(name)]
    stored = bool(sketches) and sketches == read.files
    if dry_run:
        check_dry(stored=stored, **kept.paths)
    check_new(**kept.paths)
    need_standard_output(kept.output)
    named = kept.named(label, recorded=ledger is not None)
    label = label if ledger is not None else ""
    budget = None if ledger is None else options.open_ledger(ledger)
    if stored:
        check_still_open(context)
        with reserved(**kept.paths) as places:
            outcome = release_stored(sketches, secret, confidence, budget, label)
            return delivered(outcome, None, budget, json, places, named)
    if sketches:
        raise typer.BadParameter(
            f"{sketches[0]} is a stored sketch, but other files are not. Release sketches and data separately."
        )
    if secret is not None:
        raise typer.BadParameter("--secret is for stored sketches. Leave it out: a release from data draws a new one.")
    how = {"wide": wide, "groups_per_person": groups_per_person, "confidence": confidence}
    posed = _posed(statistic.made(), columns, read, protection, {**sizes, **how})
    if dry_run:
        show_plan(posed, json, budget)
        return Exit.DONE
    place.check()
    with reserved(**kept.paths) as places:
        with progress() as bar:
            if place.master is None:
                outcome = run(posed, read.files, ledger=budget, label=label, progress=bar)
            else:
                outcome = run_files(posed, read.files, place.master, ledger=budget, label=label, progress=bar)
        _advise(outcome)
        return delivered(outcome, posed, budget, json, places, named)


def _posed(
    wanted: Statistic, columns: ColumnOptions, read: Data, protection: PrivacyOptions, how: dict[str, Any]
) -> Question:
    """The question, with notes on what was left out and matters."""
    read.must_be_named()
    read.must_have_key(columns.key, wide=how["wide"])
    unbounded = protection.max_value is None
    if columns.value is not None and unbounded and protection.unit != "individual":
        raise _unbounded("--value", columns.person)
    posed = question(
        wanted, protection.privacy(), **columns.arguments(wide=how["wide"]),
        auto_max_value=protection.auto_max_value, **how, **read.ways,
    )  # fmt: skip
    posed.check_groups_per_person()
    individuals = posed.privacy.unit == "individual"
    if how["wide"] and unbounded and not individuals:
        raise _unbounded("--wide", columns.person)
    if protection.unit is None and individuals:
        note(
            "a cell counts individuals, and one individual is protected. To protect a whole cell, bound it: "
            "--max-value N"
        )
    if posed.has_people and protection.pairs_per_person is None:
        note(
            f"1 {posed.pair} of each person is used, drawn at random. --pairs-per-person N uses up to N, with N times "
            "the noise; stablesketch pilot helps you choose N, and stablesketch exact --person shows its effect"
        )
    if posed.has_people and posed.columns.by:
        each = groups_of_each(posed.groups_per_person, posed.pair)
        more = " --groups-per-person N uses up to N groups, with more noise" if posed.groups_per_person == 1 else ""
        note(f"{each}{more}")
    return posed


def _unbounded(option: str, person: str | None) -> typer.BadParameter:
    individual = "" if person is not None else " If values count individuals, pass --unit individual instead."
    return typer.BadParameter(
        f"{option} needs --max-value: a bound on one pair's value. Try --max-value auto.{individual}"
    )


def _advise(outcome: Outcome) -> None:
    """Notes on an ε or δ that is too large. A release says the number of pairs if it is public."""
    counted = None if outcome.grouped else outcome.release.pairs
    _, delta = outcome.price
    for advice in (epsilon_advice(outcome.privacy), delta_advice(outcome.privacy, counted) if delta else None):
        if advice is not None:
            note(f"{advice}.")
