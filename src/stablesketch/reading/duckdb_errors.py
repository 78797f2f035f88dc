"""What DuckDB says of data it cannot read, in words of ours: the file, the row and what is wrong; never a value.

DuckDB's messages quote the line or value at fault, which may be somebody's data. So of those about values only what is
known to be DuckDB's own words is kept; those about a query (names, syntax, types) are shown: the query is the user's.
What it proposes instead is not: a file without a header has a row for names.
"""

from __future__ import annotations

import re

from ..errors import DataError, in_one_line
from ..wording import arg
from .lines import too_long

_ABOUT_VALUES = ("Conversion Error", "Invalid Input Error", "Out of Range Error", "Invalid Error")


def data_error(source: str, text: str) -> DataError:
    return (
        _no_file(source, text)
        or _bad_csv(source, text)
        or _bad_json(text)
        or _bad_value(source, text)
        or _other(source, text)
    )


def _no_file(source: str, text: str) -> DataError | None:
    """A file that is not there, or is none of its kind."""
    if re.search(r"too small to be a Parquet file|No magic bytes found", text):
        return DataError(
            source, "this is not a Parquet file", f"Check where it comes from, or state its {arg('format')}"
        )
    # A query reads the files that it names and that are there; DuckDB says of all others that they are not allowed.
    found = re.search(r'Cannot access file "(.+?)" - file system operations are disabled', text)
    if found is None:
        return None
    return DataError(
        source, f"there is no file {found[1]!r} that it could read", "Name files of this machine, as they are written"
    )


def _bad_csv(source: str, text: str) -> DataError | None:
    """A line that no row can be made of."""
    file = re.search(r"^\s*file = (.+)$", text, re.MULTILINE)
    name = file[1] if file else source
    skipped = f"Repair it, state the {arg('delimiter')}, or skip such rows ({arg('on_bad', 'skip')})"
    if "CSV Parser state machine reached an invalid state" in text:
        return DataError(
            name, "some lines end with \\r\\n and others with \\n, or quotes are malformed", "Repair the file"
        )
    line = re.search(r"CSV Error on Line: (\d+)", text)
    if line is None:
        return None
    row = int(line[1])
    # What begins a line is DuckDB's, and not the line that it quotes.
    fields = re.search(r"^Expected Number of Columns: (\d+) Found: (\d+)", text, re.MULTILINE)
    if re.search(r"^Maximum line size of", text, re.MULTILINE):
        return too_long(name, row)
    if fields:
        return DataError(name, f"there are {fields[2]} fields instead of {fields[1]}", skipped, row=row)
    if re.search(r"^Invalid unicode", text, re.MULTILINE):
        return DataError(name, "the text is not UTF-8", skipped, row=row)
    if re.search(r"^Value with unterminated quote", text, re.MULTILINE):  # not skipped: whole_lines.py
        return DataError(name, "unterminated quoted field", f"Repair it, or state the {arg('delimiter')}", row=row)
    if "casting" in text or "convert" in text:  # a cast that DuckDB moved into its reader
        return _bad_value(source, text)
    return DataError(name, "malformed CSV", skipped, row=row)


def _bad_json(text: str) -> DataError | None:
    """An object that no row can be made of."""
    found = re.search(r'JSON transform error in file "(.+?)", in (?:line|record/value) (\d+):', text)
    if found is not None:
        twice = "has duplicate key" in text
        problem = "a field is there twice in one object" if twice else "a field is not what it is in other objects"
        return DataError(found[1], problem, "Repair it", row=int(found[2]))
    found = re.search(
        r'Malformed JSON in file "(.+?)", at byte \d+ in (?:line|record/value) (\d+): ([a-z A-Z0-9-]+)', text
    )
    if found is not None:
        # Here, and only here, DuckDB has counted the object at fault twice.
        return DataError(found[1], f"malformed JSON: {found[3]}", "Repair it", row=int(found[2]) - 1)
    found = re.search(r'"maximum_object_size" of (\d+) bytes exceeded while reading file "(.+?)"', text)
    if found is not None:
        problem = f"an object is longer than {int(found[1]):,} bytes, the most that is read, or is not closed"
        return DataError(found[2], problem, "Shorten it, or close its quotes and brackets")
    return None


def _bad_value(source: str, text: str) -> DataError | None:
    """A value that a query cannot compute with."""
    kind = next((kind for kind in _ABOUT_VALUES if text.startswith(kind)), None)
    if kind is None or "Cannot change configuration option" in text:
        return None
    cast = re.search(r"(?:string '.*' to (\w+)|destination type (\w+))", text, re.DOTALL)
    column = re.search(r"when casting from source column (\w+)", text)
    target = (cast[1] or cast[2]) if cast else None
    problem = f"a value cannot be cast to {target}" if target else f"a value cannot be used ({kind} of DuckDB)"
    return DataError(
        source, f"{problem}; it is not shown, because it may be data",
        "Leave such rows out in the query (where try_cast(x as ...) is not null, for example), or repair them",
        column=column[1] if column else None,
    )  # fmt: skip


def _other(source: str, text: str) -> DataError:
    # Names like the one that is not there may come from a file without a header, and be data.
    said = re.split(r"\n\n|\s*Candidate bindings:|\s*Did you mean", text)[0]
    return DataError(source, in_one_line(said), "Repair the input, or the query")
