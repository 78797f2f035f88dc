"""`--statistic` and the options of statistics: all from the registry, none known by name here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, Literal

import typer

from ..statistic import STATISTICS, Option, Statistic
from ..statistic.arguments import OptionError
from .in_place_of import in_place_of


@dataclass(frozen=True)
class Chosen:
    """The options typed for a statistic. It is made on demand: a stored sketch has its own."""

    name: str | None
    given: Mapping[Option, Any]

    @property
    def typed(self) -> dict[str, Any]:
        """The typed values, by the names of the options."""
        named = {} if self.name is None else {"--statistic": self.name}
        return named | {f"--{option.name}": value for option, value in self.given.items() if value is not None}

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


def with_statistic(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with all these options in the place of its parameter `statistic`, which is a `Chosen`."""
    options = {option.name.replace("-", "_"): option for option in statistic_options()}
    own = [_parameter(name, _annotation(option)) for name, option in options.items()]
    return in_place_of(
        "statistic",
        [_parameter("statistic", _names()), *own],
        lambda typed: Chosen(typed["statistic"], {option: typed[name] for name, option in options.items()}),
        command,
    )


def _parameter(name: str, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


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
    taking = [each for kind in offered() for each in kind.arguments if each.option == option]
    words = tuple(word for each in taking for word in each.choices)
    kind: Any = Literal[words] if all(each.choices for each in taking) else option.kind
    return Annotated[kind | None, typer.Option(f"--{option.name}", help=option.help, metavar=option.metavar)]
