"""Statistics on the command line: their options, how they are read, and the messages about wrong ones.

An `Option` of the command line is shared by all statistics that take it. An `Argument` is a field of one statistic that
an option sets. The command line has every option once (cli/options.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .statistic import Statistic


class OptionError(ValueError):
    """Wrong options for a statistic; the message says what to do."""


@dataclass(frozen=True)
class Option:
    """`--name`, its help, and how it is read before a statistic sees it: as text, or as a number. In the help,
    `{takers}` stands for the statistics that take it.
    """

    name: str
    help: str
    kind: type[str] | type[float] = str
    metavar: str | None = None
    refused: str = "{statistic} has no {option}: leave out --{option}."

    def refusal(self, statistic: type[Statistic], given: object) -> str:
        """The message for a statistic that does not take this option."""
        return self.refused.format(statistic=statistic.name, option=self.name, given=given)


@dataclass(frozen=True)
class Argument:
    """A field of a statistic that an option sets.

    `read` turns the typed text into the field, or returns None if it cannot; `written` is the inverse. Without a
    `default` the option is required, and `missing` is the message. `choices` lists all possible values, if there are
    few.
    """

    field: str
    option: Option
    read: Callable[[Any], Any] = str
    written: Callable[[Any], str] = str
    default: str | None = None
    choices: tuple[str, ...] = ()
    missing: str = "--{option} must be given for {name}."

    def value_of(self, statistic: type[Statistic], given: Any) -> Any:
        """The field from the typed text; `given` is None if nothing was typed."""
        text = self.default if given in (None, "") else given
        if self.choices and text not in self.choices:
            ways = " or ".join(self.choices)
            raise OptionError(f"{statistic.name} has no {self.option.name} {text}. Pass --{self.option.name} {ways}.")
        found = None if text is None else self.read(text)
        if found is None:
            raise OptionError(self.missing.format(option=self.option.name, name=statistic.name))
        return found


ORDER = Option(
    "order",
    "Order of {takers}; a profile takes several, separated by commas.",
    metavar="Q",
)


def read_orders(text: str) -> list[float]:
    """Several orders, separated by commas."""
    return [_order(each) for each in text.split(",") if each.strip()]


def _order(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{text!r} is not an order. Write 0.5, or 0,0.5,1 for a profile.") from None


def one_order(field: str, default: str | None = None) -> Argument:
    """The field for the order of a statistic: `--order`, one number."""

    def only(text: str) -> float | None:
        found = read_orders(text)
        return found[0] if len(found) == 1 else None

    missing = "--order must be given for {name}, as one number. Try --order 0.5."
    return Argument(field, ORDER, only, repr, default, missing=missing)
