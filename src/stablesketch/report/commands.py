"""The commands that make a plan again, number by number, and test its claim."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..plan import Plan
from ..statistic import Statistic

__all__ = ["commands"]


def commands(plan: Plan) -> list[str]:
    """Plans that sample, allow deletes, are of a total, or of groups that share people are made from Python only."""
    privacy = plan.privacy
    options = plan.statistic.on_command_line and privacy.groups == 1
    made_here = plan.sampled is None and not plan.deletes and options
    words = [
        plan.statistic.as_options(),
        f"--epsilon {privacy.epsilon!r} --delta {privacy.delta!r}",
        f"--relation {privacy.relation}{f' --pairs {privacy.pairs}' if privacy.pairs else ''}",
        f"--max-value {privacy.max_value}",
        f"--pairs-per-person {privacy.pairs_per_person}",
        *(["--unit key"] if privacy.unit == "key" else []),
        *([f"--total {privacy.total}"] if privacy.total else []),
        *([f"--mechanism {plan.mechanism}"] if plan.mechanism != "sketch" else []),
        *([f"--size {','.join(map(str, plan.sizes))}"] if plan.mechanism != "exact" else []),
        *([f"--entries-per-key {','.join(map(str, plan.per_key))}"] if plan.per_key else []),
        *_expected(plan),
    ]
    again = [f"stablesketch plan {' '.join(words)} -o plan.json"] if made_here else []
    return [*again, "stablesketch inspect plan.json", "stablesketch audit plan.json"]


def _expected(plan: Plan) -> list[str]:
    """What was expected; left out where it is what is expected if nobody says.

    A plan with parts keeps what each part was expected to be. The number that leads there is looked for among those
    that people write, and taken if it leads there exactly.
    """
    statistic = plan.statistic
    if not plan.parts:
        return [f"--expected {plan.expected!r}"] if plan.relative and plan.expected else []
    if statistic.several:
        return []
    at_least = max(plan.privacy.pairs, 1)
    for guess in _guesses(plan, statistic, at_least):
        led_to = [(part, statistic.expected_of(part.statistic, guess, at_least)) for part in plan.parts]
        stated = [part.expected == expected for part, expected in led_to if expected is not None]
        if stated and all(stated):
            return [f"--expected {guess!r}"]
    return []


def _leading_to(statistic: Statistic, part: Plan, at_least: int) -> float:
    """The number from which follows what was expected of the part; 0 if there is none. What follows rises with it."""

    def below(guess: float) -> bool:
        try:
            return (statistic.expected_of(part.statistic, guess, at_least) or math.inf) < part.expected
        except OverflowError:
            return False

    low, high = 2.0**-60, 2.0**60
    if not below(low) or below(high):
        return 0.0
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return high


def _guesses(plan: Plan, statistic: Statistic, at_least: int) -> Iterator[float]:
    for mean in (_leading_to(statistic, part, at_least) for part in plan.parts if part.expected):
        yield from (float(f"{mean:.{digits}g}") for digits in (6, 9, 12, 14, 15, 16, 17) if mean > 0.0)
