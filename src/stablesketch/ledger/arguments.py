"""Arguments of ledgers, checked."""

from __future__ import annotations

from typing import get_args

from ..errors import ArgumentError, ArgumentTypeError
from ..privacy import Relation
from ..wording import arg
from .record import INDIVIDUALS, PEOPLE, Ask

_MOST = 2**53


def check_unit(relation: object, pairs_per_person: object) -> None:
    known = [f"{each}{unit}" for each in get_args(Relation) for unit in ("", " of keys")]
    if relation is not None and relation not in (*known, PEOPLE, INDIVIDUALS):
        raise ArgumentError(
            "relation", relation, f"must be 'replace', 'add_remove' or {PEOPLE!r}", "Choose one of these"
        )
    if pairs_per_person is not None:
        check_count("pairs_per_person", pairs_per_person)


def check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise ArgumentError(name, value, f"must be a whole number between 1 and {_MOST:,}", "Pass an integer")


def checked_probability(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1.0:
        raise ArgumentError(name, value, "must be between 0 and 1", "Pass 1e-6, for example")
    return float(value)


def checked_label(label: object) -> str:
    """A label is text that a file can hold."""
    if not isinstance(label, str):
        raise ArgumentTypeError("label", label, "must be text", "Pass a short text, or leave it out")
    if not _is_text(label):
        raise ArgumentError("label", label, "must be text that UTF-8 can encode", "Pass a short text")
    return label


def checked_part(part: object, ask: Ask) -> tuple[str, str] | None:
    """(partition, part), where parts exist: under replace a pair can leave one part for another, and both change."""
    if part is None:
        return None
    if not isinstance(part, tuple) or len(part) != 2 or not all(_is_text(name) and name for name in part):
        raise ArgumentError(
            "part", part, "must be the names of a partition and of a part", 'Pass ("country", "FR"), for example'
        )
    if ask.relation not in ("add_remove", PEOPLE, INDIVIDUALS):
        raise ArgumentError(
            "part", part, "can be used only with add_remove",
            f"Plan with {arg('relation', 'add_remove')}, or leave {arg('part')} "
            "out", because="a replaced pair may change its part",
        )  # fmt: skip
    return part[0], part[1]


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and len(value.encode()) < 2**16
    except UnicodeEncodeError:
        return False
