"""`Tabular`: an answer as a table, for people and for programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..reading.libraries import need
from ..text.visible import places, visible

Cell = str | float | int


class Column(NamedTuple):
    """The values of a column: text, float or int. `shown` is its heading, or None if the column is not shown."""

    kind: type[Cell]
    values: Sequence[Cell]
    shown: str | None


class Tabular(ABC):
    """Prints as a table, is one in a notebook, and becomes a pandas, polars or Arrow table with the same rows."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the table shows, in one line."""

    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Every column by its name, in order, all of the same length."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes to show below the table, in sentences."""
        return ()

    def to_arrow(self) -> Any:
        """The table as a pyarrow Table."""
        pa = need("pyarrow")
        types = {str: pa.string(), float: pa.float64(), int: pa.int64()}
        return pa.table({name: pa.array(one.values, types[one.kind]) for name, one in self.columns().items()})

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        pd = need("pandas", None)
        return pd.DataFrame({name: pd.Series(one.values, dtype=one.kind) for name, one in self.columns().items()})

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        columns = self.columns()
        kinds = {name: one.kind for name, one in columns.items()}
        return need("polars", None).DataFrame({name: one.values for name, one in columns.items()}, schema=kinds)

    def __str__(self) -> str:
        kinds, rows = self._for_people()
        widths = [max(map(places, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(_padded, row, widths, kinds)).rstrip() for row in rows]
        return "\n".join([visible(self.title), *lines, *map(visible, self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks. Names from the data are escaped: they are shown as text, whatever they contain."""
        from html import escape  # only notebooks need it

        kinds, (head, *rows) = self._for_people()
        sides = ["left" if kind is str else "right" for kind in kinds]

        def line(tag: str, cells: Sequence[str]) -> str:
            return "".join(
                f'<{tag} style="text-align: {side}; padding: 0 0.6em">{escape(cell)}</{tag}>'
                for cell, side in zip(cells, sides, strict=True)
            )

        body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
        caption = f'<caption style="text-align: left; white-space: nowrap">{escape(visible(self.title))}</caption>'
        notes = "".join(f"<p>{escape(visible(note))}</p>" for note in self.notes)
        return f"<table>{caption}<thead><tr>{line('th', head)}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def _for_people(self) -> tuple[list[type[Cell]], list[list[str]]]:
        """The kinds of the columns that people see, and the rows with their headings first."""
        seen = [one for one in self.columns().values() if one.shown is not None]
        cells = [[visible(one.shown or ""), *map(_said, one.values)] for one in seen]
        return [one.kind for one in seen], [list(row) for row in zip(*cells, strict=True)]


def names_of_groups(by: Sequence[str], others: Sequence[str]) -> list[str]:
    """The group columns as the result names them. One with the name of another column is prefixed with `group_`."""
    names: list[str] = []
    for name in by:
        while name in others or name in names:
            name = f"group_{name}"
        names.append(name)
    return names


def parts_of(group: object) -> object:
    """The name of a group in its stored form, from a text or its parts."""
    return (group,) if isinstance(group, str) else group


def _padded(cell: str, width: int, kind: type[Cell]) -> str:
    room = " " * (width - places(cell))
    return f"{cell}{room}" if kind is str else f"{room}{cell}"


def _said(cell: Cell) -> str:
    if isinstance(cell, str):
        return visible(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.6g}"
