"""What was asked, as it stood before any data were read: the formula of every statistic in words, and the terms."""

from __future__ import annotations

from typing import cast

from ..bounding.budget import total
from ..plan import Plan
from ..plan.mechanism import needs_promise
from ..release.division import Share
from ..statistic import (
    HHI,
    Atkinson,
    Distinct,
    GeneralisedEntropy,
    Hill,
    Moment,
    Profile,
    Renyi,
    Shannon,
    Simpson,
    Statistic,
    Total,
    Tsallis,
)

__all__ = ["asked", "change", "defined"]


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
        ("statistic", f"{plan.statistic}: {defined(plan.statistic)}"),
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
    name = _whose(plan) if grouped else "privacy asked"
    if len(shares) < 2:
        return [(name, own)]
    spent = (total([(getattr(one, part), 1) for one in shares]) for part in ("epsilon", "delta"))
    return [
        ("privacy asked", "ε = {:.6g}, δ = {:.3g} in all".format(*spent)),
        (name if grouped else "of that for the number", own),
    ]


def _whose(plan: Plan) -> str:
    return "for each group" if needs_promise(plan) else "for all groups together"


def change(plan: Plan) -> str:
    """What tells neighbours apart."""
    privacy = plan.privacy
    c = privacy.pairs_per_person
    units = f"1 {privacy.unit}" if c == 1 else f"up to {c:,} {privacy.unit}s of one person"
    return f"{units} replaced by others" if privacy.relation == "replace" else f"{units} added or removed"


def defined(statistic: Statistic) -> str:
    """The formula, in words and signs that a page of text can hold."""
    if isinstance(statistic, Moment):
        return f"the sum over all keys of (total of the key)^{statistic.p:g}"
    if isinstance(statistic, Total):
        return "the sum of all values"
    if isinstance(statistic, Distinct):
        return "how many different keys there are, whatever their values"
    if isinstance(statistic, Shannon):
        return "minus the sum over all keys of s ln s, s being the share of the key in the total; in nats"
    if isinstance(statistic, Profile):
        return (
            "at each order q, (the sum over all keys of s^q)^(1/(1-q)), s being the share of the key in the total; at "
            "order 1 e^entropy"
        )
    if isinstance(statistic, Hill | Renyi | Tsallis):
        return _diversity(statistic)
    if isinstance(statistic, Simpson | HHI):
        return _concentration(statistic)
    q = statistic.p
    mean = f"the mean over all people of (total/mean total)^{q:g}"
    if isinstance(statistic, Atkinson):
        return f"1 - x^{1.0 / q:.4g}, x being {mean}"
    return f"(1 - x)/{cast(GeneralisedEntropy, statistic).p * (1.0 - q):.4g}, x being {mean}"


def _diversity(statistic: Hill | Renyi | Tsallis) -> str:
    q = statistic.order
    if q == 1.0:
        return "e^entropy, the entropy being that of Shannon" if isinstance(statistic, Hill) else defined(Shannon())
    if q == 0.0 and isinstance(statistic, Hill):
        return defined(Distinct())
    x = f"x being the sum over all keys of s^{q:g}, s the share of the key in the total"
    if isinstance(statistic, Hill):
        return f"x^{1.0 / (1.0 - q):.4g}, {x}"
    return f"(ln x)/{1.0 - q:.4g}, {x}" if isinstance(statistic, Renyi) else f"(x - 1)/{1.0 - q:.4g}, {x}"


def _concentration(statistic: Simpson | HHI) -> str:
    squares = "the sum over all keys of s^2, s being the share of the key in the total"
    if isinstance(statistic, HHI):
        return squares if statistic.scale == 1 else f"10,000 times {squares}"
    return {"index": squares, "gini": f"1 minus {squares}", "inverse": f"1 over {squares}"}[statistic.form]
