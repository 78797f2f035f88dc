"""Objects that were never finished can still be looked at: in a debugger, in a traceback."""

from __future__ import annotations

import pytest

import stablesketch as ss


@pytest.mark.parametrize("kind", [ss.Collector, ss.Sketch, ss.Ledger, ss.Secret, ss.Plan])
def test_a_half_built_object_has_a_repr(kind: type) -> None:
    assert kind.__name__ in repr(kind.__new__(kind))


def test_the_repr_of_a_plan_is_that_of_a_dataclass() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, 1000, relation="replace"), size=50, mechanism="bare")
    assert repr(plan).startswith("Plan(asked=Asked(statistic=Moment(p=0.5), privacy=Privacy(epsilon=1.0")
