"""`Question`: everything that is asked of a release from data, checked before anything is read.

It is the only list of arguments, with the only defaults. `question` builds it from what users pass in Python, Spark and
Beam and on the command line; `What` and its subclasses are the arguments of each.
"""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypedDict, TypeVar, Unpack

from ..bounding import budget
from ..bounding.groups import Name
from ..bounding.max_value import AutoMaxValue
from ..errors import HIDDEN, ArgumentError, ArgumentTypeError, GroupsNotComparable, did_you_mean
from ..plan import Asked, MechanismName
from ..plan.asked import asked
from ..privacy import Privacy, Relation
from ..privacy.privacy import Unit
from ..reading.columns import Columns, OnBad, checked_columns
from ..reading.opened import Input
from ..reading.wide import long_columns
from ..statistic import Statistic, Subject, usual
from ..wording import arg, in_python

Function = TypeVar("Function", bound=Callable[..., Any])


class What(TypedDict, total=False):
    """The arguments of a question wherever the data are, besides statistic and privacy."""

    groups: Sequence[str | Sequence[str]] | None
    groups_per_person: int
    selection_share: float
    error: float | None
    size: int | Sequence[int] | None
    memory: str | int | None
    entries_per_key: int | Sequence[int] | None
    expected: float | None
    mechanism: MechanismName
    clip: bool
    on_bad: OnBad
    confidence: float


class WhatOfColumns(What, total=False):
    """The arguments for data that have columns and can be read more than once."""

    key: str | Sequence[str] | None
    value: str | None
    by: str | Sequence[str] | None
    person: str | None
    count_pairs: bool
    auto_max_value: AutoMaxValue | None


class WhatOfFiles(WhatOfColumns, total=False):
    """The arguments for files and databases, which must be opened."""

    sql: str | None
    format: str | None
    header: bool
    delimiter: str | None
    wide: bool


