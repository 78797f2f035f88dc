"""Users' queries: one SELECT each, over files that it names or over one database. A query can only read.

SQLite runs those over its own databases (`sqlite_stream`), DuckDB all others.

A query is the user's own, so the danger is what somebody slips into one: a second statement, a file to write, a
database to attach or make writable, an extension, the network. Therefore, in DuckDB:

- DuckDB's parser must find exactly one statement in the text, a SELECT;
- the text then becomes a view, and everything else reads the view: the text is never put between parentheses that it
  could close;
- the only files it may read are those whose names or patterns occur in its syntax tree. Before a row is read, all other
  access to files, extensions and the network is disabled, and the configuration is locked. The lock refuses functions
  that would change the configuration (enable_profiling and enable_logging write files).
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import ArgumentError, DataError
from .columns import Columns, quoted
from .duckdb import DuckDB, text_literal
from .libraries import need
from .streams import Stream
from .tables import Table

_NAME = "the query"
_EXAMPLE = "Pass exactly one SELECT, such as: select app from 'events/*.parquet'"

_SQLITE_EXAMPLE = "Pass exactly one SELECT that reads tables of this database"
_READING = frozenset([sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE])
_ROWS = 1 << 15


def open_query(duckdb: DuckDB, query: str, columns: Columns, database: Path | None = None) -> Table:
    """The result of a query as a table, over files named in it or over a DuckDB database, which is opened read-only.

    Raises:
        DataError: the text is not one SELECT, or DuckDB refuses it.
    """
    if not query.strip(" \t\r\n;"):
        raise ArgumentError("sql", query, "must not be empty", _EXAMPLE)
    text = _one_select(duckdb, query)
    if database is not None:
        duckdb.rows(f"attach {text_literal(str(database))} as data (read_only)", str(database))
        duckdb.rows("use data", str(database))
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


def sqlite_stream(path: Path, query: str) -> Stream:
    """The rows of a query on a database opened read-only. A column must have one type, whatever SQLite allows.

    Raises:
        DataError: the text is not one SELECT, SQLite refuses it, or a column has values of several types.
    """
    pa = need("pyarrow")
    name = str(path)
    kinds = {"integer": pa.int64(), "text": pa.string(), "blob": pa.binary()}
    # By itself first: there is no parenthesis to close, and a comment at its end cannot hide what follows.
    text = query.strip().rstrip(";")
    origin = f"(\n{text}\n)"

    def column_type(connection: sqlite3.Connection, column: str) -> Any:
        found = connection.execute(f"select distinct typeof({quoted(column)}) from {origin} limit 5").fetchall()
        types = {row[0] for row in found} - {"null"}
        if not types <= kinds.keys() or len(types) > 1:
            shown = " and ".join(sorted(types))
            raise DataError(
                name, f"has values of type {shown}", "Cast it in SQL: select cast(x as text)", column=column
            )
        return kinds[types.pop()] if types else pa.string()

    with _sqlite_errors(name), contextlib.closing(_sqlite_connection(path)) as connection:
        connection.execute(f"explain {text}").close()
        names = [part[0] for part in connection.execute(f"select * from {origin} limit 0").description]
        schema = pa.schema([(column, column_type(connection, column)) for column in names])

    def read() -> Iterator[Any]:
        with _sqlite_errors(name), contextlib.closing(_sqlite_connection(path)) as connection:
            cursor = connection.execute(f"select * from {origin}")
            while rows := cursor.fetchmany(_ROWS):
                columns = [
                    pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return Stream(name, names, read)


def _sqlite_connection(path: Path) -> sqlite3.Connection:
    """A read-only connection. Everything but reading, such as ATTACH or PRAGMA, is refused when it is prepared."""
    # Read by a separate thread (`prefetched`), and closed there or by whoever waited for it.
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True, check_same_thread=False)
    connection.set_authorizer(_authorized)
    return connection


def _authorized(action: int, one: str | None, other: str | None, *_: object) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and other is not None and other.lower() == "load_extension"
    return sqlite3.SQLITE_OK if action in _READING and not loads else sqlite3.SQLITE_DENY


@contextlib.contextmanager
def _sqlite_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(name, f"SQLite refuses the query: {error}", _SQLITE_EXAMPLE) from None
