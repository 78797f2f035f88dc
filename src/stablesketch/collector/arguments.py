"""Checks the arguments of a collector: names of shards, and pairs added up by key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._native import first_outside
from ..errors import HIDDEN, ArgumentError, ArgumentTypeError, Shown
from ..numbers.checked import is_whole
from ..sketch.columns import MAX_WEIGHT
from ..text.visible import writable
from ..text.wording import arg, subject

if TYPE_CHECKING:
    from ..plan import Plan

_MOST_PAIRS = 2**63


def check_folded(plan: Plan, fingerprints: object, totals: object, pairs: object) -> None:
    """Refuses totals that no stream of this plan can have. Looks at every total once, and never at the keys."""
    keys = _column("fingerprints", fingerprints, np.uint64, "Pass the result of Collector.fingerprint(keys)")
    values = _column("totals", totals, np.int64, "Pass whole numbers, one for each fingerprint")
    if len(keys) != len(values):
        raise ArgumentError(
            "len(totals)", len(values), f"must be the number of fingerprints, {len(keys)}", "Pass one total for each"
        )
    if not is_whole(pairs):
        raise ArgumentTypeError("pairs", type(pairs), "must be an integer", "Pass the number of pairs")
    fewest = -_MOST_PAIRS if plan.deletes else -1
    if not fewest < pairs < _MOST_PAIRS:
        raise ArgumentError("pairs", HIDDEN, "must be between 0 and 2^63 - 1", "Pass the number of pairs")
    if plan.privacy.unit == "key":
        rows = int(np.sign(values).sum()) if plan.deletes else len(values)
        if pairs != rows:
            raise ArgumentError(
                "pairs", HIDDEN, "must be the number of rows",
                "Pass the number of rows",
                because=f"with {arg('unit', 'key')} every row is one pair",
            )  # fmt: skip
    rows_are_pairs = plan.privacy.unit == "key" or plan.sampled is not None
    highest = plan.privacy.max_value if rows_are_pairs else MAX_WEIGHT
    lowest = -highest if plan.deletes else 1
    outside = first_outside(values, lowest, highest)
    if outside >= 0:
        raise ArgumentError(
            f"totals[{outside}]", HIDDEN, f"must be between {lowest} and {highest}",
            f"Clip values to {subject('max_value')}" if rows_are_pairs else "Split a larger total over several rows",
        )  # fmt: skip


def _column(name: str, column: object, dtype: type[np.generic], way_out: str) -> NDArray[Any]:
    if not isinstance(column, np.ndarray) or column.dtype != dtype or column.ndim != 1:
        raise ArgumentTypeError(name, type(column), f"must be a one-dimensional array of {np.dtype(dtype)}", way_out)
    if not column.flags.c_contiguous:
        raise ArgumentError(
            name, Shown("a view with gaps"), "must be contiguous", "Pass np.ascontiguousarray(...) of it"
        )
    return column


def checked_shard(shard: str) -> str:
    """The name of one shard."""
    if not _is_name(shard):
        raise ArgumentError("shard", shard, "must be the name of a shard", 'Pass a short text such as "eu-1"')
    return shard


def checked_shards(shards: Iterable[str], shard: str | None) -> frozenset[str]:
    """The list of all shards, which must include the one to be opened."""
    names = [shards] if isinstance(shards, str) else list(shards)
    if isinstance(shards, str) or not names or not all(_is_name(name) for name in names):
        raise ArgumentError("shards", shards, "must be a list of shard names", 'Pass one such as ["eu-1", "us-1"]')
    if len(set(names)) < len(names):
        raise ArgumentError("shards", names, "must not repeat a name", "List each shard once")
    if shard is None or shard not in names:
        raise ArgumentError(
            "shard", shard, "must be one of the listed shards", "Pass the name this shard has in the list"
        )
    return frozenset(names)


def _is_name(shard: object) -> bool:
    """Whether it is text of 1 to 65535 bytes in UTF-8."""
    return isinstance(shard, str) and writable(shard) and 0 < len(shard.encode()) < 2**16
