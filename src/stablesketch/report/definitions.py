"""What was asked, as it stood before any data were read: the formula of the statistic, and the terms."""

from __future__ import annotations

from ..bounding.budget import total
from ..plan import Plan
from ..plan.mechanism import needs_promise
from ..release.outcome import Share


def asked(plan: Plan, grouped: bool, shares: tuple[Share, ...] = ()) -> list[tuple[str, str]]:
    """The question."""
    privacy = plan.privacy
    keys = privacy.unit == "key"
    number = (
        f"at least {privacy.pairs:,} {privacy.unit}s"
        if privacy.pairs
        else f"nothing about the number of {privacy.unit}s"
    )
    promised = [("promised", number)] if needs_promise(plan) else []
    most = f"whole numbers from 1 to {privacy.max_value:,}"
    return [
        ("statistic", f"{plan.statistic}: {plan.statistic.definition()}"),
        *_price(plan, grouped, shares),
        ("relation", f"{privacy.relation}: {change(plan)}"),
        *([("unit", "key: every key is one person, and comes once with its total")] if keys else []),
        *promised,
        ("totals of keys" if keys else "values", most if privacy.max_value > 1 else f"every {privacy.unit} counts 1"),
    ]


def _price(plan: Plan, grouped: bool, shares: tuple[Share, ...]) -> list[tuple[str, str]]:
    """The privacy asked for; where it was divided, all of it first."""
    privacy = plan.privacy
    own = f"ε = {privacy.epsilon:.6g}, δ = {privacy.delta:.3g}"
    each = "for each group" if needs_promise(plan) else "for all groups together"
    name = each if grouped else "privacy asked"
    if len(shares) < 2:
        return [(name, own)]
    spent = (total([(getattr(one, part), 1) for one in shares]) for part in ("epsilon", "delta"))
    return [
        ("privacy asked", "ε = {:.6g}, δ = {:.3g} in all".format(*spent)),
        (name if grouped else "of that for the number", own),
    ]


def change(plan: Plan) -> str:
    """What tells neighbours apart."""
    privacy = plan.privacy
    c = privacy.pairs_per_person
    units = f"1 {privacy.unit}" if c == 1 else f"up to {c:,} {privacy.unit}s of one person"
    return f"{units} replaced by others" if privacy.relation == "replace" else f"{units} added or removed"
