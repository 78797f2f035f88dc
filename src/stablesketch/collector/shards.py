"""The names of the shards in a collector, so that no data count twice.

Splitting data into groups gives one shard per group: `46/{"day": "mon"}` has the rows of shard "46" whose day is "mon".
A split by `day` puts no row into two groups, so its shards add up. A split by other columns, or the whole shard, has
the same rows again: a release would count each twice, and cost more than its ε. Merging these is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from ..errors import ShardMergedTwice
from ..text.wording import arg

Cut = tuple[str, ...] | None  # the columns; () if the data are whole; None for old names, which do not state them

_GROUP = re.compile(r"/(?=[{[])")


def of_group(shard: str, by: Sequence[str], name: Sequence[str]) -> str:
    """The name for the rows of a shard that belong to one group."""
    return f"{shard}/{json.dumps(dict(zip(by, name, strict=True)))}"


class Shards:
    """Names, and for each shard the columns it was split by."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)
        self._cuts = dict(map(_parsed, self.names))

    def check_apart(self, others: Shards) -> None:
        """Raises:
        ShardMergedTwice: both have the same data, or may have.
        """
        again = sorted(self.names & others.names)
        if again:
            raise ShardMergedTwice(
                f"shard {again[0]!r} is already included, so its pairs would count twice. Merge each shard once."
            )
        for shard, cut in others._cuts.items():
            if shard in self._cuts and (cut is None or cut != self._cuts[shard]):
                raise ShardMergedTwice(
                    f"shard {shard!r} is already included, collected {_said(self._cuts[shard])}. If it is merged "
                    f"again, collected {_said(cut)}, its pairs would count twice. Merge only collectors that were "
                    f"split by the same columns ({arg('by')}), or collect it again."
                )

    def add(self, others: Shards) -> None:
        """Adds names that were checked."""
        self.names |= others.names
        self._cuts |= others._cuts


def _said(cut: Cut) -> str:
    if cut is None:
        return "by columns that its name does not state"
    return f"by {', '.join(map(repr, cut))}" if cut else "whole"


def _parsed(name: str) -> tuple[str, Cut]:
    """The shard of a name, and the columns it was split by: the inverse of `of_group`."""
    for found in _GROUP.finditer(name, 1) if name.endswith(("}", "]")) else ():
        try:
            group = json.loads(name[found.end() :])
        except (ValueError, RecursionError):
            continue
        parts = group.values() if isinstance(group, dict) else group
        if all(isinstance(part, str) for part in parts):  # otherwise not written by `of_group`
            return name[: found.start()], tuple(group) if isinstance(group, dict) else None
    return name, ()
