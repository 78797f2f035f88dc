"""Users' queries: one SELECT each, over files that it names or over one database. A query can only read.

A query is the user's own, so the danger is what somebody slips into one: a second statement, a file to write, a
database to attach or make writable, an extension, the network. Therefore:

- DuckDB's parser must find exactly one statement in the text, a SELECT;
- the text then becomes a view, and everything else reads the view: the text is never put between parentheses that it
  could close;
- the only files it may read are those whose names or patterns occur in its syntax tree. Before a row is read, all other
  access to files, extensions and the network is disabled, and the configuration is locked. The lock refuses functions
  that would change the configuration (enable_profiling and enable_logging write files).
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator

from ..errors import ArgumentError, DataError
from .columns import Columns
from .duckdb import DuckDB, text_literal
from .files import resolved
from .tables import Table

_NAME = "the query"
_EXAMPLE = "Pass exactly one SELECT, such as: select app from 'events/*.parquet'"


def open_query(duckdb: DuckDB, query: str, columns: Columns, database: str | os.PathLike[str] | None = None) -> Table:
    """The result of a query as a table, over files named in it or over a DuckDB database, which is opened read-only.

    Raises:
        DataError: the text is not one SELECT, or DuckDB refuses it.
    """
    if not query.strip(" \t\r\n;"):
        raise ArgumentError("sql", query, "must not be empty", _EXAMPLE)
    text = _one_select(duckdb, query)
    if database is not None:
        path = resolved([database])[0]
        duckdb.rows(f"attach {text_literal(str(path))} as data (read_only)", str(path))
        duckdb.rows("use data", str(path))
    duckdb.close_off(_named_files(duckdb, text))
    duckdb.rows(f"create temp view asked as\n{text}", _NAME)
    table = Table(duckdb, _NAME, "temp.asked", duckdb.types("select * from temp.asked", _NAME))
    table.doubt = "query"
    return table.check(columns)


def _one_select(duckdb: DuckDB, query: str) -> str:
    found = duckdb.statements(query, _NAME)
    if len(found) != 1:
        raise DataError(_NAME, f"expected one statement, got {len(found)}", _EXAMPLE)
    text, kind = found[0]
    if kind != "SELECT":
        raise DataError(_NAME, f"expected a SELECT, got {kind}", _EXAMPLE)
    return text


def _named_files(duckdb: DuckDB, text: str) -> list[str]:
    """The local files and patterns named in a query: every text in its syntax tree that matches one."""
    tree = duckdb.rows(f"select json_serialize_sql({text_literal(text)})", _NAME)[0][0]
    found: dict[str, None] = {}
    for one in _texts(json.loads(tree)):
        matches = (
            [one] if os.path.isfile(one) else [path for path in glob.glob(one, recursive=True) if os.path.isfile(path)]
        )
        if matches:
            found |= dict.fromkeys([one, *matches])
    return list(found)


def _texts(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for value in node.values():
            yield from _texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value)
    elif isinstance(node, str) and node and "\0" not in node:
        yield node
