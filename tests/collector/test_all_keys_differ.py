"""If every pair has its own key, a Hill number is N, its maximum: the limits still contain it."""

from __future__ import annotations

from typing import Any

import pytest

import stablesketch as ss


@pytest.mark.parametrize(
    ("order", "pairs", "how"),
    [
        (0.5, 100, {"mechanism": "exact"}),
        (0.5, 5, {"mechanism": "exact"}),
        (0.5, 60, {"size": 40}),
        (2, 60, {"size": 40}),
    ],
)
def test_limits_hold_it(order: float, pairs: int, how: dict[str, Any]) -> None:
    """95% are promised; of 120, fewer than 104 would hold it with probability below 1e-3. Secrets are fixed."""
    plan = ss.plan(ss.Hill(order), ss.Privacy(1.0, 1e-6), **how)
    held = 0
    for i in range(120):
        collector = plan.open(ss.Secret.from_bytes(i.to_bytes(4, "little") * 8))
        collector.update(range(pairs))
        release = collector.release()
        held += release.low <= pairs <= release.high
    assert held >= 104
