"""`decide`: from a question to all that is fixed before a pair is collected: the plan, the price, and what is said.

What a release says of itself (ε, δ, what is protected) is decided here, in `Decision.terms`, and no release is changed
after it was made, but for the number that a ledger gives it. Whoever releases, on this machine or on the workers of an
engine, does it by a `Decision`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..bounding import budget
from ..bounding.groups import GroupBudget
from ..collector.releasing import terms_of_plan
from ..errors import PlanInfeasible
from ..ledger.record import Ask
from ..plan import Asked, Plan
from ..plan.mechanism import mechanism_for
from ..plan.planner import planned_for_data, planned_long
from ..plan.ways_out import instead_of
from ..privacy import Privacy
from ..privacy.charge import Charge
from ..published import Terms
from ..wording import arg
from .outcome import Share
from .question import Question


@dataclass(frozen=True)
class Decision:
    """What will be released, by which plan, and what for.

    `plan` is that of the number, or of each group. `table` says how a table divides its budget; None for one number.
    `shares` are what of the price goes where, in the order in which it is spent; they add up. `terms` are what every
    release says, `ask` is what a ledger is asked for: both are about all of it.
    """

    plan: Plan
    table: GroupBudget | None
    shares: tuple[Share, ...]
    terms: Terms
    ask: Ask

    @property
    def as_one(self) -> bool:
        """Whether it is recorded as one: a table, and what follows a search for max_value. Else by its collector."""
        return self.table is not None or len(self.shares) > 1


def decide(
    question: Question,
    *,
    max_value: int | None = None,
    pairs: int | None = None,
    like: Plan | None = None,
    overlap: int = 1,
    public: bool | None = None,
) -> Decision:
    """What is decided of a question, with what was learnt from the data where it was found out privately or is public.

    `max_value` is the one that was found, `pairs` their number where that is public, `like` the plan under which they
    were collected before they were counted. `overlap` is how many groups each pair is in, where they overlap; `public`,
    whether all names are, if that is not as `question.groups` says.

    Raises:
        PlanInfeasible: the guarantee cannot be given.
    """
    found_for, privacy = price_of_finding(question)
    if max_value is not None:
        privacy = replace(privacy, max_value=max_value)
    if pairs is not None:
        privacy = replace(privacy, pairs=pairs)
    shares = [] if question.auto_max_value is None else [Share("max_value", found_for, 0.0)]
    table = None
    if question.columns.by:
        named = question.groups is not None if public is None else public
        table = _divided(question, privacy, overlap, public=named)
        plan = _plan_of_a_group(question, table)
        charge = table.charge(plan)
        spent = charge.epsilon, charge.delta
        if table.selection_epsilon:
            shares.append(Share("names", table.selection_epsilon, table.selection_delta))
    else:
        asked = replace(question.asked, privacy=privacy)
        plan = planned_for_data(asked if like is None else asked.like(like))
        spent = plan.epsilon, plan.delta
    times = 1 if table is None else table.times
    shares.append(Share("values", budget.total([(plan.epsilon, times)]), budget.total([(plan.delta, times)])))
    return Decision(plan, table, tuple(shares), _terms(question, spent), _ask(question, plan, table, spent))


def decide_stored(plan: Plan, confidence: float) -> Decision:
    """What is decided of a collector by its plan alone: all that was asked, was asked when it was made."""
    shares = (Share("values", plan.epsilon, plan.delta),)
    return Decision(plan, None, shares, terms_of_plan(plan, confidence), Ask.of_plan(plan))


def _terms(question: Question, spent: tuple[float, float]) -> Terms:
    """ε and δ are those of all of it: with a search for max_value, whatever was asked for."""
    asked = question.privacy
    epsilon, delta = spent if question.auto_max_value is None else (asked.epsilon, asked.delta)
    return Terms(
        epsilon, delta, asked.relation, asked.pairs_per_person, person=question.of_people,
        confidence=question.confidence,
    )  # fmt: skip


def _ask(question: Question, plan: Plan, table: GroupBudget | None, spent: tuple[float, float]) -> Ask:
    if question.auto_max_value is not None:
        return whole_ask(question)
    if table is None:
        return Ask.of_plan(plan, person=question.of_people)
    what = f"{question.statistic} by {', '.join(question.columns.by)}"
    return Ask.of_table(what, table.charge(plan), spent, question.privacy, person=question.of_people)


def whole_ask(question: Question) -> Ask:
    """What a ledger is asked for where max_value is found first: of plans that depend on it (ε, δ) alone is known."""
    whole = question.privacy.epsilon, question.privacy.delta
    charge = Charge("other", epsilon=whole[0], delta=whole[1])
    what = f"max_value, {question.statistic}"
    return Ask.of_table(what, charge, whole, question.privacy, person=question.of_people)


def price_of_finding(question: Question) -> tuple[float, Privacy]:
    """(ε of finding max_value, what is left for the rest)."""
    if question.auto_max_value is None:
        return 0.0, question.privacy
    part, rest = budget.split(question.privacy.epsilon, question.auto_max_value.share)
    return part, replace(question.privacy, epsilon=rest)


def before_counting(question: Question, max_value: int | None = None) -> Plan:
    """The plan under which pairs are collected whose number is public, but known only at their end.

    The floor that it needs is added at the release, by the plan of `decide(question, pairs=..., like=this)`.
    """
    _, privacy = price_of_finding(question)
    if max_value is not None:
        privacy = replace(privacy, max_value=max_value)
    return planned_long(replace(question.asked, privacy=privacy))


def touched(question: Question) -> int:
    """How many groups a neighbour can change: bounding/groups.py."""
    if question.of_people:
        return min(question.groups_per_person, question.privacy.pairs_per_person)
    return 2 if question.privacy.relation == "replace" else 1


def asked_of_a_group(question: Question) -> Asked:
    """What is asked of the plan of one group: where nobody asked for a size, less of it the more groups there are."""
    return question.asked.in_table(None if question.groups is None else len(question.groups))


def _divided(question: Question, privacy: Privacy, overlap: int, *, public: bool) -> GroupBudget:
    """What of `privacy` goes to choosing names, and what to each group."""
    changed = overlap * touched(question)
    if public:
        return GroupBudget.of(privacy, changed, bare=question.bare, overlap=overlap)
    chosen, epsilon = budget.split(privacy.epsilon, question.selection_share)
    chosen_delta, delta = budget.split(privacy.delta, question.selection_share)
    left = replace(privacy, epsilon=epsilon, delta=delta)
    return GroupBudget.of(left, changed, (chosen, chosen_delta), bare=question.bare, overlap=overlap)


def _plan_of_a_group(question: Question, table: GroupBudget) -> Plan:
    bare = question.statistic.inputs if question.bare and question.groups is None else ()
    unpromised = next((each for each in bare if not mechanism_for(each, "bare").monotone), None)
    if unpromised is not None:
        raise PlanInfeasible(
            f"a bare sketch of {question.statistic} by group takes a promise of how many pairs "
            f"every group has, and private names have none. Pass {arg('mechanism', 'exact')}, "
            f"or {instead_of(question.statistic, unpromised)}, or list the public names ("
            f"{arg('groups')}) and promise {arg('pairs')} of each."
        )
    return table.checked(planned_for_data(replace(asked_of_a_group(question), privacy=table.privacy)))
