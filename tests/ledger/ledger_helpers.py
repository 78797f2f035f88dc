"""What several tests of ledgers do."""

from __future__ import annotations

import stablesketch as ss


def released(plan: ss.Plan, ledger: ss.Ledger | None, **how: object) -> ss.Release:
    collector = plan.open()
    collector.update(range(50))
    return collector.release(ledger=ledger, **how)  # type: ignore[arg-type]
