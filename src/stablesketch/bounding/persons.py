"""Bounding what one person contributes, before anything else sees the pairs.

**What it guarantees.** At most `groups` groups of every person are kept, and within these at most `pairs` pairs. What
is kept of a person is a function of that person's own pairs and of the secret. It does not depend on anyone else, on
the order of the rows, or on chance beyond the secret. If one person's rows are added or removed, however many, the
bounded stream therefore changes by at most `pairs` pairs, all of that person, in at most `groups` groups: the
neighbours of `Privacy(relation="add_remove", pairs_per_person=pairs)`. The number of pairs kept is private, because
whether somebody has 2 or 2,000 is private; so is the number dropped, which nothing here reveals.

**Which are kept** is drawn under the secret: the groups and then the pairs with the smallest ranks (ranks.py). The
columns break ties. Every pair in the kept groups is as likely to be kept as any other: pairs with the same key, value
and group are counted, and each has its own rank. Spark and Beam keep the same rows under the same secret:
in_one_pass.py.

What is kept is stored once, because names are counted in it before pairs are read from it. Rows that fit into memory
are bounded there (in_memory.py); others in SQL, which spills to disk. Each group of a person is ranked once, not once
per row. The ranks are computed in this process, a batch of rows at a time: SHA-256 in SQL took three times as long as
everything else together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ..reading.columns import Columns
from ..reading.duckdb import DuckDB
from ..reading.numpy_arrow import from_numpy, to_numpy
from ..secret import Secret
from .in_memory import held, kept_in_memory
from .in_one_pass import groups_of_person
from .ranks import Ranks

_RUN = 1024  # identical rows


def pairs_to_keep(
    duckdb: DuckDB, query: str, columns: Columns, *, pairs: int, groups: int, secret: Secret, source: str = "the data"
) -> str:
    """The pairs of `query` (k0, ..., v, g0, ..., u) to keep, as SQL."""
    ranks, groups = Ranks(secret), groups_of_person(groups)
    rows = held(duckdb.stream(query, source))
    if rows is not None:
        keys = [*columns.key_marks, *(["v"] if columns.value is not None else [])]
        kept = kept_in_memory(rows, keys, columns.group_marks, pairs=pairs, groups=groups, ranks=ranks)
        if kept is not None:
            duckdb.register("bounded_here", kept)
            return "select * from temp.bounded_here"
    return bounded_in_sql(duckdb, query, columns, pairs=pairs, groups=groups, ranks=ranks, source=source)


def bounded_in_sql(
    duckdb: DuckDB, query: str, columns: Columns, *, pairs: int, groups: int, ranks: Ranks, source: str
) -> str:
    """The same, however many rows there are: what does not fit into memory is spilled to disk."""
    marks = columns.group_marks
    duckdb.offer("rank_of_group", lambda *cells: from_numpy(ranks.of_groups(*cells)))
    duckdb.offer("rank_of_pair", lambda *cells: from_numpy(ranks.of_pairs(*cells)))
    duckdb.offer("rank_of_copy", lambda *given: from_numpy(ranks.of_copies(*map(_numbers, given))))
    names = [*columns.key_marks, *(["v"] if columns.value is not None else []), *marks]
    shown, used = ", ".join([*names, "u"]), "alike"
    if marks:
        theirs = ", ".join(["u", *marks])
        listed = f"select *, rank_of_group({theirs}) as rank from (select distinct {theirs} from alike)"
        used = f"alike semi join ({_first(listed, theirs, groups, marks)}) as chosen using ({theirs})"
    # In two steps: a list is held in memory as a whole, and somebody may have a hundred million identical rows.
    runs = f"select *, unnest(range(1, copies, {_RUN})) as run from ranked where copies > 1"
    others = f"select *, unnest(range(run, least(run + {_RUN}, copies))) as copy from ({runs})"
    each = f"select {shown}, rank from ranked union all select {shown}, rank_of_copy(rank, copy) from ({others})"
    duckdb.rows(
        "create or replace temp table bounded as with "
        f"alike as materialized (select {shown}, count(*) as copies from ({query}) group by all), "
        f"ranked as materialized (select *, rank_of_pair({', '.join(['u', *names])}) as rank from {used}) "
        f"{_first(each, shown, pairs, names)}",
        source,
    )
    return "select * from temp.bounded"


def used_of_each(pairs: int, groups: int | None = None, pair: str = "row") -> str:
    """How many rows of each person are used, and from how many groups, if there are any; for readers of the result.

    `pair` is the word for a pair: in a wide table, a cell.

    >>> used_of_each(1), used_of_each(20, 1)
    ('At most 1 row of each person is used, drawn at random.', 'At most 20 rows of each person are used, from 1 group, \
drawn at random.')
    """
    rows = f"1 {pair} of each person is" if pairs == 1 else f"{pairs:,} {pair}s of each person are"
    within = "" if groups is None else f", from {groups:,} group{'' if groups == 1 else 's'}"
    return f"At most {rows} used{within}, drawn at random."


def groups_of_each(groups: int, pair: str = "row") -> str:
    """In how many groups a person counts. A group loses rows of people it shares with other groups.

    >>> groups_of_each(1)
    'Each person counts in 1 group only, drawn at random: their rows in other groups are left out.'
    """
    count = "1 group only" if groups == 1 else f"at most {groups:,} groups"
    return f"Each person counts in {count}, drawn at random: their {pair}s in other groups are left out."


def _numbers(given: Any) -> NDArray[Any]:
    return to_numpy(given.combine_chunks())


def _first(query: str, shown: str, most: int, names: Sequence[str]) -> str:
    """The rows whose rank is among the `most` smallest of their person."""
    return (
        f"select {shown} from (select *, row_number() over (partition by u order by {', '.join(['rank', *names])}) "
        f"as place from ({query})) where place <= {most}"
    )
