"""Which fields of a line are read, and when a line is a row.

Whether a line is a row depends only on that line and on the header of its file: one row more never changes how another
is read. Headers are not protected. In Zeek's logs a line that begins with `#fields` is a header wherever it occurs, and
the first line of an input says whether it is TSV or JSON (reader.py): Zeek writes these lines, and they are not rows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..._native import NO_SECOND
from ...errors import HIDDEN, ArgumentError, check_choice
from ...reading.libraries import need
from ...reading.numpy_arrow import scalar
from ...reading.values import digits_of
from ...release.question import Question
from ...text.wording import arg

LineFormat = Literal["json", "csv", "tsv", "zeek", "lines"]
PresetName = Literal["zeek", "suricata", "goflow2"]
TimeUnit = Literal["s", "ms", "us", "ns"]
PER_SECOND: dict[str, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NO_WINDOW = NO_SECOND  # of a text that is not a time
LARGEST = 2**53
_DIGITS = r"\A[0-9]{1,16}\z"


@dataclass(frozen=True)
class Preset:
    """The fields to read from a program's logs, unless others are named."""

    format: LineFormat
    key: str
    time: str
    value: str
    time_unit: TimeUnit = "s"


PRESETS: dict[PresetName, Preset] = {
    "zeek": Preset("zeek", "id.orig_h", "ts", "orig_bytes"),  # conn.log, as TSV or as JSON
    "suricata": Preset("json", "src_ip", "timestamp", "flow.bytes_toserver"),  # eve.json
    "goflow2": Preset("json", "src_addr", "time_received_ns", "bytes", "ns"),  # its JSON of flows
}


@dataclass(frozen=True)
class LineFields:
    """What is read from a line, and how. Without `time` a row has its time of arrival; without `value` it counts 1.
    `names` are the columns of CSV or TSV without a header."""

    format: LineFormat
    key: tuple[str, ...]
    time: str | None = None
    time_unit: TimeUnit = "s"
    value: str | None = None
    max_value: int = 1
    clip: bool = Question.clip
    names: tuple[str, ...] | None = None
    delimiter: str = ","
    person: str | None = None

    @classmethod
    def of(
        cls, *, format: str | None = None, preset: str | None = None, key: tuple[str, ...] = (),
        time: str | None = None, time_unit: str | None = None, value: str | None = None, max_value: int | None = None,
        clip: bool = clip, names: tuple[str, ...] | None = None, delimiter: str | None = None, source: str = "-",
        person: str | None = None,
    ) -> LineFields:  # fmt: skip
        """The fields as users name them; the rest comes from the preset, or from the name of the file.

        `time="arrival"` uses the time of arrival instead of the preset's time.
        """
        if preset is not None:
            check_choice("preset", preset, PRESETS)
        usual = None if preset is None else PRESETS[preset]  # type: ignore[index]  # checked
        kind = format or (usual.format if usual else _by_name(source))
        check_choice("format", kind, get_args(LineFormat))
        timed = time != "arrival" and (time is not None or usual is not None)
        for name, given, useful in (
            ("time_unit", time_unit, timed), ("fields", names, kind in ("csv", "tsv", "zeek")),
            ("delimiter", delimiter, kind in ("csv", "tsv")), ("max_value", max_value, kind != "lines"),
            ("clip", clip or None, kind != "lines"), ("person", person, kind != "lines"),
        ):  # fmt: skip
            if given is not None and not useful:
                without = f"without {arg('time')}" if name == "time_unit" else f"with {arg('format', kind)}"
                raise ArgumentError(name, given, f"cannot be used {without}", "Leave it out")
        if kind == "lines":
            if key not in ((), ("line",)) or value is not None or time not in (None, "arrival"):
                named = f"{arg('key')}, {arg('time')} and {arg('value')}"
                if format is None:
                    raise ArgumentError(
                        "format", HIDDEN, "must be given",
                        f"Pass json, csv, tsv or zeek. To count whole lines, leave out {named}",
                        because="the name of the input does not tell what its lines are",
                    )  # fmt: skip
                raise ArgumentError(
                    "format", "lines", "cannot be used with fields: a plain line is a key",
                    f"Pass another {arg('format')}, such as json, or leave out {named}",
                )  # fmt: skip
            return cls("lines", ("line",))
        key = key or ((usual.key,) if usual else ())
        if not key:
            raise ArgumentError("key", HIDDEN, "must name the field of keys", f"Pass {arg('key')}, or {arg('preset')}")
        if usual is not None:
            time, time_unit = time or usual.time, time_unit or (None if time == "arrival" else usual.time_unit)
            value = value or (usual.value if max_value is not None else None)
        if (value is None) != (max_value is None):
            missing = "value" if value is None else "max_value"
            raise ArgumentError(
                missing, None, f"must be given with {arg('max_value' if value is None else 'value')}",
                "Pass both, or neither",
            )  # fmt: skip
        if time_unit is not None:
            check_choice("time_unit", time_unit, PER_SECOND)
        if clip and value is None:
            raise ArgumentError(
                "clip", True, "needs a field of values", f"Pass {arg('value')}, or leave out {arg('clip')}"
            )
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
        """The names of the fields that are read, in the order of their texts: k0, ..., then t, v and u."""
        return (*self.key, *(name for name in (self.time, self.value, self.person) if name))

    @property
    def marks(self) -> tuple[str, ...]:
        """The names of the texts of `all` in tables."""
        keys = tuple(f"k{i}" for i in range(len(self.key)))
        others = zip((self.time, self.value, self.person), "tvu", strict=True)
        return (*keys, *(mark for name, mark in others if name))

    def rows(self, texts: Any) -> Any:
        """The rows of a table of texts, with the window w of each if rows have times. A row must have non-empty keys,
        a time, a whole number up to the maximum as its value (v is that number), and a non-empty person."""
        compute = need("pyarrow.compute")
        named = [mark for mark in self.marks if mark[0] in "ku"]
        whole = [compute.greater(compute.binary_length(texts.column(mark)), scalar(0)) for mark in named]
        if self.time:
            whole.append(compute.not_equal(texts.column("w"), scalar(NO_WINDOW)))
        if self.value:
            text = texts.column("v")
            digits = compute.match_substring_regex(text, _DIGITS)
            if not compute.all(digits, skip_nulls=False, min_count=0).as_py():
                text = digits_of(text)  # 3.0 and " 3" are 3
                digits = compute.match_substring_regex(text, _DIGITS)
            number = compute.if_else(digits, text, need("pyarrow").NA).cast("int64")
            most = LARGEST if self.clip else self.max_value
            whole += [compute.greater_equal(number, scalar(1)), compute.less_equal(number, scalar(most))]
            least = compute.min_element_wise(number, scalar(self.max_value))
            texts = texts.set_column(texts.column_names.index("v"), "v", least)
        kept = functools.reduce(compute.and_, whole)
        return texts if compute.all(kept, skip_nulls=False, min_count=0).as_py() else texts.filter(kept)


def _by_name(source: str) -> str:
    ends = {(".json", ".jsonl", ".ndjson"): "json", (".csv",): "csv", (".tsv",): "tsv"}
    return next((kind for suffixes, kind in ends.items() if source.endswith(suffixes)), "lines")
