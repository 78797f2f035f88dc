"""Which fields of a line are read, and what makes them a row: as SQL over their texts.

Whether a line is a row depends on that line and on the header of its file alone: one row more never changes what
becomes of another. Headers are not protected. In Zeek's logs a line that begins with `#fields` is one wherever it
stands, and the first line of an input says whether it is TSV or JSON (reader.py): lines that Zeek writes, and no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from ..errors import ArgumentError
from .presets import PRESETS, Format, TimeUnit

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_RFC_3339 = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)"
LARGEST = 2**53


@dataclass(frozen=True)
class LineFields:
    """What is read of a line, and how. Without `time` a row has the time at which it arrived; without `value` it counts
    1. `names` are the columns of CSV or TSV that has no header."""

    format: Format
    key: tuple[str, ...]
    time: str | None = None
    time_unit: TimeUnit = "s"
    value: str | None = None
    max_value: int = 1
    clip: bool = False
    names: tuple[str, ...] | None = None
    delimiter: str = ","
    person: str | None = None

    @classmethod
    def of(
        cls, *, format: str | None = None, preset: str | None = None, key: tuple[str, ...] = (),
        time: str | None = None, time_unit: str | None = None, value: str | None = None, max_value: int | None = None,
        clip: bool = False, names: tuple[str, ...] | None = None, delimiter: str | None = None, source: str = "-",
        person: str | None = None,
    ) -> LineFields:  # fmt: skip
        """The fields as users type them; what is not typed comes from the preset, or from the name of the file.

        `time="arrival"` takes the time of arrival where the preset has another one.
        """
        if preset is not None and preset not in PRESETS:
            raise ArgumentError("preset", preset, f"must be one of {', '.join(PRESETS)}", "Choose one of these")
        usual = None if preset is None else PRESETS[preset]
        kind = format or (usual.format if usual else _by_name(source))
        if kind not in get_args(Format):
            raise ArgumentError("format", kind, f"must be one of {', '.join(get_args(Format))}", "Choose one of these")
        timed = time != "arrival" and (time is not None or usual is not None)
        for name, given, useful in (
            ("time_unit", time_unit, timed), ("fields", names, kind in ("csv", "tsv", "zeek")),
            ("delimiter", delimiter, kind in ("csv", "tsv")), ("max_value", max_value, kind != "lines"),
            ("clip", clip or None, kind != "lines"), ("person", person, kind != "lines"),
        ):  # fmt: skip
            if given is not None and not useful:
                without = "without --time" if name == "time_unit" else f"with --format {kind}"
                raise ArgumentError(name, given, f"cannot be used {without}", "Leave it out")
        if kind == "lines":
            if key not in ((), ("line",)) or value is not None or time not in (None, "arrival"):
                raise ArgumentError(
                    "format", "lines", "cannot be used with fields: a plain line is a key",
                    "Pass --format json, csv, tsv or zeek, or leave out --key, --time and --value",
                )  # fmt: skip
            return cls("lines", ("line",))
        key = key or ((usual.key,) if usual else ())
        if not key:
            raise ArgumentError("key", None, "must name the field of keys", "Pass --key, or --preset")
        if usual is not None:
            time, time_unit = time or usual.time, time_unit or (None if time == "arrival" else usual.time_unit)
            value = value or (usual.value if max_value is not None else None)
        if (value is None) != (max_value is None):
            missing = "value" if value is None else "max_value"
            raise ArgumentError(
                missing,
                None,
                "must be given together with its counterpart",
                "Pass both --value and --max-value, or neither",
            )
        if time_unit is not None and time_unit not in _PER_SECOND:
            raise ArgumentError(
                "time_unit", time_unit, f"must be one of {', '.join(_PER_SECOND)}", "Choose one of these"
            )
        if clip and value is None:
            raise ArgumentError("clip", True, "needs a field of values", "Pass --value, or leave out --clip")
        made = cls(
            kind, key, None if time == "arrival" else time, time_unit or "s", value,  # type: ignore[arg-type]  # checked
            1 if max_value is None else max_value, clip, names, delimiter or ("\t" if kind in ("tsv", "zeek") else ","),
            person,
        )  # fmt: skip
        for name in made.all:
            if not name or '"' in name:
                raise ArgumentError("key", name, "cannot be the name of a field", 'Pass a name without "')
        return made

    def __post_init__(self) -> None:
        if not 1 <= self.max_value <= LARGEST:
            raise ArgumentError("max_value", self.max_value, "must be from 1 to 2^53", "Pass 1500, for example")
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise ArgumentError("delimiter", self.delimiter, "must be one character", "Pass ',' or ';', for example")

    @property
    def all(self) -> tuple[str, ...]:
        """The names that are read, in the order of their texts: k0, ..., then t, v and u."""
        return (*self.key, *(name for name in (self.time, self.value, self.person) if name))

    @property
    def marks(self) -> tuple[str, ...]:
        """What the texts of `all` are called in SQL."""
        keys = tuple(f"k{i}" for i in range(len(self.key)))
        others = zip((self.time, self.value, self.person), "tvu", strict=True)
        return (*keys, *(mark for name, mark in others if name))

    def window(self, every: int) -> str:
        """SQL for the window of the text t, null if it is no time."""
        return f"{_second(self.time_unit)} // {every}"

    def rows(self, texts: str, window: str) -> str:
        """SQL for the rows of a relation of texts: k0, ..., the window w if rows have times, the value v; the person u
        with i, which says where the row stands: the first rows of a person count (people.py)."""
        keys = [f"k{i}" for i in range(len(self.key))]
        parts, whole, shown = list(keys), [f"{key} <> ''" for key in keys], list(keys)
        if self.time:
            parts.append(f"{window} as w")
            whole.append("w is not null")
            shown.append("w")
        if self.value:
            number = "case when regexp_full_match(v, '[0-9]{1,16}') then v::bigint end"
            parts.append(f"{number} as n")
            whole.append(f"n between 1 and {LARGEST if self.clip else self.max_value}")
            shown.append(f"least(n, {self.max_value}) as v")
        if self.person:
            parts += ["u", "i"]
            whole.append("u <> ''")
            shown += ["u", "i"]
        # Materialized, or the texts would be taken out of the line again wherever they are named.
        return (
            f"with texts as materialized ({texts}), parts as materialized (select {', '.join(parts)} from texts) "
            f"select {', '.join(shown)} from parts where {' and '.join(whole)}"
        )


def _second(unit: str) -> str:
    """The whole second of the text t, as SQL: a number since 1970, or RFC 3339. Null if it is neither.

    Fractions are cut, never rounded: windows begin at whole seconds, and are half-open.
    """
    offset = r"regexp_extract(t, '([Zz]|[+-]\d\d:?\d\d)$')"
    written = f"epoch_us(try_cast(upper(left(t, 19) || {offset}) as timestamptz)) // 1000000"
    counted = f"try_cast(split_part(t, '.', 1) as bigint) // {_PER_SECOND[unit]}"
    return (
        f"case when substr(t, 5, 1) = '-' then case when regexp_full_match(t, '{_RFC_3339}') then {written} end "
        rf"when regexp_full_match(t, '\d{{1,19}}(\.\d*)?') then {counted} end"
    )


def _by_name(source: str) -> str:
    ends = {(".json", ".jsonl", ".ndjson"): "json", (".csv",): "csv", (".tsv",): "tsv"}
    return next((kind for suffixes, kind in ends.items() if source.endswith(suffixes)), "lines")
