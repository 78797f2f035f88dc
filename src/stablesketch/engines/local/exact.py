"""`exact`: statistics by DuckDB's group-by. Exact, for any number of keys (they spill to disk), and not private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

from ...bounding.groups import Name, in_natural_order
from ...bounding.persons import pairs_to_keep, used_of_each
from ...errors import ArgumentError, ArgumentTypeError, Shown
from ...numbers.checked import checked_whole
from ...privacy import Privacy
from ...reading.arguments import OfFiles, Reading, check_known, reading
from ...reading.columns import Columns
from ...reading.duckdb import DuckDB
from ...reading.opened import opened_table, with_usual_types
from ...release.arguments import asks
from ...release.question import Question
from ...release.tabular import Column, Tabular, names_of_groups, parts_of
from ...secret import Secret
from ...statistic import Statistic, usual
from ...text.wording import arg


class ExactGroup(NamedTuple):
    """One group, or all data with an empty name. A profile has several values; `total` is the sum of the pairs'
    values.
    """

    group: Name
    values: tuple[float, ...]
    pairs: int
    keys: int
    total: int = 0

    @property
    def value(self) -> float:
        """The value; for a profile, the one of its first order."""
        return self.values[0]


class Bound(NamedTuple):
    """How much of one person is used: the number of pairs and of groups."""

    pairs: int = Privacy.pairs_per_person
    groups: int = Question.groups_per_person


LEAST = Bound()


@dataclass(frozen=True, repr=False)
class Exact(Tabular):
    """True values, **not private**: for the curator only, like the data. They print and become frames as releases do.

    A single number is `value`; `exact["FR"]` is a group, with its value and its numbers of pairs and keys.
    """

    statistic: Statistic
    groups: list[ExactGroup]
    by: tuple[str, ...] = ()
    bound: Bound | None = None
    wide: bool = False

    @property
    def value(self) -> float:
        """The single number."""
        if self.by:
            raise ArgumentError(
                "value", Shown(f"{len(self.groups):,} groups"), "must be read by group",
                'Name the group: exact["FR"].value',
            )  # fmt: skip
        return self.groups[0].value

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[ExactGroup]:
        return iter(self.groups)

    def __contains__(self, group: object) -> bool:
        return any(one.group == parts_of(group) for one in self.groups)

    def __getitem__(self, group: str | Name) -> ExactGroup:
        for one in self.groups:
            if one.group == parts_of(group):
                return one
        raise ArgumentError("group", group, "must be a group in the data", "Name one of the groups")

    @property
    def title(self) -> str:
        """The statistic, and that it is not private."""
        return f"{self.statistic}, exact: NOT PRIVATE, for the curator only"

    @property
    def notes(self) -> list[str]:
        """How many rows of each person are used, if people are bounded."""
        if self.bound is None:
            return []
        pair = "cell" if self.wide else "row"
        used = used_of_each(self.bound.pairs, self.bound.groups if self.by else None, pair)
        return [f"{used} pairs_per_person=N uses up to N; without person= all {pair}s are used."]

    def columns(self) -> dict[str, Column]:
        """Group names, the order of a profile, the value, and the numbers of pairs and keys. A wide table, whose pairs
        are cells, also has the number of individuals they count."""
        rows = [(one, *pair) for one in self.groups for pair in zip(self.statistic.points, one.values, strict=True)]
        orders = {"order": Column(float, [point.p for _, point, _ in rows], "order")} if self.statistic.several else {}
        counted = {"individuals": Column(int, [one.total for one, *_ in rows], "individuals")} if self.wide else {}
        found = {
            **orders,
            "value": Column(float, [value for *_, value in rows], "value"),
            **counted,
            "pairs": Column(int, [one.pairs for one, *_ in rows], "pairs"),
            "keys": Column(int, [one.keys for one, *_ in rows], "keys"),
        }
        by = names_of_groups(self.by, list(found))
        return {name: Column(str, [one.group[i] for one, *_ in rows], name) for i, name in enumerate(by)} | found


@asks(OfFiles)
def exact(
    data: object,
    statistic: Statistic | None = None,
    *,
    person: str | None = None,
    pairs_per_person: int = LEAST.pairs,
    groups_per_person: int = LEAST.groups,
    **how: Unpack[OfFiles],
) -> Exact:
    """The true value, **not private**: for the curator only, to plan with and to compare with a release.

    Takes what `ss.release` takes, except `privacy`. With `wide`, a row is a sample and a column a key. With `person`,
    at most `pairs_per_person` pairs of each person in at most `groups_per_person` groups are used, as in a release;
    compare with the value without `person` to see the effect. Hill numbers and the entropies of Rényi and Tsallis can
    have any order from 0 to math.inf. A value of 0 means that the key is absent. A group with only zeros is shown as a
    group without data: counts and sums are 0, and statistics of shares are nan.

    Raises:
        DataError: the data cannot be read, or a row is invalid; it names file, row and column.
    """
    check_known(exact, how)
    statistic = usual() if statistic is None else statistic
    if not isinstance(statistic, Statistic):
        raise ArgumentTypeError("statistic", statistic, "must be a statistic", f"Pass {usual().named}, for example")
    read = reading(how, person)
    bound = Bound(
        at_least_one("pairs_per_person", pairs_per_person), at_least_one("groups_per_person", groups_per_person)
    )
    for name, given in (("pairs_per_person", bound.pairs), ("groups_per_person", bound.groups)):
        if given != 1 and person is None:
            raise ArgumentError(
                name, given, "needs a column of people", f"Name it ({arg('person')}), or leave out {arg(name)}"
            )
    if bound.groups != 1 and not read.columns.by:
        raise ArgumentError(
            "groups_per_person", bound.groups, "needs a column of groups",
            f"Name it ({arg('by')}), or leave out {arg('groups_per_person')}",
        )  # fmt: skip
    found = exact_values(data, statistic, read, bound)
    return Exact(statistic, found, read.columns.by, None if person is None else bound, read.input.wide)


def at_least_one(name: str, given: object) -> int:
    """A number of pairs or groups of a person."""
    return checked_whole(name, given, "Pass 20, for example", least=1, must="must be a whole number of 1 or more")


def exact_values(data: object, statistic: Statistic, read: Reading, bound: Bound = LEAST) -> list[ExactGroup]:
    """The statistic of every group, or of all data; with a column of people, of what `bound` keeps of each person."""
    return exact_by_bound(data, statistic, read, [None if read.columns.person is None else bound])[0]


def exact_by_bound(
    data: object, statistic: Statistic, read: Reading, bounds: Sequence[Bound | None]
) -> list[list[ExactGroup]]:
    """Like `exact_values`, for each of `bounds`; None keeps all. Rows are drawn as in a release, under one secret."""
    columns = read.columns
    with DuckDB() as duckdb:
        source = opened_table(duckdb, with_usual_types(data, columns), columns, read.input, read.on_bad)
        query, own = source.query(columns, "skip"), Secret.generate()
        with_zeros = source.query(replace(columns, zeros="kept"), "skip")

        def used(bound: Bound | None) -> str:
            if bound is None:
                return with_zeros
            kept = pairs_to_keep(duckdb, query, columns, pairs=bound.pairs, groups=bound.groups, secret=own)
            zeros = f" union all by name select * from ({with_zeros}) where v = 0" if columns.value is not None else ""
            return f"{kept}{zeros}"

        return [_values(duckdb, statistic, columns, source.name, used(bound)) for bound in bounds]


def _values(duckdb: DuckDB, statistic: Statistic, columns: Columns, source: str, query: str) -> list[ExactGroup]:
    """The statistic of every group, or of all pairs, of a query. Zeros in it show groups that have nothing else."""
    groups = columns.group_marks
    keys = columns.key_marks
    total = "sum(v)" if columns.value is not None else "count(*)"
    named = "".join(f"{name}, " for name in groups)
    paired = "count(*) filter (where v > 0)" if columns.value is not None else "count(*)"
    totals = (  # null for an absent key, which does not count
        f"select {', '.join([*groups, *keys])}, nullif(cast({total} as double), 0) as total, {paired} as pairs "
        f"from ({query}) group by all"
    )
    if any(each.of_largest for each in statistic.inputs):
        over = f"partition by {', '.join(groups)}" if groups else ""
        totals = f"select *, max(total) over ({over}) as largest from ({totals})"
    terms = ["total", *(each.sql_term for each in statistic.inputs)]
    sums = ", ".join(f"coalesce(fsum({term}) filter (where total is not null), 0.0)" for term in terms)
    found = duckdb.rows(
        f"select {named}{sums}, cast(coalesce(sum(pairs), 0) as bigint), count(total) "
        f"from ({totals}) {'group by all' if groups else ''}",
        source,
    )
    exact = {one.group: one for one in (_exact(statistic, row, len(groups)) for row in found)}
    return [exact[name] for name in in_natural_order(exact)]


def _exact(statistic: Statistic, row: tuple[Any, ...], groups: int) -> ExactGroup:
    total, *sums, pairs, keys = row[groups:]
    found = dict(zip(statistic.inputs, map(float, sums), strict=True))
    values = statistic.exact_of(found, float(total), int(keys))
    return ExactGroup(tuple(map(str, row[:groups])), values, int(pairs), int(keys), int(total))
