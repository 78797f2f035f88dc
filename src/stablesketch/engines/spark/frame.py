"""The pairs of a DataFrame: names and checks columns and finds invalid rows, with the DataFrame API alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from ...errors import ArgumentTypeError, DataError
from ...reading.columns import BadRow, Cast, Columns, bad_rows, checked_types, is_bad, left_out, usual_row, which_bad
from ...reading.libraries import need
from ...reading.values import digits
from ...text.wording import arg, either

DataFrame = Any  # from pyspark.sql, classic or Spark Connect: neither is imported just for its type

NAME = "the DataFrame"
_TYPES = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "string": "VARCHAR",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP",
}
_CAST = Cast(
    "Cast it first: {} (in SQL, cast(... as string) or cast(round(...) as bigint))",
    'df.withColumn({0}, df[{0}].cast("string"))',
    'df.withColumn({0}, functions.round({0}).cast("bigint"))',
)
_ROW_BITS = 33  # of monotonically_increasing_id: the partition, then the row within it
_MALFORMED = -1  # in place of the number of a `BadRow`


@dataclass(frozen=True)
class TextFrame:
    """Cells of text files, all as text: `frame` has the column `spelled` for each column that is read.

    A malformed line is a row without cells. Its column `wrong` says what is wrong, and `fatal` whether it cannot be
    skipped. `located` is the same with the `file` of each row, the byte at which its block `start`s, and the `line`
    there.
    """

    name: str
    frame: DataFrame
    spelled: dict[str, str]
    located: Callable[[], DataFrame]


class Pairs:
    """A DataFrame with the columns of a question: k0, ..., v, g0, ..., u, as in reading/columns.py."""

    def __init__(
        self, frame: DataFrame | TextFrame, columns: Columns, largest: int | None, *, skip: bool, checked: bool = False
    ) -> None:
        """`checked`: invalid rows are found before anything else is done with the pairs."""
        text = frame if isinstance(frame, TextFrame) else None
        read: DataFrame = frame if text is None else text.frame
        if not hasattr(read, "mapInArrow"):
            raise ArgumentTypeError(
                "df", type(read), "must be a Spark DataFrame", "Pass spark.read.parquet(...), for example"
            )
        self.columns, self.name = columns, NAME if text is None else text.name
        self._text, self._skip = text, skip
        self._functions = need("pyspark.sql.functions", "spark")
        kinds = {field.name: field.dataType.simpleString() for field in read.schema.fields}
        if text is None:
            types = {name: _type(kind) for name, kind in kinds.items()}
            checked_types(NAME, columns, types, text=False, cast=_CAST)
        self._marks = columns.marked
        self._raw = self._marked(read)
        value_kind = kinds.get(columns.value) if columns.value is not None else None
        # Unchecked text goes to the workers as written: they are strict.
        as_it_is = value_kind == "bigint" if text is None else not (skip or checked)
        self._value = "v" if as_it_is else f"try_cast({'v' if text is None else digits('v')} as bigint) as v"
        # Fewer bytes are faster to hand to a collector. A value that does not fit becomes null, which the collector
        # refuses; the row is then found in the source, as a value above the promised maximum.
        short = text is None and largest is not None and largest < 2**31
        self._handed = "try_cast(v as int) as v" if short and value_kind != "int" else self._value
        ours = Columns(
            columns.key_marks,
            None if columns.value is None else "v",
            columns.group_marks,
            None if columns.person is None else "u",
            columns.zeros,
        )
        every = bad_rows(ours, text=text is not None, largest=largest)
        self._skipped = [one for one in every if skip and one.skippable]
        self._bad = [one for one in every if one not in self._skipped]
        self._usual = usual_row(ours, text=text is not None, largest=largest)
        self._zero = in_spark(left_out(ours, text=text is not None))

    def _marked(self, frame: DataFrame) -> DataFrame:
        """The columns as they are in the source, because a cast could overflow before the row is checked."""
        column = self._functions.col
        spelled = {} if self._text is None else self._text.spelled
        columns = [column(back_quoted(spelled.get(name, name))).alias(mark) for name, mark in self._marks]
        more = [] if self._text is None else frame.columns[len(spelled) :]
        return frame.select(*columns, *more)

    @property
    def every(self) -> DataFrame:
        """All rows, or only the valid ones if invalid rows are skipped, for a collector."""
        return self._rows(self._handed)

    @property
    def whole_values(self) -> DataFrame:
        """The rows of `every` with whole-number values, for Spark itself, which bounds people and adds up keys."""
        return self._rows(self._value)

    def _rows(self, value: str) -> DataFrame:
        skipped = in_spark(is_bad(self._skipped, self._usual)) if self._skipped else ""
        never = "fatal or " if self._text is not None else ""
        frame = self._raw.where(f"{never}not ({skipped})") if skipped else self._raw
        frame = frame.where(f"not {self._zero}") if self._zero else frame
        return frame.selectExpr(*(self._selected(mark, value) for _, mark in self._marks))

    def _selected(self, mark: str, value: str) -> str:
        if mark == "v":
            return value
        return f"cast({mark} as string) as {mark}" if mark.startswith("g") else mark

    def count(self) -> int:
        return int(self.every.count())

    def skipped(self) -> int:
        return int(self._raw.count()) - self.count()

    def first_bad(self) -> DataError | None:
        """The first invalid row, with its partition or file, its row there and its column; None if there is none."""
        functions, text = self._functions, self._text
        if not self._bad and text is None:
            return None
        case = in_spark(which_bad(self._bad, self._usual)) if self._bad else "null"
        if text is not None:
            malformed = "fatal" if self._skip else "wrong is not null"
            case = f"case when {malformed} then {_MALFORMED} else {case} end"
        which = functions.expr(case)
        raw = self._raw if text is None else self._marked(text.located())
        places = ["file", "start", "line", "wrong", "fatal"] if text is not None else []
        found = (
            raw.select(functions.monotonically_increasing_id().alias("place"), which.alias("bad"), *places)
            .where("bad is not null").orderBy("place").limit(1).collect()
        )  # fmt: skip
        return self._error_of(found[0]) if found else None

    def _error_of(self, found: Any) -> DataError:
        if self._text is None:
            source, row = f"{NAME}, partition {found.place >> _ROW_BITS}", (found.place & (1 << _ROW_BITS) - 1) + 1
        else:
            source, row = shown_path(unquote(found.file)), found.line
            source += f", after byte {found.start:,}" if found.start else ""
        if found.bad == _MALFORMED:
            skipped = f"name the delimiter ({arg('delimiter')}), or skip such rows ({arg('on_bad', 'skip')})"
            way_out = (
                f"or read it on one machine ({either('ss.release', '--engine local')})" if found.fatal else skipped
            )
            return DataError(source, found.wrong, f"Correct it, {way_out}", row=row)
        one: BadRow = self._bad[found.bad]
        name = next(name for name, mark in self._marks if mark == one.column)
        return one.error(source, row, name)


def is_remote(frame: DataFrame) -> bool:
    """Whether the DataFrame belongs to Spark Connect, which has no broadcasts."""
    return type(frame).__module__.startswith("pyspark.sql.connect")


@contextmanager
def quiet() -> Iterator[None]:
    """Silences PySpark's warning about new versions of pandas, which appears even if pandas is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def shown_path(path: str) -> str:
    """A file as people name it: on this machine, without file://."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def _type(kind: str) -> str:
    """The type as reading/columns.py calls it. Collated text keeps its name: equal values may differ in bits."""
    if kind.startswith(("varchar(", "char(")):
        return "VARCHAR"
    return _TYPES.get(kind, kind.upper())


def back_quoted(name: str) -> str:
    """A name in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def in_spark(condition: str) -> str:
    """The condition in Spark's SQL. The names in it are ours."""
    return condition.replace('"', "`")
