"""Checks that every engine makes of a plan whose collectors are stored, merged and released elsewhere."""

from __future__ import annotations

import secrets

from ..errors import HIDDEN, ArgumentError
from ..plan import Plan
from ..text.wording import arg, either


def named_shard(shard: str | None) -> str:
    """The name of the shard, or a random one."""
    if shard is not None and (not isinstance(shard, str) or not 0 < len(shard) < 1000):
        raise ArgumentError("shard", shard, "must be the name of a shard", 'Pass a text such as "2026-11-15"')
    return shard or f"job-{secrets.token_hex(8)}"


def refuse_whole_keys(plan: Plan) -> None:
    """Refuses plans about whole keys: part of the data cannot know what its keys have in the rest."""
    if plan.privacy.unit == "key":
        raise ArgumentError(
            "plan", HIDDEN, "cannot be used for part of the data",
            either(
                "Release from all data at once, or add them up by key and update a collector with the totals: every "
                "key must occur once",
                "Release from all data at once: stablesketch release",
            ),
            because="it protects whole keys, which may have more pairs in the rest",
        )  # fmt: skip


def largest_value(plan: Plan, clip: bool) -> int | None:
    """The largest value that a row may have; None if larger ones are clipped, or if values count individuals."""
    individuals = plan.privacy.unit == "individual"
    if clip and individuals:
        raise ArgumentError(
            "clip", True, f"cannot be used with {arg('unit', 'individual')}", "Leave it out",
            because="a value is then a number of pairs",
        )  # fmt: skip
    return None if clip or individuals else plan.privacy.max_value
