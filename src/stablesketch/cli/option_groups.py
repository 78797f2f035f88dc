"""Options that stand together in the place of one parameter of a command: the statistic, the data, the sizes.

The parameter is a `Chosen`, `Sizes`, or a dataclass with an option in each field, and gets what was typed. The options
of statistics are all from the registry; none is known by name here.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..reading.arguments import Reading, reading
from ..reading.found import suffix_format
from ..release.arguments import DEFAULTS
from ..statistic import STATISTICS, Option, Statistic
from ..statistic.arguments import OptionError
from . import options


def with_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of each group in the place of its parameter."""
    signature = inspect.signature(command, eval_str=True)
    groups = {name: group for name, one in signature.parameters.items() if (group := _group(one.annotation))}

    @functools.wraps(command)
    def called(**given: Any) -> Any:
        for name, (own, made) in groups.items():
            given[name] = made({one.name: given.pop(one.name, one.default) for one in own})
        return command(**given)

    parameters: list[Parameter] = []
    for name, old in signature.parameters.items():
        parameters += groups[name][0] if name in groups else [old.replace(kind=Parameter.KEYWORD_ONLY)]
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _group(kind: Any) -> tuple[list[Parameter], Callable[[dict[str, Any]], Any]] | None:
    """The options in the place of a parameter of this type, and how it is made of what was typed; None if it is one
    option.
    """
    if kind is Chosen:
        statistical = {option.name.replace("-", "_"): option for option in statistic_options()}
        own = {"statistic": _names(), **{name: _annotation(option) for name, option in statistical.items()}}
        return _keywords(own), lambda typed: Chosen(
            typed["statistic"], {option: typed[name] for name, option in statistical.items()}
        )
    if kind == Sizes:
        return _keywords(_SIZES), lambda typed: {**typed, **{name: _sizes_of(typed[name]) for name in _LISTS}}
    if isinstance(kind, type) and is_dataclass(kind):
        defaults = {each.name: each.default for each in fields(kind) if each.default is not MISSING}
        return _keywords(inspect.get_annotations(kind, eval_str=True), **defaults), lambda typed: kind(**typed)
    return None


def _keywords(options: Mapping[str, Any], **defaults: Any) -> list[Parameter]:
    usual = {**DEFAULTS, **defaults}
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=usual.get(name), annotation=kind)
        for name, kind in options.items()
    ]


# --- the statistic ---


@dataclass(frozen=True)
class Chosen:
    """The options typed for a statistic. It is made on demand: a stored sketch has its own."""

    name: str | None
    given: Mapping[Option, Any]

    @property
    def typed(self) -> bool:
        """Whether any of them was typed."""
        return self.name is not None or any(value is not None for value in self.given.values())

    def made(self) -> Statistic:
        """The statistic, or an error about its options."""
        try:
            return self._kind().from_options(self.given)
        except OptionError as error:
            raise typer.BadParameter(str(error)) from None

    def _kind(self) -> type[Statistic]:
        """The statistic that is named, by --statistic or by an option of its own; otherwise the default."""
        if self.name is not None:
            return STATISTICS[self.name]
        typed = {option for option, value in self.given.items() if value is not None}
        named = (kind for kind in offered() if kind.by_option and typed & {each.option for each in kind.arguments})
        return next(named, offered()[0])


def offered() -> list[type[Statistic]]:
    """The statistics of the command line, the default first."""
    return sorted((kind for kind in STATISTICS.values() if kind.on_command_line), key=lambda kind: not kind.usual)


def statistic_options() -> list[Option]:
    """The options of all statistics, each once."""
    return list(dict.fromkeys(argument.option for kind in offered() for argument in kind.arguments))


def _names() -> Any:
    choices: Any = Literal[tuple(kind.name for kind in offered())]
    usual, *others = offered()
    *more, last = (kind.name for kind in others)
    described = f"{usual.name} (default: {usual.usual_because}), {', '.join(more)} or {last}. {_takes()}."
    return Annotated[choices | None, typer.Option("--statistic", metavar="NAME", help=described, show_default=False)]


def _takes() -> str:
    """Which options belong to which statistics: those that select one, and the one that most others take."""
    shared = Counter(each.option.name for kind in offered() for each in kind.arguments).most_common(1)
    own = [f"{kind.name} takes --{each.option.name}" for kind in offered() if kind.by_option for each in kind.arguments]
    return ", ".join([*own, *(f"most others --{name}" for name, _ in shared)])


