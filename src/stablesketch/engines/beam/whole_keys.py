"""Whole keys on Beam: every key once, with its total. bounding/whole_keys.py says why."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...bounding.in_one_pass import text_of
from ...reading.columns import total_above
from ...sketch.columns import MAX_WEIGHT
from .elements import NAME, Pair, kinds


def by_key(pair: Pair) -> Any:
    """Keys a pair by the sort and the text of its key, which have the same bytes on every worker."""
    parts = pair.key if isinstance(pair.key, tuple) else (pair.key,)
    return json.dumps([[*kinds([part]), text_of(part)] for part in parts]), (pair.key, pair.value)


def total(pairs: Iterable[Any]) -> Any:
    """(key, total) of pairs and totals of one key."""
    key, added = None, 0
    for key, value in pairs:  # noqa: B007  # the last one: all are the same
        added += value
    return key, added


class WholeKey:
    """A key with its total → a pair for `CollectFn`; a total above the promised maximum is refused."""

    def __init__(self, largest: int | None) -> None:
        self._largest = largest

    def __call__(self, element: Any) -> Any:
        _, (key, added) = element
        if self._largest is not None and added > self._largest:
            raise total_above(NAME, self._largest)
        return (), ((), key, min(added, MAX_WEIGHT))
