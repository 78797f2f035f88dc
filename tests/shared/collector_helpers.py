"""Small plans and filled collectors that the tests of collectors share."""

from __future__ import annotations

import stablesketch as ss

HALF = ss.Moment(0.5)
MECHANISMS = ("sketch", "exact", "bare")


def plan_for(mechanism: str, **changes: object) -> ss.Plan:
    """A small plan: 20 pairs or more of values up to 9, their number public, deletes allowed; "bare" has a floor."""
    usual = {"epsilon": 2.0, "delta": 1e-8, "pairs": 20, "max_value": 9, "relation": "replace"}
    wanted: dict[str, object] = {**usual, **changes}
    size = {} if mechanism == "exact" else {"size": 12}
    return ss.plan(HALF, ss.Privacy(**wanted), mechanism=mechanism, deletes=True, **size)  # type: ignore[arg-type]


def fresh() -> ss.Secret:
    """The same bits each time, and not yet spent: for what must come out the same twice."""
    return ss.Secret.from_bytes(bytes(range(32)))


def filled(plan: ss.Plan, secret: ss.Secret | None = None, shard: str | None = None) -> ss.Collector:
    """Twenty pairs, under a secret that has the same bits each time if none is given."""
    collector = plan.open(secret=fresh() if secret is None else secret, shard=shard)
    collector.update([f"key {i}" for i in range(20)], [1 + i % 9 for i in range(20)])
    return collector
