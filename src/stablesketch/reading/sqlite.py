"""A query over an SQLite database: one SELECT, which can read that file and nothing else."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import DataError
from .libraries import need
from .streams import Stream

_ROWS = 1 << 15
_READING = frozenset([sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE])
_EXAMPLE = "Pass exactly one SELECT that reads tables of this database"


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
        escaped = column.replace('"', '""')
        found = connection.execute(f'select distinct typeof("{escaped}") from {origin} limit 5').fetchall()
        types = {row[0] for row in found} - {"null"}
        if not types <= kinds.keys() or len(types) > 1:
            shown = " and ".join(sorted(types))
            raise DataError(
                name, f"has values of type {shown}", "Cast it in SQL: select cast(x as text)", column=column
            )
        return kinds[types.pop()] if types else pa.string()

    with _typed_errors(name), contextlib.closing(_connected(path)) as connection:
        connection.execute(f"explain {text}").close()
        names = [part[0] for part in connection.execute(f"select * from {origin} limit 0").description]
        schema = pa.schema([(column, column_type(connection, column)) for column in names])

    def read() -> Iterator[Any]:
        with _typed_errors(name), contextlib.closing(_connected(path)) as connection:
            cursor = connection.execute(f"select * from {origin}")
            while rows := cursor.fetchmany(_ROWS):
                columns = [
                    pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return Stream(name, names, read)


def _connected(path: Path) -> sqlite3.Connection:
    """A read-only connection. Everything but reading, such as ATTACH or PRAGMA, is refused when it is prepared."""
    # Read by a separate thread (`prefetched`), and closed there or by whoever waited for it.
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True, check_same_thread=False)
    connection.set_authorizer(_authorized)
    return connection


def _authorized(action: int, one: str | None, other: str | None, *_: object) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and other is not None and other.lower() == "load_extension"
    return sqlite3.SQLITE_OK if action in _READING and not loads else sqlite3.SQLITE_DENY


@contextlib.contextmanager
def _typed_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(name, f"SQLite refuses the query: {error}", _EXAMPLE) from None
