"""The questions of the page and their answers: what `decide` decides about a release from public numbers, before any
data are read.

`pairs` is a guess at the length of the stream. A sketch and an exact table do not depend on it: it only predicts their
errors in such a stream. A bare sketch treats it as a promise, because it must have one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ..errors import ArgumentError, StablesketchError
from ..plan.asked import MechanismName
from ..plan.exact_instead import errors_at_both_ends
from ..plan.mechanism import measuring, mechanism_of, needs_promise
from ..privacy import Privacy, Relation
from ..release.arguments import question
from ..release.decide import Decision, decide
from ..release.question import Question
from ..release.shares import in_words
from ..report.commands import options_of
from ..statistic import STATISTICS, Statistic
from ..statistic.arguments import OptionError
from ..text.spoken import price_in_words

_NAMES = (
    "statistic", "mechanism", "relation", "people", "groups", "public_groups", "groups_per_person", "pairs_per_person",
    "max_value", "epsilon", "delta", "memory", "pairs",
)  # fmt: skip

_MOST_GROUPS = 100_000


def answer(asked: Mapping[str, str]) -> dict[str, Any]:
    """The decision for these numbers, or a `problem`: why there can be no release, and what to do."""
    try:
        statistic = _statistic(asked)
        odd = sorted(set(asked) ^ {*_NAMES, *(each.option.name for each in statistic.arguments)})
        if odd:
            raise ArgumentError("question", odd, "must have all fields and no others", f"Send {', '.join(_NAMES)}")
        wanted, pairs = _question(statistic, asked), _whole("pairs", asked)
        decision = decide(wanted)
        compared = pairs > 0 and not needs_promise(decision.plan)
        return {**_shown(wanted, decision), "errors": _errors(statistic, asked, pairs) if compared else {}}
    except (StablesketchError, OptionError) as error:
        return {"problem": str(error)}


def _statistic(asked: Mapping[str, str]) -> Statistic:
    kind = STATISTICS.get(asked.get("statistic", ""))
    if kind is None:
        raise ArgumentError(
            "statistic", asked.get("statistic"), "must be a known statistic", "Choose one from the page"
        )
    given = {each.option: asked.get(each.option.name) or None for each in kind.arguments}
    typed = {
        option: _real(option.name, asked) if text and option.kind is float else text for option, text in given.items()
    }
    return kind.from_options(typed)


def _question(statistic: Statistic, asked: Mapping[str, str]) -> Question:
    mechanism, people, groups = asked["mechanism"], asked["people"] == "yes", asked["groups"]
    largest, bare = _whole("max_value", asked), mechanism == "bare"
    epsilon, delta, relation = _real("epsilon", asked), _real("delta", asked), cast("Relation", asked["relation"])
    privacy, guessed = (
        Privacy(epsilon, delta, pairs, largest, relation, _whole("pairs_per_person", asked))
        for pairs in (_whole("pairs", asked), 0)
    )
    wanted = question(
        statistic,
        privacy if bare and groups != "private" else guessed,
        key="key",
        value="value" if largest > 1 or statistic.of_people else None,
        by=None if groups == "none" else "group",
        person="person" if people else None,
        groups=_public_groups(asked) if groups == "public" else None,
        groups_per_person=_whole("groups_per_person", asked) if people and groups != "none" else 1,
        mechanism=cast("MechanismName", mechanism),
    )
    if groups != "none" or all(each.exact for each in measuring(wanted.asked)):
        return wanted
    return replace(wanted, asked=wanted.asked.changed(memory=_whole("memory", asked)))


def _public_groups(asked: Mapping[str, str]) -> list[str]:
    count = _whole("public_groups", asked)
    if count > _MOST_GROUPS:
        raise ArgumentError("public_groups", count, f"must be at most {_MOST_GROUPS:,} on this page", "Lower it")
    return [str(i) for i in range(count)]


def _shown(wanted: Question, decision: Decision) -> dict[str, Any]:
    made = decision.plan
    way, shares = mechanism_of(made), decision.shares
    return {
        "statistic": str(made.statistic),
        "error": way.error_in_words(made),
        "price": price_in_words(decision.terms.epsilon, decision.terms.delta),
        "shares": in_words(shares, decision.terms.epsilon, grouped=bool(wanted.columns.by)) if len(shares) > 1 else "",
        "noise": "; ".join(mechanism_of(one).noise_on(one) for one in made.measurements if not needs_promise(one)),
        "bytes": made.bytes,
        "held": "all keys, with their totals" if way.exact and not way.counter else "",
        "relative": made.statistic.relative,
        "table": str(made),
        "command": command_of(wanted),
    }


def _errors(statistic: Statistic, asked: Mapping[str, str], pairs: int) -> dict[str, float]:
    """The errors of a sketch and an exact table in a stream of this many pairs, in the two extreme cases that
    `exact_instead` compares: all keys differ, or one key holds everything."""
    found: dict[str, float] = {}
    for name in ("sketch", "exact"):
        try:
            plan = decide(_question(statistic, {**asked, "mechanism": name})).plan
        except StablesketchError:
            continue  # this statistic has no such mechanism
        one, many = errors_at_both_ends(plan, pairs)
        ends = {name: many, f"{name}_of_one_key": one}
        found |= {end: error for end, error in ends.items() if 0.0 < error < math.inf}
    return found


def command_of(wanted: Question) -> str:
    """The command that makes this release from a file with these columns."""
    columns = wanted.columns
    named = [f"--key {columns.key[0]}"]
    named += [f"--value {columns.value}"] if columns.value else []
    named += [f"--by {columns.by[0]}"] if columns.by else []
    named += ["--groups groups.txt"] if wanted.groups is not None else []
    named += [f"--person {columns.person}"] if columns.person else []
    named += [f"--groups-per-person {wanted.groups_per_person}"] if wanted.groups_per_person > 1 else []
    return " ".join(["stablesketch release data.csv", *named, *options_of(wanted.asked)])


def _real(name: str, asked: Mapping[str, str]) -> float:
    try:
        return float(asked[name])
    except ValueError:
        raise ArgumentError(name, asked[name], "must be a number", "Write 0.5 or 1e-9") from None


def _whole(name: str, asked: Mapping[str, str]) -> int:
    try:
        return int(asked[name])
    except ValueError:
        raise ArgumentError(name, asked[name], "must be a whole number", "Use digits only") from None
