"""`stablesketch exact`: F_p by a group-by, to compare with. Not private."""

from __future__ import annotations

import json as json_module
from typing import Any

from ..doors import Input, checked_columns
from ..doors.exact import exact_moments
from . import options
from .screen import fact_table, note, number, plain_table, print_text

__all__ = ["exact"]


def exact(
    p: options.Order,
    files: options.Inputs = None,
    key: options.Key = None,
    value: options.Value = None,
    by: options.By = None,
    sql: options.Sql = None,
    format: options.Format = None,
    header: options.Header = True,
    delimiter: options.Delimiter = None,
    on_bad: options.OnBad = "error",
    json: options.Json = False,
) -> None:
    """The exact F_p, which is [bold]not private[/]: for tests, and for data that are public."""
    options.need_input(files, sql)
    statistic = options.statistic_of(p)
    columns = checked_columns(options.listed(key or "line"), value, options.listed(by))
    found = exact_moments(files, statistic.p, columns, Input(format, header, delimiter, sql), on_bad)
    if json:
        rows: list[dict[str, Any]] = [
            {"group": name[0] if len(name) == 1 else list(name), "value": moment, "p": p, "pairs": pairs, "keys": keys}
            for name, moment, pairs, keys in found
        ]
        for row in rows if not columns.by else []:
            row.pop("group")
        print_text(json_module.dumps(rows if columns.by else rows[0], sort_keys=True, ensure_ascii=False))
    elif columns.by:
        shown = [[", ".join(name), number(f), f"{pairs:,}", f"{keys:,}"] for name, f, pairs, keys in found]
        plain_table(["group", str(statistic), "pairs", "keys"], shown, numbers=3)
    else:
        _, moment, pairs, keys = found[0]
        fact_table(
            "Exact, not private", [(str(statistic), f"{moment:,.6f}"), ("pairs", f"{pairs:,}"), ("keys", f"{keys:,}")]
        )
    note("not private: guard it like the data")
