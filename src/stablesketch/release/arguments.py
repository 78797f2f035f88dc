"""The arguments of a release, with the only defaults.

`question` builds a `Question` from what users pass in Python, Spark and Beam and on the command line; `What` and its
subclasses are the arguments of each.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any, TypedDict, TypeVar, Unpack

from ..bounding.groups import Name
from ..bounding.max_value import AutoMaxValue
from ..errors import HIDDEN, ArgumentError, ArgumentTypeError, GroupsNotComparable, did_you_mean
from ..plan import Asked, MechanismName
from ..plan.asked import asked
from ..privacy import Privacy
from ..reading.columns import Columns, OnBad, checked_columns
from ..reading.found import Input
from ..reading.wide import long_columns
from ..statistic import Statistic, usual
from ..text.wording import arg, in_python
from .question import Question

Function = TypeVar("Function", bound=Callable[..., Any])


class What(TypedDict, total=False):
    """The arguments of a question, besides statistic and privacy, wherever the data are."""

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
    count_pairs: bool | None
    auto_max_value: AutoMaxValue | None


class WhatOfFiles(WhatOfColumns, total=False):
    """The arguments for files and databases, which must be opened."""

    sql: str | None
    format: str | None
    header: bool
    delimiter: str | None
    wide: bool


def question(
    statistic: Statistic | Question | None = None, privacy: Privacy | None = None, /, **what: Unpack[WhatOfFiles]
) -> Question:
    """A question made from the arguments of `ss.release`, which explains them; or the question that was passed.

    The default statistic is a Hill number: `usual`.
    """
    if isinstance(statistic, Question):
        if privacy is not None or what:
            named = ", ".join(arg(name) for name in (*(["privacy"] if privacy is not None else []), *what))
            raise ArgumentError(
                "question", HIDDEN, "must come alone",
                "Leave that out, or pass statistic and privacy instead of the Question",
                because=f"a Question is complete, and {named} is given too",
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
    if how.get("wide") and _of_individuals(wanted.privacy, columns, given):
        wanted = replace(wanted, privacy=wanted.privacy.usually(unit="individual"))
    groups = given.pop("groups", None)
    listed = None if groups is None else _group_names(groups)
    return Question(wanted, columns, groups=listed, input=Input(**how), **given)


def _of_individuals(privacy: Privacy, columns: Columns, given: Mapping[str, Any]) -> bool:
    """Whether the cells of a wide table count individuals, because nothing was said that could only be of cells."""
    of_cells = given.get("clip") or given.get("auto_max_value") is not None or columns.person is not None
    return privacy.relation == "add_remove" and privacy.leaves_out("unit", "max_value") and not of_cells


# What other libraries call these arguments, where the nearest spelling would be another one.
_ELSEWHERE = {"groupby": "by", "group_by": "by", "group": "by", "column": "key", "user": "person", "weight": "value"}


def _unknown(name: str) -> ArgumentTypeError:
    """The error about an argument that does not exist, with what to pass instead."""
    if name in Privacy.__annotations__:
        way_out = f"Pass it in the privacy: ss.Privacy(epsilon, delta{'' if name in _FIRST else f', {name}=...'})"
    elif name in _ELSEWHERE:
        way_out = f"Did you mean {_ELSEWHERE[name]}?"
    else:
        way_out = did_you_mean(name, [*_ARGUMENTS, "statistic", "privacy"]) or (
            f"Pass some of: {', '.join(sorted(_ARGUMENTS))}"
        )
    return ArgumentTypeError(name, HIDDEN, "cannot be passed to a release", way_out)


def warned(question: Question) -> Question:
    """The question. Warns if its statistic should not be used to compare groups; a profile has orders that can be."""
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
_FIRST = ("epsilon", "delta")  # positional arguments of Privacy


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


def shown_arguments(what: type) -> list[inspect.Parameter]:
    """The arguments of `What` or one of its subclasses, with their defaults; columns first."""
    keyword, needed = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    typed = [
        inspect.Parameter(name, keyword, default=DEFAULTS.get(name, needed), annotation=one.__forward_arg__)
        for name, one in inspect.get_annotations(what).items()
    ]
    return sorted(typed, key=lambda one: one.name not in _names_of(Columns))


def asks(what: type) -> Callable[[Function], Function]:
    """Shows the arguments of `what`, with their defaults, in the signature of a function that takes them as **what."""

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        *named, _ = own.parameters.values()
        first = [one for one in named if one.kind != inspect.Parameter.KEYWORD_ONLY]
        parameters = [*first, *shown_arguments(what), *named[len(first) :]]
        setattr(function, "__signature__", own.replace(parameters=parameters))  # noqa: B010  # functions have it
        return function

    return shown