def _annotation(option: Option) -> Any:
    """Text or a number; a fixed set of words, if all statistics that take it have one."""
    taking = {kind.name: each for kind in offered() for each in kind.arguments if each.option == option}
    words = tuple(word for each in taking.values() for word in each.choices)
    kind: Any = Literal[words] if all(each.choices for each in taking.values()) else option.kind
    *more, last = (f"{name} (default {each.default})" if each.default else name for name, each in taking.items())
    described = option.help.format(takers=f"{', '.join(more)} or {last}" if more else last)
    return Annotated[kind | None, typer.Option(f"--{option.name}", help=described, metavar=option.metavar)]


# --- the data ---


@dataclass(frozen=True)
class Data:
    """What was typed: files or a query, and what files do not say themselves."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="Parquet, CSV or JSON files, quoted patterns, - for standard input, or a database with --sql.",
            show_default=False,
        ),
    ]
    sql: Annotated[
        str | None,
        options.in_data(metavar="QUERY", help="Read the result of a query: select app, n from 'events/*.parquet'."),
    ]
    format: Annotated[
        str | None,
        options.in_data(
            metavar="NAME",
            help="parquet, csv, tsv, json, lines, arrow or orc (default: recognised from the first bytes).",
        ),
    ]
    header: Annotated[bool, options.in_data("--header/--no-header", help="Whether the CSV has a header line.")]
    delimiter: Annotated[
        str | None,
        options.in_data(metavar="CHARACTER", help="CSV field separator (default: detected from the header)."),
    ]
    on_bad: options.OnBad

    def reading(
        self, key: str | None, value: str | None, by: str | None = None, person: str | None = None, *, wide: bool
    ) -> Reading:
        """What to read of them, and how; refuses a call that names nothing to read, or no key."""
        self.must_be_named()
        self.must_have_key(key, wide=wide)
        columns = {"key": options.key_of(key, wide=wide), "value": value, "by": options.columns_listed(by)}
        return reading({**self.ways, **columns, "wide": wide}, person)

    def must_be_named(self) -> None:
        """Refuses a call that names nothing to read."""
        if not self.files and self.sql is None:
            raise typer.BadParameter("nothing to read. Name files, - for standard input, or --sql.")

    def must_have_key(self, key: str | None, *, wide: bool) -> None:
        """Refuses data that have columns without the one to measure. Plain lines are keys themselves."""
        if key is not None or wide or self.format == "lines":
            return
        first = self.files[0] if self.files and self.format is None else ""
        if first == "-" or suffix_format(Path(first))[0] == "lines":
            return
        raise typer.BadParameter(
            "--key is required: the column to measure. If every key has a column of its own, pass --wide; if every "
            "line is a key, --format lines."
        )

    @property
    def ways(self) -> dict[str, Any]:
        """All of it but the files, by the names that arguments have in Python."""
        return {name: value for name, value in asdict(self).items() if name != "files"}


# --- the sizes ---

Sizes = dict[str, Any]
"""How accurate or how large a sketch is to be, and by which mechanism, by the names that arguments have in Python."""

_SIZES: dict[str, Any] = {
    "error": options.Error,
    "size": Annotated[
        str | None,
        options.in_size(
            metavar="N",
            help="Number of entries, instead of --error. For several sketches: one each, separated by commas.",
        ),
    ],
    "memory": options.Memory,
    "entries_per_key": Annotated[
        str | None,
        options.in_size(
            "--entries-per-key",
            metavar="N",
            help="How many entries each key updates: 16 is fast; 64 is more accurate if one key is common, and needs "
            "less noise.",
        ),
    ],
    "expected": Annotated[
        float | None,
        options.in_size(help="The value you expect, from public knowledge only: the plan states its error there."),
    ],
    "mechanism": options.Mechanism,
}
_LISTS = ("size", "entries_per_key")


def _sizes_of(text: str | None) -> int | tuple[int, ...] | None:
    """One size for every sketch, or a list with one for each."""
    if text is None:
        return None
    first, *others = (options.count(each) for each in text.split(","))
    return (first, *others) if others else first
