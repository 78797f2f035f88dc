"""`stablesketch release`: from data or stored sketches to a publishable number."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..bounding.max_value import AutoMaxValue
from ..bounding.persons import groups_of_each
from ..engines.local import run
from ..engines.spark.files import run_files
from ..errors import DataError
from ..plan.mechanism import mechanism_for
from ..privacy import delta_advice, epsilon_advice
from ..release.arguments import DEFAULTS, question
from ..report import Named
from ..statistic.published import Release
from . import options
from .deliver import check_new, delivered, need_standard_output, reserved
from .dry_run import check_dry, show_plan
from .exits import Exit
from .option_groups import Chosen, Data, Sizes
from .progress import progress
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


def _max_value_or_auto(text: str | int) -> int | str:
    return "auto" if text == "auto" else options.count(text)


def release(
    *,
    context: typer.Context,
    statistic: Chosen,
    key: options.Key = None,
    value: options.Value = None,
    max_value: Annotated[
        str | None,
        options.in_privacy(
            parser=_max_value_or_auto,
            metavar="N|auto",
            help="Maximum value of a pair; auto finds it privately, for a tenth of ε.",
        ),
    ] = None,
    clip: options.Clip = DEFAULTS["clip"],
    by: options.By = None,
    groups: Annotated[
        Path | None,
        options.in_data(help="A file of public group names, one per line; without it, names are chosen privately."),
    ] = None,
    person: Annotated[
        str | None,
        options.in_data(metavar="COLUMN", help="The column that identifies a person: protects people, not rows."),
    ] = None,
    read: Data,
    wide: options.Wide = DEFAULTS["wide"],
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    pairs: options.Pairs = None,
    relation: options.Relation = None,
    pairs_per_person: options.PairsUsed = None,
    unit: options.Unit = None,
    total: options.Total = 0,
    groups_per_person: options.GroupsPerPerson = DEFAULTS["groups_per_person"],
    ledger: Annotated[Path | None, options.in_privacy(help="Record the release in this ledger.")] = None,
    label: Annotated[str, options.in_privacy(help="Name of the release, in the ledger and the report.")] = "",
    secret: Annotated[Path | None, options.in_privacy("--secret", help="The secret file, for stored sketches.")] = None,
    sizes: Sizes,
    confidence: options.Confidence = DEFAULTS["confidence"],
    json: options.Json = False,
    output: options.Output = None,
    plot: options.Plot = None,
    report: Annotated[
        Path | None,
        options.in_output(
            help="Write a page that explains the release to any reader: a new .html file.", metavar="FILE"
        ),
    ] = None,
    registry: Annotated[
        Path | None,
        options.in_output(
            help="Describe the release in the fields of the OpenDP deployments registry: a new .yaml file.",
            metavar="FILE",
        ),
    ] = None,
    dataset: Annotated[str, options.in_output(help="Name of the data, for the report.")] = "",
    period: Annotated[str, options.in_output(help="The period that the data cover, for the report.")] = "",
    noun: Annotated[str, options.in_output(help="Plural noun for keys in the report and picture, such as apps.")] = "",
    engine: Annotated[
        Literal["local", "spark"],
        typer.Option(
            help="Where to read data: on this machine, or with Spark, which reads files in the same way.",
            rich_help_panel="Engine",
        ),
    ] = "local",
    master: Annotated[
        str | None,
        typer.Option(
            help="Address of Spark, such as local[4], spark://host:7077, yarn or sc://host.",
            metavar="URL",
            rich_help_panel="Engine",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        options.in_output(
            "--dry-run", help="Show the plan and the price without reading data. Files and columns are not checked."
        ),
    ] = False,
) -> int:
    files = read.files
    stored = [name for name in files or () if is_blob(name)]
    blobs = bool(stored) and stored == files
    kept = {"output": output, "plot": plot, "report": report, "registry": registry}
    if dry_run:
        check_dry(stored=blobs, **kept)
    check_new(**kept)
    need_standard_output(output)
    described = report is not None or registry is not None
    if label and ledger is None and not described:
        raise typer.BadParameter(
            "--label needs --ledger or --report, which show it. Add one of them, or leave out --label."
        )
    named = Named(dataset, period, label, noun)
    for option, text in (("--dataset", dataset), ("--period", period)):
        if text and not described:
            raise typer.BadParameter(f"{option} needs --report. Add --report, or leave it out.")
    if noun and not described and plot is None:
        raise typer.BadParameter("--noun needs --plot or --report, which show it. Add one of them, or leave it out.")
    if report is not None and not (dataset or period or noun):
        note("to tell readers of the report what the data are, add --dataset, --period and --noun (what to call keys)")
    label = label if ledger is not None else ""
    budget = None if ledger is None else options.open_ledger(ledger)
    if blobs:
        check_still_open(context)
        with reserved(**kept) as places:
            outcome = release_stored(stored, secret, confidence, budget, label)
            return delivered(outcome, None, budget, json, places, named)
    if stored:
        raise typer.BadParameter(
            f"{stored[0]} is a stored sketch, but other files are not. Release sketches and data separately."
        )
    if secret is not None:
        raise typer.BadParameter("--secret is for stored sketches. Leave it out: a release from data draws a new one.")
    wanted = statistic.made()
    read.must_be_named()
    read.must_have_key(key, wide=wide)
    auto = AutoMaxValue() if max_value == "auto" else None
    largest = 1 if auto is not None else None if max_value is None else int(max_value)
    if value is not None and max_value is None and unit != "individual":
        raise _unbounded("--value", person)
    used_pairs = 1 if pairs_per_person is None else pairs_per_person
    posed = question(
        wanted,
        options.privacy_of(epsilon, delta, pairs, largest, relation, used_pairs, unit, total),
        key=options.key_of(key, wide=wide),
        value=value,
        by=options.listed(by),
        person=person,
        **sizes,
        groups=None if groups is None else _group_names(groups),
        groups_per_person=groups_per_person,
        clip=clip,
        auto_max_value=auto,
        confidence=confidence,
        wide=wide,
        **read.ways,
    )
    if wide and max_value is None and posed.privacy.unit != "individual":
        raise _unbounded("--wide", person)
    if unit is None and posed.privacy.unit == "individual":
        note(
            "a cell counts individuals, and one individual is protected. To protect a whole cell, bound it: "
            "--max-value N"
        )
    if person is not None and pairs_per_person is None:
        note(
            f"1 {posed.pair} of each person is used, drawn at random. --pairs-per-person N uses up to N, with N times "
            "the noise; stablesketch pilot helps you choose N, and stablesketch exact --person shows its effect"
        )
    if posed.of_people and posed.columns.by:
        each = groups_of_each(groups_per_person, posed.pair)
        note(f"{each} --groups-per-person N uses up to N groups, with more noise")
    if dry_run:
        show_plan(posed, json)
        return Exit.DONE
    if engine == "spark" and master is None:
        raise typer.BadParameter("--engine spark needs --master, the address of Spark. Try --master 'local[*]'.")
    if engine != "spark" and master is not None:
        raise typer.BadParameter("--master needs --engine spark. Add it, or leave out --master.")
    counted = pairs is None and posed.privacy.relation == "replace" and not posed.columns.by
    has_delta = not all(mechanism_for(each, sizes["mechanism"]).pure for each in wanted.inputs)
    if has_delta and not counted:
        _advise(delta_advice(posed.privacy))
    with reserved(**kept) as places:
        with progress() as bar:
            if master is None:
                outcome = run(posed, files, ledger=budget, label=label, progress=bar)
            else:
                outcome = run_files(posed, files, master, ledger=budget, label=label, progress=bar)
        _advise(epsilon_advice(posed.privacy))
        if has_delta and counted:  # the number of pairs is public then, and known only now
            only = outcome.releases[0]
            counted_pairs = (only.pairs or 0) if isinstance(only, Release) else 0
            _advise(delta_advice(replace(posed.privacy, pairs=counted_pairs)))
        return delivered(outcome, posed, budget, json, places, named)


def _unbounded(option: str, person: str | None) -> typer.BadParameter:
    individual = "" if person is not None else " If values count individuals, pass --unit individual instead."
    return typer.BadParameter(
        f"{option} needs --max-value: a bound on one pair's value. Try --max-value auto.{individual}"
    )


def _advise(advice: str | None) -> None:
    if advice is not None:
        note(f"{advice}.")


def _group_names(path: Path) -> list[tuple[str, ...]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise DataError(str(path), f"cannot read the list of groups: {reason}", "Write one name on each line") from None
    return [tuple(row) for row in csv.reader(text.splitlines()) if row]
