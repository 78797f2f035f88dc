"""What the page asks and what it is told: one plan, by `stablesketch.plan`, and the paper's ε beside it.

`pairs` is a guess of how long the stream is, 0 for none. The plan does not depend on it: it says how much the noise is
of the least F_p that so many pairs can have, and the paper's formula takes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from .. import paper
from ..errors import ArgumentError, StablesketchError
from ..mechanism.layout import LARGEST_FLAT
from ..mechanism.noisy_plan import usual_per_key
from ..plan import Plan, plan
from ..plan.asked import LARGEST_SIZE
from ..plan.mechanism import mechanism_for, mechanism_of
from ..privacy import Privacy, Relation
from ..report.commands import plan_command
from ..statistic import Moment

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
            max_value=_whole("max_value", asked),
            relation=cast("Relation", asked["relation"]),
            pairs_per_person=_whole("pairs_per_person", asked),
        )
        pairs = replace(privacy, pairs=_whole("pairs", asked)).pairs  # which checks it
        return _told(_planned(Moment(_real("p", asked)), privacy, _whole("size", asked)), pairs)
    except StablesketchError as error:
        return {"problem": str(error)}


def _planned(statistic: Moment, privacy: Privacy, size: int) -> Plan:
    """Few entries in one bucket; of more as many as fill buckets of the usual size: a slider need not be exact."""
    if not mechanism_for(statistic, "sketch").in_buckets:
        return plan(statistic, privacy, size=min(size, LARGEST_SIZE))
    if size <= LARGEST_FLAT:
        return plan(statistic, privacy, size=size)
    per_key = usual_per_key(statistic.p)
    return plan(statistic, privacy, size=size // per_key * per_key, entries_per_key=per_key)


def _told(made: Plan, pairs: int) -> dict[str, Any]:
    """`error` is that of the sketch alone, part of F; `deviation` that of the noise, in units of `measured`."""
    p, way = made.statistic.p, mechanism_of(made)
    return {
        "statistic": str(made.statistic),
        "measured": way.measured(made),
        "size": made.size,
        "worst_error": made.worst_error if made.size else 0.0,
        "buckets": made.buckets,
        "error": made.error if made.size else 0.0,  # a counter has none
        "noise": way.noise_scale(made),
        "deviation": way.noise_deviation(made),
        "exact_deviation": made.exact_error,
        "least": math.pow(pairs, min(p, 1.0 / p)),
        "bytes": made.bytes,
        "epsilon": made.epsilon,
        "paper_epsilon": _paper_epsilon(made, pairs),
        "table": str(made),
        "command": plan_command(made.asked.with_size(made.size, made.entries_per_key if made.buckets > 1 else 0)),
    }


def _paper_epsilon(made: Plan, pairs: int) -> float | None:
    """The ε of the paper's accounting for as many entries, without noise, and one replaced pair.

    The noise here hides a pair that is replaced and one that is added alike, so the two are compared whatever the
    relation. None for what the paper's theorems do not cover.
    """
    privacy = made.privacy
    if privacy.pairs_per_person != 1 or pairs < 2 or not made.size or made.statistic.p > 1.0:
        return None
    return paper.epsilon(pairs, _KEYS, privacy.max_value, made.statistic.p, made.size)


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
