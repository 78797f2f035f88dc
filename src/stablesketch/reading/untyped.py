"""Columns of which no type is known, since no row has a value in them: text, or whole numbers if they hold values.

A frame of Python's objects has such columns where it has no rows, and so has one that was made of none. Refused for
their type, they would tell an empty frame from one with a row, and under add_remove neighbours are just that. So their
type is what it is said to be, and rows in which they are null are invalid, each by itself.
"""

from __future__ import annotations

from typing import Any

from .columns import Columns
from .libraries import need


def typed(batch: Any, columns: Columns) -> Any:
    """An Arrow table or batch without columns of the type null."""
    schema = typed_schema(batch.schema, columns)
    return batch if schema is batch.schema else batch.cast(schema)


def typed_schema(schema: Any, columns: Columns) -> Any:
    """The schema without them; itself if it has none. In a wide table all columns but those of groups and people have
    values."""
    pa = need("pyarrow")
    fields = list(schema)
    if not any(pa.types.is_null(field.type) for field in fields):
        return schema
    texts = {*columns.key, *columns.by, columns.person}
    kinds = ((field, pa.string() if field.name in texts else pa.int64()) for field in fields)
    return pa.schema([field.with_type(kind) if pa.types.is_null(field.type) else field for field, kind in kinds])


def schema_without_rows(names: list[str], columns: Columns, *, text: bool) -> Any:
    """The schema of data that have no row and do not say which types they would have; `text` if all would be text."""
    pa = need("pyarrow")
    return typed_schema(pa.schema([(name, pa.string() if text else pa.null()) for name in names]), columns)
