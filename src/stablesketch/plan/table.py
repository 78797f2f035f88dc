"""A plan as a table for people, and whether the exact mechanism would be the better choice.

Both are computed from the plan alone, so they reveal nothing about the data.
"""

from __future__ import annotations

import math
import textwrap

from ..errors import StablesketchError
from ..privacy import Privacy, delta_advice, epsilon_advice
from ..text.spoken import about, at_most, short
from ..text.wording import arg
from .in_words import change
from .mechanism import mechanism_of, needs_promise
from .plan import Plan

_LEAST_WIDTH = 70  # of a note
_WIDEST = 100  # rule, however long a row is
_EXAMPLES = (10**6, 10**9)  # pairs, if their number is not public
_WORTH_SAYING = 2.0


def plan_table(plan: Plan, whose: Privacy | None = None, *, person: bool = False, pair: str = "row") -> str:
    """What was asked for, what is reached, what it costs, and how the exact mechanism compares.

    `whose` is what the release protects, if the plan itself is for other neighbours (in a table, or if the pairs of
    each person are bounded). `person` says that the release protects people, and `pair` is the word for their pairs.
    """
    privacy = plan.privacy
    rows = [
        ("statistic", str(plan.statistic)),
        ("protects", _protected(plan, whose or privacy, person, pair)),
        ("asked", f"ε = {privacy.epsilon:g}, δ = {privacy.delta:g}"),
        ("reached", f"ε = {at_most(plan.epsilon)}, δ = {at_most(plan.delta, 3)}"),
        *mechanism_of(plan).rows(plan),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {text}" for name, text in rows]
    title = f"Plan: {plan.statistic} by the {plan.mechanism} mechanism"
    rule = "─" * min(max(len(line) for line in [title, *lines]), _WIDEST)
    within = max(len(rule) - width - 2, _LEAST_WIDTH)
    for note in _notes(plan):
        first, *rest = textwrap.wrap(note, within)
        lines += [f"{'note'.ljust(width)}  {first}", *(f"{' ' * width}  {line}" for line in rest)]
    return "\n".join([title, rule, *lines])


def _notes(plan: Plan) -> list[str]:
    better = "" if plan.expected else in_an_example(plan)  # where a value is expected, its error is among the rows
    return [note for note in (better, epsilon_advice(plan.privacy), plan.delta and delta_advice(plan.privacy)) if note]


def _protected(plan: Plan, privacy: Privacy, person: bool, pair: str) -> str:
    """What is protected: in any stream, or in one that keeps these promises."""
    if not needs_promise(plan):
        public = f"; the number of {privacy.unit}s is public" if privacy.relation == "replace" else ""
        return f"{change(privacy, person=person, pair=pair)}{public}"
    privacy = plan.privacy
    number = f"at least {privacy.pairs:,}" if privacy.pairs else "any number of"
    count, whole = f"up to {privacy.pairs_per_person}", f"{number} {privacy.unit}s"
    replaced = privacy.relation == "replace"
    said = f"replacing {count} of {whole}" if replaced else f"adding or removing {count} in a stream of {whole}"
    return f"{said}, values up to {privacy.max_value:,}"


def exact_instead(plan: Plan) -> str:
    """How many times as accurate `mechanism="exact"` would be, and what it needs; empty if less than twice."""
    better = in_an_example(plan, arg("mechanism", "exact"))
    needs = "It holds every key in memory, so use it only if the keys fit there and may be held"
    return f"{better[:1].upper()}{better[1:]}. {needs}." if better else ""


def in_an_example(plan: Plan, exactly: str = "the exact mechanism") -> str:
    """How many times as accurate it would be, as part of a sentence; empty if less than twice.

    Compares the errors at the expected value. Without one, it takes a stream of the promised length, or of a million
    pairs, or of a billion where noise drowns a million, in both extreme cases: one key holds everything, or all keys
    differ. One of them has the least value and the other the greatest, so they bound what the noise adds, which is the
    whole error of the exact mechanism.
    """
    if mechanism_of(plan).exact or not plan.size:
        return ""
    if plan.expected:
        times = _ratio(plan.error, plan.exact_error)
        at = f"at {plan.statistic} = {about(plan.expected)}"
        return f"{at} {exactly} would be {_times(times)}" if times >= _WORTH_SAYING else ""
    if needs_promise(plan):  # its error is the one at a floor, for any length
        return ""
    if plan.asked.expected is not None:  # of a measurement: the length does not determine the rest
        plan = plan.again(expected=None, same_size=True)
    try:
        exact = plan.again(mechanism="exact")
    except StablesketchError:  # no exact plan reaches this
        return ""
    unit = plan.privacy.unit
    for pairs in (plan.privacy.pairs,) if plan.privacy.pairs else _EXAMPLES:
        one, many = _at_both_ends(plan, exact, pairs)
        if max(one, many) >= _WORTH_SAYING:
            where = f"in a stream of {pairs:,} {unit}s, for example, {exactly} would be"
            if unit == "key" or _times(one) == _times(many):
                return f"{where} {_times(many)}"
            ends = ((one, "if one key holds everything"), (many, "if all keys differ"))
            return f"{where} {', and '.join(f'{_times(ratio)} {end}' for ratio, end in ends if ratio)}"
    return ""


def _at_both_ends(plan: Plan, exact: Plan, pairs: int) -> list[float]:
    ends = ((1.0, plan.worst_error), (float(pairs), plan.error))
    return [
        _ratio(
            math.hypot(error, mechanism_of(plan).noise_at(plan, pairs, keys)),
            mechanism_of(exact).noise_at(exact, pairs, keys),
        )
        for keys, error in ends
    ]


def _ratio(error: float, exact: float) -> float:
    """The ratio of the errors; 0 if it is unknown."""
    return error / exact if exact > 0.0 and math.isfinite(error) else 0.0


def _times(ratio: float) -> str:
    """The ratio in words, with two digits; without a number if it is below 1.

    >>> [_times(ratio) for ratio in (0.94, 1.0, 57.3)]
    ['no more accurate', 'as accurate', '57 times as accurate']
    """
    said = short(float(f"{ratio:.2g}"))
    if said == "1":
        return "as accurate"
    return f"{said} times as accurate" if ratio > 1.0 else "no more accurate"