@dataclass(frozen=True)
class Question:
    """A question to data: what to release, from which columns, and how to read them.

    Usually made by `ss.question`, or from the arguments of `ss.release`, which explains them.
    """

    asked: Asked
    columns: Columns
    groups: Sequence[Name] | None = None
    groups_per_person: int = 1
    selection_share: float = 0.1
    count_pairs: bool = False
    clip: bool = False
    auto_max_value: AutoMaxValue | None = None
    on_bad: OnBad = "error"
    confidence: float = 0.95
    input: Input = field(default_factory=Input)

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise ArgumentError("confidence", self.confidence, "must be between 0 and 1", "Pass 0.95, for example")
        if self.on_bad not in ("error", "skip"):
            raise ArgumentError("on_bad", self.on_bad, "must be 'error' or 'skip'", "Choose one of them")
        if self.asked.sampling is not None:
            raise ArgumentError(
                "sampling", self.asked.sampling.rate, "cannot be used when releasing from data",
                "Leave it out, or collect with Plan.open and release that",
            )  # fmt: skip
        object.__setattr__(self, "columns", self.columns.under(self.privacy.relation))
        self._check_people()
        self._check_values()
        self._check_persons()
        self._check_groups()

    def _check_people(self) -> None:
        """Inequality is about people, one for each key; reports everything that does not fit at once."""
        if not self.statistic.of_people:
            return
        privacy, columns = self.privacy, self.columns
        pass_ = [
            arg(name, value)
            for name, value, given in (("unit", "key", privacy.unit), ("relation", "replace", privacy.relation))
            if given != value
        ]
        groups = self.groups_per_person != 1
        given = (("person", columns.person), ("by", columns.by), ("groups", self.groups), ("groups_per_person", groups))
        leave_out = [arg(name) for name, there in given if there]
        ways = [f"Pass {' and '.join(pass_)}"] if pass_ else []
        ways += [f"{'leave' if ways else 'Leave'} out {' and '.join(leave_out)}"] if leave_out else []
        if ways:
            raise ArgumentError(
                "statistic", self.statistic.name,
                "must be asked with one person for each key and a public number of people",
                f"{' and '.join(ways)}. Then {arg('max_value')} is the largest total of a key",
            )  # fmt: skip

    def _check_values(self) -> None:
        if self.columns.value is None and self.privacy.max_value > 1 and self.privacy.unit == "pair":
            raise ArgumentError(
                "max_value", self.privacy.max_value, "must be 1 without a column of values",
                f"Name the column ({arg('value')}), or pass {arg('max_value', 1)}",
            )  # fmt: skip
        if self.clips and self.privacy.unit == "individual":
            raise ArgumentError(
                "clip" if self.clip else "auto_max_value", True,
                f"cannot be used with {arg('unit', 'individual')}", f"Leave it out, or pass {arg('unit', 'pair')}",
                because="a value is then a number of pairs",
            )  # fmt: skip
        if self.columns.value is None and self.clips and self.privacy.unit == "pair":
            raise ArgumentError(
                "value", None, "must name the column of values to clip",
                f"Pass {arg('value')}, or leave out {arg('clip' if self.clip else 'auto_max_value')}",
            )  # fmt: skip

    def _check_persons(self) -> None:
        privacy = self.privacy
        if self.columns.person is not None and privacy.relation != "add_remove":
            raise ArgumentError(
                "relation", privacy.relation,
                f"must be 'add_remove' with {arg('person')}",
                f"Pass {arg('relation', 'add_remove')}, or leave out "
                f"{arg('person')}", because="limiting people makes the number of pairs private",
            )  # fmt: skip
        if self.count_pairs and privacy.relation != "replace":
            raise ArgumentError(
                "count_pairs", True, "cannot be used with add_remove",
                f"Leave out {arg('count_pairs')}, or pass "
                f"{arg('relation', 'replace')}", because="then the number of pairs is private",
            )  # fmt: skip
        if self.columns.person is not None and privacy.unit == "key":
            raise ArgumentError(
                "person",
                self.columns.person,
                f"cannot be used with {arg('unit', 'key')}",
                f"Leave out {arg('person')}, or pass {arg('unit', 'pair')}",
                because="then every key is a person",
            )
        if self.columns.person is not None and privacy.unit == "individual":
            raise ArgumentError(
                "person", self.columns.person, f"cannot be used with {arg('unit', 'individual')}",
                f"Leave out {arg('person')}, or pass {arg('unit', 'pair')}",
                because="then one individual is protected, not a person",
            )  # fmt: skip
        if not 1 <= self.groups_per_person <= 2**31:
            raise ArgumentError("groups_per_person", self.groups_per_person, "must be at least 1", "Pass 1, or a few")
        if self.columns.person is None and self.groups_per_person != 1:
            raise ArgumentError(
                "groups_per_person", self.groups_per_person, "needs a column of people",
                f"Name it ({arg('person')}), or leave out {arg('groups_per_person')}",
            )  # fmt: skip

    def _check_groups(self) -> None:
        if not self.columns.by:
            if self.groups is not None:
                raise ArgumentError(
                    "groups",
                    HIDDEN,
                    "needs a column of groups",
                    f"Name it ({arg('by')}), or leave out {arg('groups')}",
                )
            return
        if self.count_pairs or (self.privacy.pairs and self.groups is None and self.bare):
            raise ArgumentError(
                "pairs", self.privacy.pairs,
                "must be 0 when the names of the groups are private",
                f"Pass {arg('pairs', 0)}, or list the groups ({arg('groups')}), each of which has that many",
                because="then their sizes are private too",
            )  # fmt: skip
        if self.columns.person is None and self.privacy.pairs_per_person > 1:
            raise ArgumentError(
                "pairs_per_person", self.privacy.pairs_per_person,
                f"must be 1 without {arg('person')}",
                f"Name the column of people ({arg('person')}), so that each person is limited to some "
                "groups, or pass "
                f"{arg('pairs_per_person', 1)}", because="the pairs of one person could be in that many groups",
            )  # fmt: skip
        if self.privacy.unit == "key":
            # A pair is in one group; the proof at the head of bounding/groups.py knows no bound for a key.
            raise ArgumentError(
                "by", ", ".join(self.columns.by),
                f"cannot be used with {arg('unit', 'key')}",
                f"Leave out {arg('by')} and release each group from its own rows (their costs add "
                f"up), or pass {arg('unit', 'pair')}", because="a key can be in every group",
            )  # fmt: skip
        budget.checked_share("selection_share", self.selection_share)
        if self.groups is not None:
            if not self.groups:
                raise ArgumentError("groups", [], "must not be empty", "List the public names")
            for name in self.groups:
                if len(name) != len(self.columns.by):
                    raise ArgumentError(
                        "groups", name, f"must be names of {len(self.columns.by)} part(s)", "Correct the list"
                    )
            if len(set(self.groups)) < len(self.groups):
                (repeated, _), *_ = Counter(self.groups).most_common(1)
                raise ArgumentError("groups", ", ".join(repeated), "must not repeat a name", "List each group once")

    @property
    def statistic(self) -> Statistic:
        """The statistic to be released."""
        return self.asked.statistic

    @property
    def privacy(self) -> Privacy:
        """What is protected."""
        return self.asked.privacy

    @property
    def caution(self) -> str:
        """A warning about comparing its groups; empty if there is none."""
        return self.statistic.caution_between_groups if self.columns.by else ""

    def subject(self, noun: str = "") -> Subject:
        """What the stream contains, in the words of columns and of users; `noun` is the plural of the keys."""
        lines, wide = self.columns.key == ("line",), self.input.wide
        key = None if lines or wide else " and ".join(self.columns.key)
        return Subject(key, self.columns.value, noun or ("lines" if lines else None), self.of_people)

    @property
    def of_people(self) -> bool:
        """Whether people are bounded, so that everything one of them did is protected."""
        return self.columns.person is not None

    @property
    def reads_again(self) -> bool:
        """Whether the data are read more than once: to bound people, find max_value, choose groups or add up."""
        chooses = bool(self.columns.by) and self.groups is None
        whole_keys = self.privacy.unit == "key"
        return self.columns.person is not None or self.auto_max_value is not None or chooses or whole_keys

    @property
    def clips(self) -> bool:
        """Whether values above max_value are counted as max_value."""
        return self.clip or self.auto_max_value is not None

    @property
    def largest(self) -> int | None:
        """The largest valid value, if one was promised."""
        return None if self.clips or self.counts_individuals else self.privacy.max_value

    @property
    def counts_individuals(self) -> bool:
        """Whether the value of a row is its number of pairs: engines/local/pour.py."""
        return self.privacy.unit == "individual" and self.columns.value is not None

    @property
    def tells_skipped(self) -> bool:
        """Whether invalid rows are skipped, and their number is public.

        A replaced row is still a row, so under replace the number is public. A whole key may have any number of rows,
        and of invalid ones.
        """
        return self.on_bad == "skip" and self.privacy.relation == "replace" and self.privacy.unit == "pair"

    @property
    def bare(self) -> bool:
        """Whether the entries are private without added noise: then a table divides ε among its groups."""
        return self.asked.bare


