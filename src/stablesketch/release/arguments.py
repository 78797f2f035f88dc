"""The arguments of a release, with the only defaults.

`question` builds a `Question` from what users pass in Python, Spark and Beam and on the command line; `What` and its
subclasses are the arguments of each. Those of reading are in reading/arguments.py.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any, TypeVar, Unpack

from ..bounding.groups import Name
from ..bounding.max_value import AutoMaxValue
from ..errors import HIDDEN, ArgumentError, ArgumentTypeError, GroupsNotComparable
from ..plan import Asked, MechanismName
from ..plan.asked import asked
from ..privacy import Privacy
from ..reading.arguments import OfFiles, OfGroups, OfRows, reading, unknown
from ..reading.columns import Columns
from ..reading.found import Input
from ..statistic import Statistic, usual
from ..text.wording import arg, either, in_python
from .question import Question

Function = TypeVar("Function", bound=Callable[..., Any])


class What(OfRows, total=False):
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
    confidence: float


class WhatOfColumns(OfGroups, What, total=False):
    """The arguments for data that have columns and can be read more than once."""

    person: str | None
    count_pairs: bool | None
    auto_max_value: AutoMaxValue | None


class WhatOfFiles(OfFiles, WhatOfColumns, total=False):
    """The arguments for files and databases, which must be opened."""


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
    for name in what:
        if name not in _ARGUMENTS:
            raise _unknown(name)
    read = reading(what, what.get("person"))
    given: dict[str, Any] = {name: one for name, one in what.items() if name not in _OF_READING}
    sizes = {name: given.pop(name) for name in _names_of(Asked) if name in given}
    wanted = asked(usual() if statistic is None else statistic, privacy, **sizes)  # type: ignore[arg-type]  # a Privacy, or refused
    if read.input.wide and _of_individuals(wanted.privacy, read.columns, given):
        wanted = replace(wanted, privacy=wanted.privacy.usually(unit="individual"))
    groups = given.pop("groups", None)
    listed = None if groups is None else _group_names(groups)
    return Question(wanted, read.columns, groups=listed, input=read.input, on_bad=read.on_bad, **given)


def _of_individuals(privacy: Privacy, columns: Columns, given: Mapping[str, Any]) -> bool:
    """Whether the cells of a wide table count individuals, because nothing was said that could only be of cells."""
    of_cells = given.get("clip") or given.get("auto_max_value") is not None or columns.person is not None
    return privacy.relation == "add_remove" and privacy.leaves_out("unit", "max_value") and not of_cells


def _unknown(name: str) -> ArgumentTypeError:
    """The error about an argument that does not exist, with what to pass instead."""
    if name not in Privacy.__annotations__:
        return unknown(name, {*_ARGUMENTS, "statistic", "privacy"}, "a release")
    way_out = f"Pass it in the privacy: ss.Privacy(epsilon, delta{'' if name in _FIRST else f', {name}=...'})"
    if name == "max_value":
        way_out += f", or {either('auto_max_value=ss.AutoMaxValue()', '--max-value auto')} here to find it privately"
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
_OF_READING = {*OfFiles.__annotations__, "person"}
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
    """The arguments of one of the lists, with their defaults; columns first."""
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
