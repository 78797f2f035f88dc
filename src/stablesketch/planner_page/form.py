"""The fields of the page that depend on the statistics. They are made from the registry, so none is missing."""

from __future__ import annotations

from ..page import escaped
from ..statistic import STATISTICS, Statistic
from ..statistic.arguments import Argument


def statistic_fields() -> str:
    """A menu of all statistics that the command line offers, and the options of each. A script shows those of one."""
    kinds = [kind for kind in STATISTICS.values() if kind.on_command_line]
    offered = "".join(
        f"<option{' selected' if kind.usual else ''}{' data-people' if kind.of_people else ''}>"
        f"{escaped(kind.name)}</option>"
        for kind in kinds
    )
    own = "".join(_field(kind, argument) for kind in kinds for argument in kind.arguments)
    choice = f'<label for="statistic">statistic</label><select id="statistic">{offered}</select>'
    return f'<div class="field">{choice}</div>{own}'


def _field(kind: type[Statistic], argument: Argument) -> str:
    """One option of a statistic."""
    name, where = escaped(argument.option.name), escaped(f"{kind.name}-{argument.option.name}")
    if argument.choices:
        choices = "".join(f"<option>{escaped(each)}</option>" for each in argument.choices)
        entry = f'<select id="{where}" data-option="{name}">{choices}</select>'
    else:
        usual = escaped(argument.default or "0.5")
        entry = f'<input id="{where}" data-option="{name}" value="{usual}" size="8">'
    label = f'<label for="{where}">{name}</label>'
    return f'<div class="field option" data-statistic="{escaped(kind.name)}">{label}{entry}</div>'
