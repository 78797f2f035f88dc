"""What the page asks and what it is told: one plan, by `stablesketch.plan`, and the paper's ε beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .. import paper
from ..errors import ArgumentError, StablesketchError
from ..plan import Plan, plan
from ..privacy import Privacy, Relation
from ..statistic import Moment

__all__ = ["answer"]

_KEYS = 2**20  # among which keys are, for the paper's formula: the number of its own experiments
_NAMES = ("p", "pairs", "max_value", "epsilon", "delta", "size", "relation", "pairs_per_person")


def answer(asked: Mapping[str, str]) -> dict[str, Any]:
    """The plan for these numbers, or `problem`: why there is none, and what to do."""
    try:
        odd = sorted(set(asked) ^ set(_NAMES))
        if odd:
            raise ArgumentError("question", odd, "fields that are missing or unknown", f"Ask with {', '.join(_NAMES)}")
        privacy = Privacy(
            _real("epsilon", asked),
            _real("delta", asked),
            _whole("pairs", asked),
            _whole("max_value", asked),
            cast("Relation", asked["relation"]),
            _whole("pairs_per_person", asked),
        )
        return _told(plan(Moment(_real("p", asked)), privacy, size=_whole("size", asked)))
    except StablesketchError as error:
        return {"problem": str(error)}


def _told(made: Plan) -> dict[str, Any]:
    privacy = made.privacy
    return {
        "error": made.error,
        "relative": made.relative,
        "expected": made.expected,
        "exact_error": made.exact_error,
        "bytes": made.bytes,
        "floor": made.floor,
        "epsilon": made.epsilon,
        "pure_epsilon": made.pure_epsilon,
        "paper_epsilon": _paper_epsilon(made),
        "table": str(made),
        "command": (
            f"stablesketch plan --p {made.statistic.p!r} --epsilon {privacy.epsilon!r} --delta {privacy.delta!r} "
            f"--pairs {privacy.pairs} --max-value {privacy.max_value} --relation {privacy.relation} --pairs-per-person "
            f"{privacy.pairs_per_person} --size {made.size}"
        ),
    }


def _paper_epsilon(made: Plan) -> float | None:
    """The ε of the paper's accounting for the same sketch; None for what its theorems do not cover."""
    privacy = made.privacy
    if privacy.relation != "replace" or privacy.pairs_per_person != 1 or privacy.pairs < 2:
        return None
    return paper.epsilon(privacy.pairs, _KEYS, privacy.max_value, made.statistic.p, made.size)


def _real(name: str, asked: Mapping[str, str]) -> float:
    try:
        return float(asked[name])
    except ValueError:
        raise ArgumentError(name, asked[name], "not a number", "Write 0.5 or 1e-9") from None


def _whole(name: str, asked: Mapping[str, str]) -> int:
    try:
        return int(asked[name])
    except ValueError:
        raise ArgumentError(name, asked[name], "not a whole number", "Write digits alone") from None
