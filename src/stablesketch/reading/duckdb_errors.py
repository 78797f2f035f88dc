"""DuckDB's errors about data it cannot read, in our words: the file, the row and what is wrong; never a value.

DuckDB's messages quote the offending line or value, which may be somebody's data. From messages about values, only the
parts known to be DuckDB's own words are therefore kept. Messages about a query (names, syntax, types) are shown,
because the query is the user's. The names that DuckDB suggests are not, because in a file without a header they are a
row.
"""

from __future__ import annotations

import re

from ..errors import DataError, in_one_line
from ..text.wording import arg
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
    """A file that does not exist, or is not of its kind."""
    if re.search(r"too small to be a Parquet file|No magic bytes found", text):
        return DataError(
            source, "not a Parquet file", f"Check where it comes from, or pass its format ({arg('format')})"
        )
    # A query may read the files it names that exist. DuckDB reports all others as not allowed.
    found = re.search(r'Cannot access file "(.+?)" - file system operations are disabled', text)
    if found is None:
        return None
    return DataError(
        source,
        f"file {found[1]!r} does not exist or cannot be read",
        "Name files on this machine, with their exact names",
    )


def _bad_csv(source: str, text: str) -> DataError | None:
    """A line that cannot become a row."""
    file = re.search(r"^\s*file = (.+)$", text, re.MULTILINE)
    name = file[1] if file else source
    skipped = f"Correct it, name the delimiter ({arg('delimiter')}), or skip such rows ({arg('on_bad', 'skip')})"
    if "CSV Parser state machine reached an invalid state" in text:
        return DataError(
            name, "some lines end with \\r\\n and others with \\n, or quotes are malformed", "Correct the file"
        )
    line = re.search(r"CSV Error on Line: (\d+)", text)
    if line is None:
        return None
    row = int(line[1])
    # Text at the start of a line is DuckDB's own, not part of the quoted line.
    fields = re.search(r"^Expected Number of Columns: (\d+) Found: (\d+)", text, re.MULTILINE)
    if re.search(r"^Maximum line size of", text, re.MULTILINE):
        return too_long(name, row)
    if fields:
        expected, found = int(fields[1]), int(fields[2])  # it stops counting at the first field too many
        got = "more" if found > expected else f"{found}"
        return DataError(name, f"expected {expected} fields, got {got}", skipped, row=row)
    if re.search(r"^Invalid unicode", text, re.MULTILINE):
        return DataError(name, "the text is not UTF-8", skipped, row=row)
    if re.search(r"^Value with unterminated quote", text, re.MULTILINE):  # not skipped: whole_lines.py
        return DataError(
            name, "unterminated quoted field", f"Correct it, or name the delimiter ({arg('delimiter')})", row=row
        )
    if "casting" in text or "convert" in text:  # a cast that DuckDB moved into its reader
        return _bad_value(source, text)
    return DataError(name, "malformed CSV", skipped, row=row)


def _bad_json(text: str) -> DataError | None:
    """An object that cannot become a row."""
    way_out = f"Correct it, or skip such lines if each object is on one line ({arg('on_bad', 'skip')})"
    found = re.search(r'JSON transform error in file "(.+?)", in (?:line|record/value) (\d+):', text)
    if found is not None:
        twice = "has duplicate key" in text
        problem = "a field occurs twice in one object" if twice else "a field has another type than in other objects"
        if "Expected OBJECT, but got" in text:
            return DataError(found[1], "not a JSON object", way_out, row=int(found[2]))
        return DataError(found[1], problem, "Correct it", row=int(found[2]))
    found = re.search(
        r'Malformed JSON in file "(.+?)", at byte \d+ in (?:line|record/value) (\d+): ([a-z A-Z0-9-]+)', text
    )
    if found is not None:
        # Here, and only here, DuckDB counts the offending object twice.
        return DataError(found[1], f"malformed JSON: {found[3]}", way_out, row=int(found[2]) - 1)
    found = re.search(r'"maximum_object_size" of (\d+) bytes exceeded while reading file "(.+?)"', text)
    if found is not None:
        problem = f"an object is longer than {int(found[1]):,} bytes, the maximum, or is not closed"
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
        "Exclude such rows in the query (where try_cast(x as ...) is not null, for example), or correct them",
        column=column[1] if column else None,
    )  # fmt: skip


def _other(source: str, text: str) -> DataError:
    # Similar names may come from a file without a header, and be data.
    said = re.split(r"\n\n|\s*Candidate bindings:|\s*Did you mean", text)[0]
    return DataError(source, in_one_line(said), "Correct the input or the query")
