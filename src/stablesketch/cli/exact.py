"""`stablesketch exact`: a statistic by a group-by, to compare with. Not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..bounding.persons import groups_of_each
from ..engines.local.exact import Bound, ExactGroup, at_least_one, exact_by_bound
from ..release.arguments import DEFAULTS
from ..statistic import Statistic
from . import options
from .option_groups import Chosen, Data
from .screen import fact_table, json_text, note, number, plain_table, print_text

_TRIED = (1, 2, 4, 8, 16, 32, 64, None)  # rows of each person, by default

EXAMPLES = """[bold]Examples[/]

stablesketch exact events.csv --key app

stablesketch exact events.csv --key app --person user_id \\
  --pairs-per-person 20"""


def exact(
    *,
    statistic: Chosen,
    key: options.Key = None,
    value: options.Value = None,
    by: options.By = None,
    person: Annotated[
        str | None,
        options.in_data(
            metavar="COLUMN", help="The column of people: shows how using only some rows of each changes the value."
        ),
    ] = None,
    pairs_per_person: options.PairsUsed = None,
    groups_per_person: options.GroupsPerPerson = DEFAULTS["groups_per_person"],
    read: Data,
    wide: options.Wide = DEFAULTS["wide"],
    json: options.Json = False,
) -> None:
    """The exact statistic; with --person, also from a bounded number of rows of each."""
    if person is None and (pairs_per_person is not None or groups_per_person != 1):
        raise typer.BadParameter(
            "--pairs-per-person and --groups-per-person need a column of people. Name it: --person"
        )
    if by is None and groups_per_person != 1:
        raise typer.BadParameter("--groups-per-person needs a column of groups. Name it (--by), or leave it out.")
    reading, wanted = read.reading(key, value, by, person, wide=wide), statistic.made()
    for name, given in (("pairs_per_person", pairs_per_person), ("groups_per_person", groups_per_person)):
        if given is not None:
            at_least_one(name, given)
    used = (None,) if person is None else _TRIED if pairs_per_person is None else (pairs_per_person, None)
    bounds = [None if most is None else Bound(most, groups_per_person) for most in used]
    found = exact_by_bound(read.files, wanted, reading, bounds)
    rows = [(bound, one) for bound, every in zip(bounds, found, strict=True) for one in every]
    order = {one.group: place for place, one in enumerate(found[-1])}  # all rows contain every group
    rows.sort(key=lambda row: order[row[1].group])  # each group by itself, the fewest rows first
    grouped, people, pair = bool(reading.columns.by), person is not None, "cell" if wide else "row"
    if json:
        shown = [_content(wanted, one, bound, grouped=grouped, people=people, wide=wide) for bound, one in rows]
        print_text(json_text(shown if grouped or people else shown[0]))
    elif grouped or people:
        limits = [f"{pair}s of a person", "groups of a person"][: 1 + grouped] if people else []
        counted = ["individuals"] if wide else []
        names = [*(["group"] if grouped else []), *limits, *wanted.point_names, *counted, "pairs", "keys"]
        cells = [_cells(one, bound, grouped=grouped, people=people, wide=wide) for bound, one in rows]
        plain_table(names, cells, numbers=len(names) - grouped)
    else:
        ((_, one),) = rows
        values = [(name, _precise(value)) for name, value in zip(wanted.point_names, one.values, strict=True)]
        counts = [(name, f"{count:,}") for name, count in _counts(one, wide=wide).items()]
        fact_table("Exact, not private", [*values, *counts])
    if people and grouped:
        more = " --groups-per-person N shows up to N groups of each" if groups_per_person == 1 else ""
        note(f"{groups_of_each(groups_per_person, pair)}{more}")
    if people:
        note(f"for the curator only: choose how many {pair}s to use from public knowledge, or privately")
    note("not private: guard it like the data. A release with --mechanism exact is private")


def _precise(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.6f}"


def _counts(one: ExactGroup, *, wide: bool) -> dict[str, int]:
    """How many there are. Pairs of a wide table are cells, which count individuals."""
    return {**({"individuals": one.total} if wide else {}), "pairs": one.pairs, "keys": one.keys}


def _cells(one: ExactGroup, bound: Bound | None, *, grouped: bool, people: bool, wide: bool) -> list[str]:
    limits = ["all", "all"] if bound is None else [f"at most {bound.pairs:,}", f"{bound.groups:,}"]
    name = [", ".join(one.group)] if grouped else []
    counts = [f"{count:,}" for count in _counts(one, wide=wide).values()]
    return [*name, *(limits[: 1 + grouped] if people else []), *map(number, one.values), *counts]


def _content(
    wanted: Statistic, one: ExactGroup, bound: Bound | None, *, grouped: bool, people: bool, wide: bool
) -> dict[str, Any]:
    orders = [point.p for point in wanted.points]
    return {
        **({"group": one.group[0] if len(one.group) == 1 else list(one.group)} if grouped else {}),
        **({"pairs_per_person": None if bound is None else bound.pairs} if people else {}),
        **({"groups_per_person": None if bound is None else bound.groups} if people and grouped else {}),
        "value": _numbers(one.values),
        "p": _numbers(orders),
        **_counts(one, wide=wide),
    }


def _numbers(found: Sequence[float]) -> Any:
    """One number or several. JSON has neither nan nor infinity, so these become null and text."""
    said = [None if math.isnan(one) else "inf" if math.isinf(one) else one for one in found]
    return said[0] if len(said) == 1 else said
