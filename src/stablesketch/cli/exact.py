"""`stablesketch exact`: a statistic by a group-by, to compare with. Not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..engines.local.exact import exact_values
from ..reading.opened import Input
from . import options
from .screen import fact_table, json_text, note, number, plain_table, print_text
from .statistic_options import Chosen


def exact(
    statistic: Chosen,
    files: options.Inputs = None,
    key: options.Key = None,
    value: options.Value = None,
    by: options.By = None,
    sql: options.Sql = None,
    format: options.Format = None,
    header: options.Header = True,
    delimiter: options.Delimiter = None,
    wide: options.Wide = False,
    on_bad: options.OnBad = "error",
    json: options.Json = False,
) -> None:
    """The exact statistic, which is [bold]not private[/]: for tests, and for data that are public."""
    options.need_input(files, sql)
    wanted = statistic.made()
    columns = options.columns_of(key, value, by, wide=wide)
    found = exact_values(files, wanted, columns, Input(format, header, delimiter, sql, wide), on_bad)
    orders, names = [point.p for point in wanted.points], wanted.point_names
    if json:

        def numbers(found: Sequence[float]) -> Any:
            """One or several; JSON has neither nan nor infinity: null, and text."""
            said = [None if math.isnan(one) else "inf" if math.isinf(one) else one for one in found]
            return said[0] if len(said) == 1 else said

        rows: list[dict[str, Any]] = [
            {
                "group": one.group[0] if len(one.group) == 1 else list(one.group),
                "value": numbers(one.values),
                "p": numbers(orders),
                "pairs": one.pairs,
                "keys": one.keys,
            }
            for one in found
        ]
        for row in rows if not columns.by else []:
            row.pop("group")
        print_text(json_text(rows if columns.by else rows[0]))
    elif columns.by:
        shown = [[", ".join(one.group), *map(number, one.values), f"{one.pairs:,}", f"{one.keys:,}"] for one in found]
        plain_table(["group", *names, "pairs", "keys"], shown, numbers=2 + len(names))
    else:
        (one,) = found
        values = [(name, f"{value:,.6f}") for name, value in zip(names, one.values, strict=True)]
        fact_table("Exact, not private", [*values, ("pairs", f"{one.pairs:,}"), ("keys", f"{one.keys:,}")])
    note("not private: guard it like the data")
