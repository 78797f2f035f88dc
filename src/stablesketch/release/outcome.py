"""What answers a question: releases, what of their price went where, and what else may be said of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..bounding.groups import Name
from ..plan import Plan
from ..published import Release
from ..spoken import at_most
from ..visible import visible


@dataclass(frozen=True)
class Share:
    """ε and δ of one purpose: to find max_value, to choose the names of groups, or for the numbers."""

    purpose: Literal["max_value", "names", "values"]
    epsilon: float
    delta: float


def in_words(shares: tuple[Share, ...], *, grouped: bool) -> str:
    """Each with its ε and δ.

    >>> in_words((Share("max_value", 0.1, 0.0), Share("values", 0.9, 1e-9)), grouped=False)
    'ε = 0.1 to find max_value; ε = 0.9, δ = 1e-09 for the number itself'
    """
    values = "for the numbers of the groups" if grouped else "for the number itself"
    purposes = {"max_value": "to find max_value", "names": "to choose the names of the groups", "values": values}
    return "; ".join(
        f"ε = {at_most(one.epsilon)}{f', δ = {at_most(one.delta, 3)}' if one.delta else ''} {purposes[one.purpose]}"
        for one in shares
    )


@dataclass(frozen=True)
class GroupRelease:
    """The private number of one group. ε and δ of its release are those of the whole table it is part of."""

    group: Name
    release: Release

    @property
    def name(self) -> str:
        """The name of the group for people, with what is not seen written out; `group` is exact."""
        return visible(", ".join(self.group))

    def __str__(self) -> str:
        return f"{self.name}: {self.release}"

    def to_json(self) -> str:
        """The release as versioned JSON, with the name of its group: a text, or a list of them."""
        name = self.group[0] if len(self.group) == 1 else list(self.group)
        return json.dumps({"group": name, **json.loads(self.release.to_json())}, sort_keys=True)


@dataclass(frozen=True)
class Outcome:
    """What was released, by which plan; `skipped` rows only where their number is public: of pairs, under replace.

    `price` is (ε, δ) of all of it, `shares` what of that went where; both are known also if no group is shown.
    """

    plan: Plan
    releases: list[Release] | list[GroupRelease]
    grouped: bool
    clipped_to: int | None = None
    skipped: int | None = None
    price: tuple[float, float] | None = None
    shares: tuple[Share, ...] = ()


def recorded(releases: list[Any], number: int) -> list[Any]:
    """The same with the number of their record in a ledger, which the ledger gives as it takes them."""
    return [
        replace(one, release=replace(one.release, record=number))
        if isinstance(one, GroupRelease)
        else replace(one, record=number)
        for one in releases
    ]


def to_json(releases: list[Any], *, grouped: bool) -> str:
    """The release, or a list with one for each group."""
    texts = [one.to_json() for one in releases]
    return f"[{', '.join(texts)}]" if grouped else texts[0]
