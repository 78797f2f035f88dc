"""A plan with other numbers in it, for mechanisms that finish a plan and for views of it. It is not for users."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from .plan import Plan


def altered(plan: Plan, **changes: Any) -> Plan:
    """The plan with new values for the named fields, its own or those of its components.

    Nothing is checked: whoever calls it knows that the new plan holds. `Plan.again` plans again.
    """
    wholes: dict[str, Any] = {"cost": plan.cost, "accuracy": plan.accuracy, "numbers": plan.numbers}
    own = {name: {each.name for each in fields(whole)} for name, whole in wholes.items()}
    own["asked"] = {"statistic", "privacy", "deletes"}
    made: dict[str, Any] = {}
    for name, names in own.items():
        mine = {each: changes.pop(each) for each in names & changes.keys()}
        if mine:
            made[name] = replace(getattr(plan, name), **mine)
    return replace(plan, **made, **changes)
