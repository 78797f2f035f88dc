"""Outcomes of releases that were written down by hand, for what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import stablesketch as ss
from stablesketch.bounding.groups import GroupBudget
from stablesketch.release.decide import decided_by_plan


def outcome_of(
    plan: ss.Plan,
    releases: Sequence[ss.Release] | Sequence[ss.GroupRelease],
    *,
    grouped: bool = False,
    question: ss.Question | None = None,
    **decided: Any,
) -> ss.Outcome:
    """The outcome of a decision for this plan, and `question` if it is given; with other parts of it as `decided`."""
    decision = decided_by_plan(plan)
    if grouped:
        decision = replace(decision, table=GroupBudget(plan.privacy, 1))
    if question is not None:
        decision = replace(decision, privacy=question.privacy)
    return ss.Outcome(replace(decision, **decided), list(releases), question=question)  # type: ignore[arg-type]
