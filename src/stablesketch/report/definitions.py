"""The question as it was before any data were read: the formula of the statistic, and the terms."""

from __future__ import annotations

from ..bounding.budget import total
from ..plan import Plan
from ..plan.mechanism import needs_promise
from ..release.shares import Share
from ..text.spoken import at_most


def terms_in_words(plan: Plan, shares: tuple[Share, ...], *, person: bool, pair: str = "row") -> list[tuple[str, str]]:
    """The question, as a table of names and texts; `person` says that people are protected, `pair` is the word for a
    pair."""
    privacy, (epsilon, delta) = plan.privacy, most_allowed(plan, shares)
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
        ("privacy", f"at most ε = {at_most(epsilon)}, δ = {at_most(delta, 3)} in all"),
        ("relation", f"{privacy.relation}: {change(plan, person=person, pair=pair)}"),
        *([("unit", "key: every key is one person, and occurs once with its total")] if keys else []),
        *promised,
        ("totals of keys" if keys else "values", most if privacy.max_value > 1 else f"every {privacy.unit} counts 1"),
    ]


def most_allowed(plan: Plan, shares: tuple[Share, ...]) -> tuple[float, float]:
    """The largest (ε, δ) allowed: what the plan of the numbers was asked for, plus everything else that was paid."""
    paid = [(plan.privacy.epsilon, plan.privacy.delta)]
    paid += [(share.epsilon, share.delta) for share in shares if share.purpose != "values"]
    epsilon, delta = (total([(part, 1) for part in parts]) for parts in zip(*paid, strict=True))
    return epsilon, delta


def change(plan: Plan, *, person: bool, pair: str = "row") -> str:
    """The difference between neighbours, in words."""
    privacy = plan.privacy
    c = privacy.pairs_per_person
    if person:
        used = f"1 {pair} is" if c == 1 else f"{c:,} {pair}s are"
        return f"1 person added or removed, with all that they did (at most {used} used)"
    units = f"1 {privacy.unit}" if c == 1 else f"up to {c:,} {privacy.unit}s of one person"
    return f"{units} replaced by others" if privacy.relation == "replace" else f"{units} added or removed"
