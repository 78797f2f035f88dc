"""Groups: one private number each. What a neighbour can change, and which group names may be told.

**What a neighbour changes.** Every group has a collector with a secret of its own, derived from one secret and the
name of the group, so its entries are independent of those of other groups, and a pair touches the collector of its
group alone. Group sizes are private: a group planned under replace would have to publish its number of pairs, and a
replaced pair can leave one group for another. So every group is planned under add_remove, with a floor that carries
streams of any length. (`pairs` above 0 is a promise about every listed group: with add_remove, both neighbours have
that many.)

- *add_remove, one pair*: one group changes, by one pair. All other releases have the same law, independent of it, so
  the table is as private as one release: (ε, δ).
- *replace, one pair*: if it stays in its group, F_p + Λ changes by a factor of at most (Λ + s^p + M^p)/(Λ + (s+1)^p) <=
  1 + M^p/Λ, which is what adding a pair may do. If it changes its group, one group loses a pair and one gains one. So
  at most two groups change, each as by adding or removing one pair: by sequential composition (2ε, 2δ).
  Of other statistics: if it stays, the number of keys and N change by no more than adding a pair may do (N by M - 1).
  Entropy may change by more, since what adding raises and what it lowers come together; and of several moments at once
  one may rise and another fall, where adding raises all. So where entropy, or more than one sketch, is released, what
  a replaced pair costs within its group is computed: by the sensitivities of replace, and the worse direction of every
  part (privacy/mechanism.py). Within (2ε, 2δ) it is covered by what two groups cost; otherwise the plan is refused.
- *add_remove, a person*: `persons.py` leaves pairs of one person in at most L groups, at most c pairs in all, so at
  most L groups change, each by at most c pairs: (Lε, Lδ).

A whole key (unit="key") can be in any number of groups, so for it there are none: `Task` refuses them.

So with `touched` = 1, 2 or L groups, each group is planned for (ε/touched, δ/touched). That is basic composition:
sound, not tight.

**Which names may be told.** If the names are public (a list that was not made from the data), every group of the list
has a release, also one without pairs; pairs of other groups are left out. Otherwise a name is shown only if a noisy
count of the group reaches a threshold. Count people where there is a person column, else pairs: a neighbour changes at
most `touched` counts by at most 1 each. Noise: discrete Laplace of scale b = touched/ε_s. Threshold T: an integer with
P(1 + noise >= T) <= δ_s/touched. Then the set of names is (ε_s, δ_s)-private. Whether one group's name is shown is a
mechanism by itself, with noise of its own, and at most `touched` of them see anything of the change:

- a group that both neighbours have: its count changes by 1, so the odds of being shown by a factor of at most
  e^{1/b}: (ε_s/touched, 0);
- a group that one neighbour has alone: its count is 1 there, so it is shown with probability at most δ_s/touched, and
  for the other neighbour never: (0, δ_s/touched).

Either way (ε_s/touched, δ_s/touched), and sequential composition over `touched` of them gives (ε_s, δ_s).

The shown set comes first, the releases of its groups after: their costs add up.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..errors import PlanInfeasible
from ..plan import Plan
from ..plan.charge import charge_of
from ..privacy import Privacy, discrete_laplace
from ..secret import Secret
from ..statistic import Shannon
from .budget import divided, total

__all__ = ["GroupBudget", "Name", "group_secret", "selected", "threshold"]

Name = tuple[str, ...]


@dataclass(frozen=True)
class GroupBudget:
    """How the (ε, δ) that is asked for a whole table is divided: to choose its names, and to each group.

    `epsilon` and `delta` are for the groups together; those of the selection are 0 where the names are public.
    """

    privacy: Privacy  # of one group
    touched: int
    selection_epsilon: float = 0.0
    selection_delta: float = 0.0
    replaced: bool = False  # whether what is asked for the table is about replaced pairs

    @classmethod
    def of(cls, asked: Privacy, touched: int, selection: tuple[float, float] = (0.0, 0.0)) -> GroupBudget:
        """The budget of each group from what is left for the groups; `selection` was taken out of it before."""
        each = Privacy(
            epsilon=divided(asked.epsilon, touched),
            delta=divided(asked.delta, touched),
            pairs=asked.pairs,
            max_value=asked.max_value,
            relation="add_remove",
            pairs_per_person=asked.pairs_per_person,
            unit=asked.unit,
        )
        return cls(each, touched, *selection, replaced=asked.relation == "replace")

    def checked(self, plan: Plan) -> Plan:
        """The plan of each group, if a pair that is replaced within its group costs no more than (2ε, 2δ) of it.

        Raises:
            PlanInfeasible: it costs more.
        """
        # Noise on an exact number costs the same whichever way that number moves, and no more if a pair is replaced.
        sketched = [part.statistic for part in plan.parts or (plan,) if part.mechanism == "sketch"]
        if not self.replaced or (len(sketched) < 2 and Shannon() not in sketched):
            return plan
        (law,) = charge_of(_within(plan)).laws("replace")
        if law.delta(2.0 * plan.epsilon) > 2.0 * plan.delta:
            raise PlanInfeasible(
                f"a pair that is replaced within its group changes {plan.statistic} by more than one that comes or "
                "goes, and the ε of two groups does not cover that. Pass relation='add_remove'."
            )
        return plan

    def spent(self, epsilon: float, delta: float) -> tuple[float, float]:
        """(ε, δ) of the table if each group reaches (epsilon, delta)."""
        return (
            total([(epsilon, self.touched), (self.selection_epsilon, 1)]),
            total([(delta, self.touched), (self.selection_delta, 1)]),
        )


def _within(plan: Plan) -> Plan:
    """The plan as if its group were a stream of which pairs are replaced: for what that costs, not to be released."""
    inside = replace(plan.privacy, relation="replace")
    return replace(plan, privacy=inside, parts=tuple(_within(part) for part in plan.parts))


def group_secret(secret: Secret, name: Name) -> Secret:
    """The secret of one group of a release: derived, so that wherever its pairs are met the same one is found."""
    return secret._derived(f"group/{json.dumps(name)}")


def selected(
    counts: Iterable[tuple[Name, int]],
    budget: GroupBudget,
    below: Callable[[int], int] = secrets.randbelow,
) -> Iterator[Name]:
    """The names whose noisy counts reach the threshold. Proof at the head of this file."""
    scale = Fraction(budget.touched) / Fraction(budget.selection_epsilon)
    least = threshold(budget)
    for name, count in counts:
        if count + discrete_laplace.sample(scale, below) >= least:
            yield name


def threshold(budget: GroupBudget) -> int:
    """The least integer T with P(1 + X >= T) = P(X > T - 2) <= δ_s/touched for discrete Laplace X of scale b."""
    scale = Fraction(budget.touched) / Fraction(budget.selection_epsilon)
    return discrete_laplace.quantile(scale, 1 - Fraction(budget.selection_delta) / budget.touched) + 2
