"""`stablesketch pilot`: how many rows of each person to use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..bounding.pilot import People, Spread
from ..engines.local.pilot import pilot
from ..errors import PlanInfeasible
from ..plan import Asked, Plan
from ..plan.asked import asked
from ..plan.mechanism import mechanism_of
from ..plan.planner import planned
from ..release.arguments import DEFAULTS
from ..text.spoken import at_most, percent, relative_error
from . import options
from .option_groups import Chosen, Data, with_groups
from .screen import json_text, note, plain_table, print_text
from .with_examples import Group, WithExamples

app = typer.Typer(cls=Group, no_args_is_help=True)

_EXAMPLES = """[bold]Example[/]

stablesketch pilot public --people 100000 --rows 12 \\
  --epsilon 1 --delta 1e-9"""
_PRIVATE_EXAMPLES = """[bold]Example[/]

stablesketch pilot private events.csv --person user_id --epsilon 0.1"""
_TRIED = sorted({2**i for i in range(11)} | {3 * 2**i for i in range(9)})  # rows of each person


def public(
    statistic: Chosen,
    people: Annotated[int, options.count_in_data(help="Approximate number of people.")],
    rows: Annotated[float, options.in_data(help="Average number of rows per person.")],
    spread: Annotated[
        Spread, options.in_data(help="How rows are spread over people: equally, geometrically, or with a heavy tail.")
    ] = People.spread,
    keys: Annotated[
        int | None,
        options.count_in_data(
            help="Approximate number of different keys. Without it, the error is that of the data on which noise "
            "weighs most.",
        ),
    ] = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    max_value: Annotated[int, options.count_in_privacy(help="Maximum value.")] = 1,
    mechanism: options.Mechanism = DEFAULTS["mechanism"],
    json: options.Json = False,
) -> None:
    """Suggest how many rows of each person to use, from public knowledge. Reads no data and spends nothing.

    The suggestion minimises √(share of rows dropped² + planned error²).
    """
    crowd, wanted = People(people, rows, spread, keys), statistic.made()
    privacy = options.privacy_of(epsilon, delta, 0, max_value, "add_remove", 1)
    plans = list(_plans(crowd, asked(wanted, privacy, mechanism=mechanism)))
    if not plans:
        raise PlanInfeasible("no plan reaches this, even with one row of each person. Pass a larger ε.")
    if crowd.needs_keys(plans[0]):
        raise typer.BadParameter(
            f"--keys is required for {wanted}: noise is on the number of keys, so it weighs more the fewer they are. "
            "Pass their approximate number, from public knowledge."
        )
    least = min(plans, key=crowd.score)
    best = None if wanted.relative and crowd.error(least) > 1.0 else least
    if json:
        print_text(json_text([_row(crowd, plan, best) for plan in plans]))
        return
    plain_table(
        ["rows of each person", "rows dropped", f"planned error of {wanted}", "both"],
        [_shown(crowd, plan) for plan in plans], numbers=4,
    )  # fmt: skip
    if best is None:
        other = "" if mechanism_of(least).exact else ", or try --mechanism exact"
        note(
            "no useful answer can be expected, however many rows of each person are used. Pass a larger ε or a lower "
            f"order{other}"
        )
        return
    print_text(f"\n--pairs-per-person {best.privacy.pairs_per_person}")
    for said in _cautions(crowd, best):
        note(said)


def _plans(crowd: People, first: Asked) -> Iterator[Plan]:
    """A plan for each number of rows to try, as far as there is one, until nearly all rows are used."""
    for c in _TRIED:
        try:
            yield planned(replace(first, privacy=replace(first.privacy, pairs_per_person=c)))
        except PlanInfeasible:
            return
        if crowd.used(c) > 0.999:
            return


def _cautions(crowd: People, best: Plan) -> Iterator[str]:
    """What to know about the suggestion."""
    yield (
        "both is √(dropped² + error²), and the smallest is suggested. How dropped rows change the value is unknown "
        "here. If people are much alike it changes little, especially at order 1 and above, and fewer rows are better"
    )
    if crowd.guesses(best):
        yield (
            "the error is that of the data on which noise weighs most. For others it is smaller, and a larger number "
            "may be better: pass --keys, the approximate number of different keys"
        )
    dropped = 1.0 - crowd.used(best.privacy.pairs_per_person)
    if dropped > 0.5:
        yield (
            f"even so, {percent(dropped)} of the rows are dropped. The released value is about the rows that are used, "
            "and says little about people with many rows"
        )


def _shown(crowd: People, plan: Plan) -> list[str]:
    c = plan.privacy.pairs_per_person
    return [f"{c:,}", percent(1.0 - crowd.used(c)), _error(crowd, plan), relative_error(crowd.score(plan))]


def _row(crowd: People, plan: Plan, best: Plan | None) -> dict[str, float | int | bool]:
    c = plan.privacy.pairs_per_person
    return {"pairs_per_person": c, "used": crowd.used(c), "error": crowd.error(plan), "suggested": plan is best}


def _error(crowd: People, plan: Plan) -> str:
    error = crowd.error(plan)
    return relative_error(error) if plan.statistic.relative else plan.statistic.error_in_words(error)


def private(
    person: Annotated[str, options.in_data(metavar="COLUMN", help="The column that identifies a person.")],
    epsilon: Annotated[float, options.in_privacy(help="ε for this choice; the release costs its own ε on top.")],
    read: Data,
    quantile: Annotated[float, options.in_data(help="Share of people for whom all rows should be used.")] = 0.95,
    ledger: Annotated[Path | None, options.in_privacy(help="Record it in this ledger, which must be adaptive.")] = None,
    label: Annotated[str, options.in_privacy(help="Name of this choice in the ledger.")] = "",
    json: options.Json = False,
) -> None:
    """Find how many rows of each person to use, from noisy counts in the data. Costs ε, and protects whole people."""
    read.must_be_named()
    budget = None if ledger is None else options.open_ledger(ledger)
    found = pilot(read.files, person, read.ways, epsilon, quantile, budget, label)
    print_text(json_text({"pairs_per_person": found, "epsilon": epsilon}) if json else f"--pairs-per-person {found}")
    note(
        f"about {quantile:.0%} of people have at most that many rows. This number is publishable. It cost "
        f"ε = {at_most(epsilon)}; a release that uses it costs its own ε on top"
    )


app.command("public", cls=WithExamples, epilog=_EXAMPLES)(with_groups(public))
app.command("private", cls=WithExamples, epilog=_PRIVATE_EXAMPLES)(with_groups(private))
