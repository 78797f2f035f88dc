"""The commands that make a plan again and test its claim."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan import Plan
from ..plan.asked import USUAL_MEMORY, Asked


def commands(plan: Plan, *, shared: bool = False) -> list[str]:
    """Plans that sample, allow deletes, are for a total, or for groups that share people can be made only in Python.

    There is also no command for a plan whose ε is a share of the ε that was asked for.
    """
    # No option asks for a group's share of a table's memory, so the command asks for the size.
    asked = plan.asked if plan.asked.usual_memory == USUAL_MEMORY else plan.asked.like(plan)
    typed = asked.statistic.on_command_line and asked.privacy.groups == 1
    made_here = typed and asked.sampling is None and not asked.deletes and not shared
    again = [f"stablesketch plan {' '.join(options_of(asked))} -o plan.json"] if made_here else []
    return [*again, "stablesketch inspect plan.json", "stablesketch audit plan.json"]


def remark(made: list[str], *, counted: str) -> str:
    """What readers of these commands should know, if the number of pairs was `counted`: the plural of what they are."""
    asks = counted and any(" --pairs " in command for command in made)
    return f"In the first command, --pairs is the number of {counted} that were counted." if asks else ""


def options_of(asked: Asked) -> Iterator[str]:
    """Everything that was asked for, as command-line options."""
    privacy = asked.privacy
    yield asked.statistic.as_options()
    yield f"--epsilon {privacy.epsilon!r} --delta {privacy.delta!r}"
    yield f"--relation {privacy.relation}{f' --pairs {privacy.pairs}' if privacy.pairs else ''}"
    yield f"--max-value {privacy.max_value} --pairs-per-person {privacy.pairs_per_person}"
    if privacy.unit != "pair":
        yield f"--unit {privacy.unit}"
    if privacy.total:
        yield f"--total {privacy.total}"
    if asked.mechanism != Asked.mechanism:
        yield f"--mechanism {asked.mechanism}"
    for name in ("error", "size", "memory", "entries_per_key", "expected"):
        given = getattr(asked, name)
        if given is not None:
            shown = ",".join(map(str, given)) if isinstance(given, tuple) else repr(given)
            yield f"--{name.replace('_', '-')} {shown}"