def question(
    statistic: Statistic | Question | None = None, privacy: Privacy | None = None, /, **what: Unpack[WhatOfFiles]
) -> Question:
    """A question made from the arguments of `ss.release`, which explains them; or the one that was passed.

    The default statistic is a Hill number: `usual`.
    """
    if isinstance(statistic, Question):
        if privacy is not None or what:
            named = ", ".join(arg(name) for name in (*(["privacy"] if privacy is not None else []), *what))
            raise ArgumentError(
                "question", HIDDEN, "must come alone",
                "Leave that out, or pass statistic and privacy instead of the "
                "Question", because=f"a Question is complete, and {named} is given too",
            )  # fmt: skip
        return statistic
    given: dict[str, Any] = dict(what)
    for name in given:
        if name not in _ARGUMENTS:
            raise _unknown(name)
    columns_named = {name: given.pop(name, None) for name in _names_of(Columns)}
    columns = long_columns(**columns_named) if given.get("wide") else checked_columns(**columns_named)
    sizes, how = ({name: given.pop(name) for name in _names_of(kind) if name in given} for kind in (Asked, Input))
    wanted = asked(usual() if statistic is None else statistic, privacy, **sizes)  # type: ignore[arg-type]  # a Privacy, or refused
    groups = given.pop("groups", None)
    listed = None if groups is None else _group_names(groups)
    return Question(wanted, columns, groups=listed, input=Input(**how), **given)


