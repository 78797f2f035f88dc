"""The answer to a question: releases, how their price was divided, and notes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ..bounding.groups import Name, are_numbers
from ..bounding.persons import used_of_each
from ..errors import ArgumentError, Shown
from ..files.durable import write_named
from ..plan import Plan
from ..plan.exact_instead import exact_instead
from ..plan.in_words import of_one_person
from ..plan.mechanism import mechanism_of
from ..privacy import Privacy
from ..statistic import Subject
from ..statistic.published import Point, Release, headings
from ..text.spoken import price_in_words
from ..text.visible import visible
from ..text.wording import in_python
from .decide import Decision
from .little_known import little_known
from .question import Question
from .shares import Share
from .tabular import Column, Tabular, names_of_groups, parts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..ledger import Ledger


@dataclass(frozen=True)
class GroupRelease:
    """The private number of one group. The ε and δ of its release are those of the whole table."""

    group: Name
    release: Release

    @property
    def name(self) -> str:
        """The name of the group to show to people, with invisible characters written out; `group` is exact."""
        return visible(", ".join(self.group))

    def recorded(self, number: int) -> GroupRelease:
        """Like `Release.recorded`."""
        return replace(self, release=self.release.recorded(number))

    def __str__(self) -> str:
        return f"{self.name}: {self.release}"

    def to_json(self) -> str:
        """The release as versioned JSON, with the name of its group: a text, or a list of texts."""
        return json.dumps(self.content(), sort_keys=True)

    def content(self) -> dict[str, Any]:
        """The content of the JSON, as a dictionary."""
        name = self.group[0] if len(self.group) == 1 else list(self.group)
        return {"group": name, **self.release.content()}


def largest_first(groups: Sequence[GroupRelease]) -> list[GroupRelease]:
    """Sorts groups that have no order of their own: the largest value first."""
    return sorted(groups, key=lambda one: (-one.release.value, one.group))


@dataclass(frozen=True, repr=False)
class Outcome(Tabular):
    """The result of `ss.release`: one number, or one for each group. All of it is publishable.

    A single number has `value`, `low`, `high` and all other attributes of a `Release`. A table of groups is a sequence
    of `GroupRelease`; `outcome["FR"]` is the `Release` of a group, or `outcome["FR", "2026"]` if names have two parts.
    It prints as a table. As a frame, a profile has one row for each order. If a group column has the same name as
    another column, it is prefixed with `group_`.

    `skipped` is the number of invalid rows, if that is public: for pairs, under replace. `question` is what was asked,
    or None for stored sketches. `decision` was made before anything was released; what an outcome says of its plan,
    price and privacy is read from it.
    """

    decision: Decision
    releases: list[Release] | list[GroupRelease]
    skipped: int | None = None
    question: Question | None = None

    @property
    def plan(self) -> Plan:
        """The plan of the number, or of each group."""
        return self.decision.plan

    @property
    def privacy(self) -> Privacy:
        """The privacy that was asked for, of everything together. The plan of a group has only the group's own: other
        neighbours, and the ε that is left for it.
        """
        return self.decision.privacy

    @property
    def price(self) -> tuple[float, float]:
        """The (ε, δ) of everything, even if no group is shown."""
        return self.decision.terms.epsilon, self.decision.terms.delta

    @property
    def shares(self) -> tuple[Share, ...]:
        """How the price was divided."""
        return self.decision.shares

    @property
    def grouped(self) -> bool:
        """Whether there is a number for each group."""
        return self.decision.table is not None

    @property
    def clipped_to(self) -> int | None:
        """The value that larger ones were clipped to; None if none were."""
        return self.privacy.max_value if self.question is not None and self.question.clips else None

    @property
    def planned_error(self) -> str:
        """The error that was planned, in words; for a table, that of each group."""
        said = mechanism_of(self.plan).error_in_words(self.plan)
        return f"for each group: {said}" if self.grouped else said

    @property
    def release(self) -> Release:
        """The single release."""
        only = self.releases[0] if len(self.releases) == 1 else None
        if not isinstance(only, Release):
            raise ArgumentError(
                "release", Shown(f"{len(self.releases):,} groups"), "must be read by group",
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

    if not TYPE_CHECKING:  # type checkers find the other attributes in `release`

        def __getattr__(self, name: str) -> Any:
            """The other attributes of the single release: its ε, its record in the ledger, the points of a profile."""
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
        """The release of the group with this name, or at this place, as in a list."""
        if isinstance(group, int):
            return self.releases[group]
        if not self.grouped:
            raise ArgumentError(
                "group", group, "cannot be looked up", "Read its value", because="this is one number without groups"
            )
        found = self._groups()
        name = (group,) if isinstance(group, str) else group
        if name not in found:
            shown = [one.name for one in found.values()]
            names = (
                f"The groups are: {', '.join(shown[:10])}{', ...' * (len(shown) > 10)}" if shown else "None is shown"
            )
            raise ArgumentError("group", group, "must be one of the groups", names)
        return found[name].release

    @property
    def in_order(self) -> bool:
        """Whether groups have a natural order, which pictures keep: they were listed, or are numbers."""
        return (self.question is not None and self.question.groups is not None) or are_numbers(self._groups())

    def _groups(self) -> dict[Name, GroupRelease]:
        return {one.group: one for one in self.releases if isinstance(one, GroupRelease)}

    @property
    def title(self) -> str:
        """The statistic, its price and who is protected, or a note that no group is shown."""
        if self.releases:
            first = self._numbers()[0][1]
            whom = "one person" if first.person else of_one_person(first.pairs_per_person, self.privacy.unit)
            return f"{first.statistic}  ({price_in_words(first.epsilon, first.delta)}; protects any {whom})"
        none = "no group is large enough for its name to be shown"
        return f"{self.plan.statistic}: {none}  ({price_in_words(*self.price)})"

    @property
    def notes(self) -> list[str]:
        """How many rows of each person are used, about which groups nothing is known, whether groups can be compared,
        and whether the exact mechanism would be more accurate; all from the plan and the released numbers alone.
        """
        if self.question is None:
            return []
        most, groups = self.privacy.pairs_per_person, self.question.groups_per_person
        used = used_of_each(most, groups if self.grouped else None, self.question.pair)
        people = f"{used} Privacy(pairs_per_person=N) uses up to N, with N times the noise."
        said = [
            people if self.question.has_people else "",
            self.little_known,
            self.question.caution,
            in_python(exact_instead(self.plan)),
        ]
        return list(filter(None, said))

    @property
    def little_known(self) -> str:
        """Which released numbers say nothing useful, and why; empty if all do. It follows from their limits alone."""
        return little_known(self.plan.statistic, self._numbers())

    def _numbers(self) -> list[tuple[Name, Release]]:
        return [(one.group, one.release) if isinstance(one, GroupRelease) else ((), one) for one in self.releases]

    def columns(self) -> dict[str, Column]:
        """Group names, the order of a profile, the value with its limits, and the terms."""
        rows = [
            (name, release, point)
            for name, release in self._numbers()
            for point in release.points or (Point(release.p, release.value, release.low, release.high),)
        ]
        shown = headings([point for *_, point in rows], rows[0][1].confidence if rows else 0.95)
        if not self.plan.statistic.several:
            del shown["order"]
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
        """The release as versioned JSON; for groups a list, each with the name of its group."""
        return to_json(self.releases, grouped=self.grouped)

    def subject(self, noun: str = "") -> Subject:
        """What the stream contains, as far as the question says; `noun` is the plural noun for keys."""
        return Subject(noun=noun or None, pair="pair") if self.question is None else self.question.subject(noun)

    def plot(self, path: str | os.PathLike[str] | None = None, *, noun: str = "") -> Figure:
        """A matplotlib figure of it. With `path`, it is also written to a new .png, .svg or .html file.

        `noun` is the plural noun for keys, such as apps, for the title.
        """
        from ..pictures import release_bytes, release_picture

        if not self.releases:
            raise ArgumentError(
                "outcome", Shown("0 groups"), "must have at least one group to be drawn",
                "Draw an outcome that shows a group",
            )  # fmt: skip
        if path is not None:
            write_named("path", Path(path), release_bytes(self, Path(path), noun), public=True)
        return release_picture(self.releases, self.in_order, self.plan.statistic, self.subject(noun))

    def report(
        self, path: str | os.PathLike[str], *, ledger: Ledger | None = None, dataset: str = "", period: str = "",
        label: str = "", noun: str = "",
    ) -> None:  # fmt: skip
        """Writes a page that explains the release to any reader, as a new .html file; with the budget of `ledger`, if
        given.

        It names the data, their period and the release as you do. `noun` is the plural noun for keys, such as apps.
        """
        from ..page import check_page_path
        from ..report import Context, Named, report_page

        check_page_path(Path(path))
        context = Context.of(self, ledger, Named(dataset, period, label, noun))
        write_named("path", Path(path), report_page(self, context).encode(), public=True)

    def registry(
        self, path: str | os.PathLike[str], *, ledger: Ledger | None = None, dataset: str = "", period: str = "",
        label: str = "",
    ) -> None:  # fmt: skip
        """Writes an entry for the OpenDP deployments registry, as a new .yaml file, without the released value."""
        from ..report import Context, Named, check_registry_path, registry_entry

        check_registry_path(Path(path))
        context = Context.of(self, ledger, Named(dataset, period, label))
        write_named("path", Path(path), registry_entry(self, context).encode(), public=True)


def to_json(releases: list[Any], *, grouped: bool) -> str:
    """The release, or a list with one for each group."""
    texts = [one.to_json() for one in releases]
    return f"[{', '.join(texts)}]" if grouped else texts[0]
