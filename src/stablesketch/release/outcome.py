"""What answers a question: releases, what of their price went where, and what else may be said of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..bounding.groups import Name, are_numbers
from ..bounding.persons import used_of_each
from ..durable import write_named
from ..errors import ArgumentError
from ..plan import Plan
from ..plan.exact_instead import exact_instead
from ..published import Point, Release
from ..spoken import at_most
from ..visible import visible
from ..wording import in_python
from .question import Question
from .tabular import Column, Tabular, names_of_groups, parts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..ledger import Ledger


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
    composed = {share.purpose for share in shares} == {"names", "values"}
    values = "for the numbers of the groups" if grouped else "for the number itself"
    purposes = {"max_value": "to find max_value", "names": "to choose the names of the groups", "values": values}
    each = "; ".join(
        f"ε = {at_most(one.epsilon)}{f', δ = {at_most(one.delta, 3)}' if one.delta else ''} {purposes[one.purpose]}"
        for one in shares
    )
    return f"{each}; together that costs less than the sum" if composed else each


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


def largest_first(groups: Sequence[GroupRelease]) -> list[GroupRelease]:
    """The order of groups that have none of their own."""
    return sorted(groups, key=lambda one: (-one.release.value, one.group))


@dataclass(frozen=True, repr=False)
class Outcome(Tabular):
    """What `ss.release` gives: one number, or one for each group; everything in it may be published.

    Of one number `value`, `low`, `high` and all else that a `Release` has are at hand. Of groups it is a sequence of
    `GroupRelease`, and `outcome["FR"]` is the `Release` of a group, `outcome["FR", "2026"]` where names have two parts.
    It prints as a table. In frames a profile has one row for each order, and a column of groups that is called as one
    of the other columns has `group_` before its name.

    `price` is (ε, δ) of all of it, `shares` what of that went where; both are known also if no group is shown.
    `skipped` is the number of invalid rows, where that is public: of pairs, under replace. `question` is what was
    asked, None of stored sketches.
    """

    plan: Plan
    releases: list[Release] | list[GroupRelease]
    grouped: bool
    clipped_to: int | None = None
    skipped: int | None = None
    price: tuple[float, float] | None = None
    shares: tuple[Share, ...] = ()
    question: Question | None = None

    @property
    def release(self) -> Release:
        """The one number, with all that is said of it."""
        only = self.releases[0] if len(self.releases) == 1 else None
        if not isinstance(only, Release):
            raise ArgumentError(
                "release", f"{len(self.releases):,} groups", "there is one number for each group, not one in all",
                'Name the group, outcome["FR"].value, or use to_pandas(), to_polars() or to_arrow()',
            )  # fmt: skip
        return only

    @property
    def value(self) -> float:
        """The number itself."""
        return self.release.value

    @property
    def low(self) -> float:
        """The lower end of its interval."""
        return self.release.low

    @property
    def high(self) -> float:
        """The upper end of its interval."""
        return self.release.high

    if not TYPE_CHECKING:  # which knows `release` for what is used more seldom

        def __getattr__(self, name: str) -> Any:
            """What else the one number says of itself: its ε, its record in the ledger, the points of a profile."""
            if name in Release.__dataclass_fields__:
                return getattr(self.release, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self.releases)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.releases)

    def __contains__(self, group: object) -> bool:
        return parts_of(group) in self._groups()

    @overload
    def __getitem__(self, group: str | Name) -> Release: ...
    @overload
    def __getitem__(self, group: int) -> Any: ...
    def __getitem__(self, group: str | Name | int) -> Any:
        """The release of the group of this name; or by its place, as in a list."""
        if isinstance(group, int):
            return self.releases[group]
        if not self.grouped:
            raise ArgumentError("group", group, "this is one number, and has no groups", "Read its value")
        found = self._groups()
        name = (group,) if isinstance(group, str) else group
        if name not in found:
            shown = [one.name for one in found.values()]
            names = f"There are: {', '.join(shown[:10])}{', ...' * (len(shown) > 10)}" if shown else "None is shown"
            raise ArgumentError("group", group, "there is no such group here", names)
        return found[name].release

    @property
    def in_order(self) -> bool:
        """Whether groups have an order of their own, which pictures keep: they were listed, or are numbers."""
        return (self.question is not None and self.question.groups is not None) or are_numbers(self._groups())

    def _groups(self) -> dict[Name, GroupRelease]:
        return {one.group: one for one in self.releases if isinstance(one, GroupRelease)}

    @property
    def title(self) -> str:
        """The statistic, its price, and who is protected; and that no group is shown, where none is."""
        if self.releases:
            first = self._numbers()[0][1]
            paid = f"ε = {at_most(first.epsilon)}, δ = {at_most(first.delta, 3)}"
            return f"{first.statistic}  ({paid}; protects {self._whom(first)})"
        epsilon, delta = self.price or (self.plan.epsilon, self.plan.delta)
        none = "no group is large enough for its name to be shown"
        return f"{self.plan.statistic}: {none}  (ε = {at_most(epsilon)}, δ = {at_most(delta, 3)})"

    def _whom(self, release: Release) -> str:
        """Who is protected, in a word."""
        most, unit = release.pairs_per_person, self.plan.privacy.unit
        whom = "person" if release.person else unit
        return f"any one {whom}" if release.person or most == 1 else f"any {most:,} {unit}s of one person"

    @property
    def notes(self) -> list[str]:
        """What is used of each person, and when the exact mechanism would be more accurate: from the plan alone."""
        if self.question is None:
            return []
        most, groups = self.question.privacy.pairs_per_person, self.question.groups_per_person
        used = used_of_each(most, groups if self.grouped else None)
        people = f"{used} Privacy(pairs_per_person=N) uses up to N, and takes N times the noise."
        return list(filter(None, [people if self.question.of_people else "", in_python(exact_instead(self.plan))]))

    def _numbers(self) -> list[tuple[Name, Release]]:
        return [(one.group, one.release) if isinstance(one, GroupRelease) else ((), one) for one in self.releases]

    def columns(self) -> dict[str, Column]:
        """Groups, the order of a profile, value and limits, and on what terms."""
        rows = [
            (name, release, point)
            for name, release in self._numbers()
            for point in release.points or (Point(release.p, release.value, release.low, release.high),)
        ]
        banded = bool(rows) and all(point.band_low is not None for *_, point in rows)
        sure = f"{100 * (rows[0][1].confidence if rows else 0.95):g}%"
        limits = {"value": "value", "low": f"{sure} from", "high": "to"}
        shown = {**({"order": "order"} if self.plan.statistic.several else {}), **limits}
        if banded:
            shown |= {"band_low": f"{sure} at once from", "band_high": "to"}
        found = {name: Column(float, [getattr(one[2], name) for one in rows], head) for name, head in shown.items()}
        for name, kind in (("confidence", float), ("epsilon", float), ("delta", float), ("statistic", str)):
            found[name] = Column(kind, [getattr(release, name) for _, release, _ in rows], None)
        by = names_of_groups(self._by(), list(found))
        groups = {name: Column(str, [group[i] for group, *_ in rows], name) for i, name in enumerate(by)}
        return {**groups, **found}

    def _by(self) -> Sequence[str]:
        if self.question is not None:
            return self.question.columns.by
        parts = len(self._numbers()[0][0]) if self.releases else 0
        return ["group"] if parts == 1 else [f"group_{i + 1}" for i in range(parts)]

    def to_json(self) -> str:
        """The release as versioned JSON; of groups a list, each with the name of its group."""
        return to_json(self.releases, grouped=self.grouped)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A picture of it: a figure of matplotlib; with `path`, also stored there: a new .png, .svg or .html file."""
        from ..pictures import release_bytes, release_picture

        if not self.releases:
            raise ArgumentError("outcome", "0 groups", "there is nothing to draw", "Draw it where a group is shown")
        if path is not None:
            write_named("path", Path(path), release_bytes(self, Path(path)), public=True)
        return release_picture(self.releases, self.in_order)

    def report(
        self, path: str | os.PathLike[str], *, ledger: Ledger | None = None, dataset: str = "", period: str = "",
        label: str = "", noun: str = "",
    ) -> None:  # fmt: skip
        """A page that explains it to anybody, as a new .html file; with the ledger's budget, if that is given.

        It calls the data, the time they are of and the release what you do; `noun` is the plural of the keys, as apps.
        """
        from ..page import check_page_path
        from ..report import Context, Named, report_page

        check_page_path(Path(path))
        context = Context.of(self.question, ledger, Named(dataset, period, label, noun))
        write_named("path", Path(path), report_page(self, context).encode(), public=True)

    def registry(
        self, path: str | os.PathLike[str], *, ledger: Ledger | None = None, dataset: str = "", period: str = "",
        label: str = "",
    ) -> None:  # fmt: skip
        """Its description in the fields of the OpenDP deployments registry, as a new .yaml file. No value is in it."""
        from ..report import Context, Named, check_registry_path, registry_entry

        check_registry_path(Path(path))
        context = Context.of(self.question, ledger, Named(dataset, period, label))
        write_named("path", Path(path), registry_entry(self, context).encode(), public=True)


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