def _unknown(name: str) -> ArgumentTypeError:
    """An argument that there is not, with what to pass instead."""
    if name in Privacy.__annotations__:
        way_out = f"Pass it in the privacy: ss.Privacy(epsilon, delta{'' if name in _FIRST else f', {name}=...'})"
    else:
        way_out = did_you_mean(name, [*_ARGUMENTS, "statistic", "privacy"]) or (
            f"Pass some of: {', '.join(sorted(_ARGUMENTS))}"
        )
    return ArgumentTypeError(name, HIDDEN, "cannot be passed to a release", way_out)


def warned(question: Question) -> Question:
    """The question, and a warning if its groups should not be compared by it: a profile has orders that compare."""
    instead = question.statistic.comparable
    if question.caution and instead != question.statistic:
        warnings.warn(in_python(f"{question.caution} Pass {instead.named}."), GroupsNotComparable, stacklevel=3)
    return question


def _group_names(groups: object) -> list[Name]:
    """The listed names: each a text, or its parts."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise ArgumentTypeError("groups", groups, "must be a list of names", 'Pass ["FR", "DE"]')
    return [(name,) if isinstance(name, str) else tuple(map(str, name)) for name in groups]


def _names_of(kind: type) -> list[str]:
    """The fields of a part of a question that users pass."""
    return [own.name for own in fields(kind) if own.name in _ARGUMENTS]


_ARGUMENTS = frozenset(WhatOfFiles.__annotations__)
_FIRST = ("epsilon", "delta")  # of a Privacy, by their place


# The defaults of arguments. The key must be given; groups are columns, and nobody passes ().
DEFAULTS = {
    **{
        own.name: own.default
        for kind in (Columns, Asked, Input, Question)
        for own in fields(kind)
        if own.name in _ARGUMENTS and own.default is not MISSING
    },
    "by": None,
}


def usual_unit(statistic: Statistic) -> Unit:
    """The default unit: keys for statistics about people, otherwise pairs."""
    return "key" if statistic.of_people else "pair"


def usual_relation(statistic: Statistic) -> Relation:
    """The default relation: statistics about people need their public number, so replace."""
    return "replace" if statistic.of_people else "add_remove"


def may_count_pairs(relation: Relation, by: object) -> bool:
    """Whether pairs may be counted if no number was promised: the number is public, and that of all pairs."""
    return relation == "replace" and not by


def asks(what: type) -> Callable[[Function], Function]:
    """Shows the arguments of `what`, with their defaults, in the signature of a function that takes them as **what."""

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        *named, _ = own.parameters.values()
        keyword, needed = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
        typed = [
            inspect.Parameter(name, keyword, default=DEFAULTS.get(name, needed), annotation=one.__forward_arg__)
            for name, one in inspect.get_annotations(what).items()
        ]
        typed.sort(key=lambda one: one.name not in _names_of(Columns))  # which come first
        first = [one for one in named if one.kind != keyword]
        parameters = [*first, *typed, *named[len(first) :]]
        setattr(function, "__signature__", own.replace(parameters=parameters))  # noqa: B010  # functions have it
        return function

    return shown
