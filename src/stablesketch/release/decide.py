"""`decide`: from a question to everything fixed before a pair is collected: the plan, the price, the terms.

What a release says about itself (ε, δ, what is protected) is decided here, in `Decision.terms`. No release is changed
after it is made, except that a ledger gives it a number. Every release, on this machine or on the workers of an engine,
follows a `Decision`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..bounding import budget
from ..bounding.groups import GroupBudget
from ..bounding.pilot import ANY_DELTA
from ..collector.releasing import terms_of_plan
from ..errors import PlanInfeasible
from ..ledger.record import Ask
from ..plan import Asked, Plan
from ..plan.in_words import instead_of
from ..plan.mechanism import measuring, mechanism_for
from ..plan.planner import planned
from ..privacy import Privacy
from ..privacy.charge import Charge
from ..statistic.published import Terms
from ..text.wording import arg
from .question import Question
from .shares import Share


@dataclass(frozen=True)
class Decision:
    """What will be released, by which plan, and at what price.

    `plan` is the plan of the number, or of each group. `table` says how a table divides its budget; it is None for one
    number. `shares` are the parts of the price, in the order in which they are spent; they add up. `terms` is what
    every release says about itself, and `ask` is what a ledger is asked for: both describe the whole.

    `privacy` is what was asked for, of everything together, with the max_value that was found and the number of pairs
    that were counted. That of `plan` may be only a group's own: other neighbours, and the ε that is left for it.
    """

    plan: Plan
    privacy: Privacy
    table: GroupBudget | None
    shares: tuple[Share, ...]
    terms: Terms
    ask: Ask

    @property
    def as_one(self) -> bool:
        """Whether the caller records it as one release: a table, or what follows a search for max_value. Otherwise
        the collector records it.
        """
        return self.table is not None or len(self.shares) > 1


def decide(
    question: Question,
    *,
    max_value: int | None = None,
    pairs: int | None = None,
    like: Plan | None = None,
    overlap: int = 1,
    public: bool | None = None,
    total: bool = False,
) -> Decision:
    """The decision on a question, given what is public or was found privately in the data.

    `max_value` is the maximum that was found, `pairs` the number of pairs if it is public, and `like` the plan under
    which they were collected before they were counted. `overlap` is the number of groups each pair is in, if groups
    overlap. `public` says whether all names are public, if `question.groups` does not decide it. With `total`, a
    release also has the noisy total that it is computed from, like the releases of a monitor.

    Raises:
        PlanInfeasible: the guarantee cannot be given.
    """
    found_for, privacy = price_of_finding(question, max_value)
    if pairs is not None:
        privacy = replace(privacy, pairs=pairs)
    whole = replace(privacy, epsilon=question.privacy.epsilon, groups=1)
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
        plan = planned(asked if like is None else asked.like(like))
        spent = plan.epsilon, plan.delta
    times = 1 if table is None else table.times
    shares.append(Share("values", budget.total([(plan.epsilon, times)]), budget.total([(plan.delta, times)])))
    return Decision(
        plan, whole, table, tuple(shares), _terms(question, spent, total=total), _ask(question, plan, table, spent)
    )


def decided_by_plan(plan: Plan, confidence: float = Question.confidence) -> Decision:
    """The decision on a collector of this plan, from the plan alone: everything was decided when it was made."""
    shares = (Share("values", plan.epsilon, plan.delta),)
    terms = terms_of_plan(plan, confidence)
    return Decision(plan, replace(plan.privacy, groups=1), None, shares, terms, Ask.of_plan(plan))


def _terms(question: Question, spent: tuple[float, float], *, total: bool) -> Terms:
    """ε and δ cover the whole release; after a search for max_value they are those that were asked for."""
    privacy = question.privacy
    epsilon, delta = spent if question.auto_max_value is None else (privacy.epsilon, privacy.delta)
    return Terms(
        epsilon, delta, privacy.relation, privacy.pairs_per_person, person=question.has_people,
        confidence=question.confidence, total=total,
    )  # fmt: skip


def _ask(question: Question, plan: Plan, table: GroupBudget | None, spent: tuple[float, float]) -> Ask:
    if question.auto_max_value is not None:
        return whole_ask(question)
    if table is None:
        return Ask.of_plan(plan, person=question.has_people)
    what = f"{question.statistic} by {', '.join(question.columns.by)}"
    return Ask.of_table(what, table.charge(plan), spent, question.privacy, person=question.has_people)


def whole_ask(question: Question) -> Ask:
    """What a ledger is asked for if max_value is found first. Plans depend on it, so only (ε, δ) is known."""
    whole = question.privacy.epsilon, question.privacy.delta
    charge = Charge("other", epsilon=whole[0], delta=whole[1])
    what = f"max_value, {question.statistic}"
    return Ask.of_table(what, charge, whole, question.privacy, person=question.has_people)


def ask_of_pilot(epsilon: float) -> Ask:
    """What a ledger is asked for if pairs_per_person is found. One person changes one count by 1: the loss is that of
    one number with this noise (bounding/pilot.py).
    """
    charge = Charge("exact", epsilon=epsilon, distance=1)
    return Ask.of_table("rows per person", charge, (epsilon, 0.0), Privacy(epsilon, ANY_DELTA), person=True)


def price_of_finding(question: Question, max_value: int | None = None) -> tuple[float, Privacy]:
    """(ε of finding max_value, the privacy left for the rest, with the max_value that was found)."""
    portion, privacy = 0.0, question.privacy
    if question.auto_max_value is not None:
        portion, rest = budget.split(privacy.epsilon, question.auto_max_value.share)
        privacy = replace(privacy, epsilon=rest)
    return portion, privacy if max_value is None else replace(privacy, max_value=max_value)


def before_counting(question: Question, max_value: int | None = None) -> Plan:
    """The plan under which pairs are collected if their number is public, but known only after the last one.

    The floor it needs is added at the release, by the plan of `decide(question, pairs=..., like=this)`.
    """
    _, privacy = price_of_finding(question, max_value)
    return planned(replace(question.asked, privacy=privacy).in_a_long_stream())


def touched(question: Question) -> int:
    """The number of groups that a neighbour can change: bounding/groups.py."""
    if question.has_people:
        return min(question.groups_per_person, question.privacy.pairs_per_person)
    return 2 if question.privacy.relation == "replace" else 1


def asked_of_a_group(question: Question) -> Asked:
    """What is asked of the plan of one group: by default, less memory the more groups there are."""
    asked = question.asked
    if asked.error is not None or asked.sized or not any(each.in_buckets for each in measuring(asked)):
        return asked
    return asked.in_table(None if question.groups is None else len(question.groups))


def _divided(question: Question, privacy: Privacy, overlap: int, *, public: bool) -> GroupBudget:
    """How `privacy` is divided: the part for choosing names, and the part of each group."""
    changed = overlap * touched(question)
    if public:
        return GroupBudget.of(privacy, changed, bare=question.bare, overlap=overlap)
    chosen, epsilon = budget.split(privacy.epsilon, question.selection_share)
    chosen_delta, delta = budget.split(privacy.delta, question.selection_share)
    left = replace(privacy, epsilon=epsilon, delta=delta)
    return GroupBudget.of(left, changed, (chosen, chosen_delta), bare=question.bare, overlap=overlap)


def _plan_of_a_group(question: Question, table: GroupBudget) -> Plan:
    asked = question.asked
    inputs = asked.statistic.inputs if question.groups is None else ()
    unpromised = next((each for each in inputs if mechanism_for(each, asked.mechanism).bare and not each.rises), None)
    if unpromised is not None:
        raise PlanInfeasible(
            f"a bare sketch of {question.statistic} by group needs a minimum number of pairs in every group, which "
            f"cannot be promised for private names. Pass {arg('mechanism', 'exact')}, or "
            f"{instead_of(question.statistic, unpromised)}, or list the public names ({arg('groups')}) and promise "
            f"{arg('pairs')} of each."
        )
    return table.checked(planned(replace(asked_of_a_group(question), privacy=table.privacy)))
