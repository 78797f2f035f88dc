"""Groups: one private number each. What a neighbour can change, and which group names may be shown.

Every group has a collector with its own secret, derived from one secret and the name of the group. The randomness of
one group is therefore independent of the others, and a pair touches only the collector of its group. Group sizes are
private, so every group is planned under add_remove.

**What a neighbour changes.** Let neighbours differ by c pairs in all, in at most k groups: c_g >= 1 of them in group g.

- *add_remove, one pair*: c = k = 1. All other groups have the same law, and the table is as private as one release.
- *add_remove, a person*: `persons.py` keeps at most c pairs of a person, in at most L groups: k = min(c, L).
- *replace*: each neighbour consists of the shared pairs and c more. Take a group where one neighbour has a pairs beyond
  the shared ones, and the other a'. Compare both with the shared pairs alone: the two numbers differ by no more than a
  and a' added pairs can cause together. That makes 2c pairs in up to 2c groups, and the table is planned as add_remove
  of these. (Within one group less would do. But a pair that moves from one group to another changes two releases.)
- *a pair that is in w groups at once*, as in sliding windows (engines/beam): w pairs in w groups.

A whole key (unit="key") can be in any number of groups, so it has no such bound, and `Question` refuses groups.

**Every group gets the whole ε** if its number is released with noise (mechanisms "sketch" and "exact"), because the
change between neighbours is divided among the groups, not multiplied. This rests on one lemma.

*Lemma.* Let Y_g = m_g + Z_g be independent, with noise Z_g that all have the same law: Laplace of scale b, or discrete
Laplace on the integers with integer m_g. If the m_g of neighbours differ by d_g, then all Y_g together have at most the
D_ε (sup over events of P - e^ε Q) of one Y whose m differs by Σ |d_g|.
*Proof.* Change one m_g after the other. For noise with a log-concave law, among all events that have probability a
before a shift by d, a half line that points away from the shift has the smallest probability afterwards (Neyman and
Pearson; where the law is discrete, the point at its end is taken in part): G_d(a), which rises with a and falls with
|d|. Given what the other groups show, this holds for the event that is left for group g; G_d is convex, so it also
holds for the average. After a shift the half line is again a half line, so G_{d'}(G_d(a)) = G_{|d|+|d'|}(a). After all
shifts an event of probability a still has probability at least G_{Σ|d_g|}(a), so P - e^ε Q is at most
a - e^ε G_{Σ|d_g|}(a), which the half line attains for one shift by Σ |d_g|. ∎

- *Moments by sketch*: given all ξ, group g is Laplace noise on F_g ξ_g, which moves by at most c_g M^p ξ_g. Normalised
  shifts add up to at most c M^p max ξ/b, where max ξ is the largest of the k independent ξ of the groups that change.
  Their law is the same on both neighbours, so D_ε <= E f(c M^p max ξ/b) (docs/math-noisy-estimate.md, with what
  rounding costs in every group). Norms of orders above one move by c_g M: the same with c M.
- *Exact moments*: integers that move by c_g M^p/step and one rounding each (`units_sensitivity` in
  privacy/exact_moment.py). The noise is for their sum D.
- *Totals N*: whole numbers that move by at most c_g M each, c M in all.
- *Distinct keys*: c_g each, c in all. With registers and phantoms, the probability that the phantoms are too few counts
  k times (privacy/distinct.py).
- *Entropy*: N_g (H_g - β_g) moves by at most c_g/c of what c pairs can cause, on a grid of its own; N_g as above. The
  probability that a bound of N_g is too small counts k times (privacy/entropy/noise.py).

Several numbers of one group, such as F_p and N of a Hill number, have independent noise. For each of these numbers the
groups form one table, by the lemma, and the tables compose as releases of one stream do. The plan of a group, made for
Privacy(ε, δ, "add_remove", pairs_per_person=c, groups=k), therefore has the price of the whole table, once.

**Bare entries** (mechanism="bare") have no such lemma. There each of the k groups is planned for all c pairs at (ε/k,
δ/k), so that (ε, δ) is certain by sequential composition. The stated price is lower: the composed losses of k such
groups, each as if all c pairs were its own. (Added pairs raise F_p in every group and removed ones lower it, so the two
directions are composed separately. Where one group gains what another loses, each counts the worse of its directions.)
`pairs` above 0 is a promise about every listed group.
A replaced pair that stays in its group changes F_p + Λ by a factor of at most (Λ + s^p + M^p)/(Λ + (s+1)^p) <= 1 +
M^p/Λ, which is what adding a pair may do. One that leaves its group changes two groups: k = 2. Entropy may change by
more, because the increase and the decrease combine; and of several moments, one may rise while another falls. Where
entropy, or more than one sketch, is released, the cost of replacing a pair within its group is therefore computed
(`GroupBudget.checked`). If it is within (2ε, 2δ), the added-up cost of two groups covers it, and that is the stated
price. Otherwise the plan is refused.

**Which names may be shown.** If the names are public (a list that was not made from the data), every listed group has a
release, even one without pairs; pairs of other groups are left out. Otherwise a name is shown only if a noisy count of
the group reaches a threshold. The count is of people if there is a person column, otherwise of pairs: a neighbour
changes at most k counts by at most 1 each. Noise: discrete Laplace of scale b = k/ε_s. Threshold T: an integer with
P(1 + noise >= T) <= δ_s/k. Then the set of names is (ε_s, δ_s)-private. Whether one group's name is shown is a
mechanism by itself, with its own noise, and the change reaches at most k of them:

- a group that both neighbours have: its count changes by 1, so the odds of being shown change by a factor of at most
  e^{1/b}: (ε_s/k, 0);
- a group that only one neighbour has: its count is 1 there, so it is shown with probability at most δ_s/k, and for the
  other neighbour never: (0, δ_s/k).

Either way (ε_s/k, δ_s/k), and sequential composition over k of them gives (ε_s, δ_s).

The names are chosen first; the releases of their groups follow, with independent randomness. What is not shown can be
thought of as released and thrown away, so neither step depends on what the other found. Both compose by their losses,
as they do in a ledger with everything else recorded there: `GroupBudget.charge`.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..errors import PlanInfeasible
from ..plan import Plan
from ..plan.mechanism import charge_of, mechanism_of
from ..plan.plan import altered
from ..privacy import Privacy, discrete_laplace
from ..privacy.charge import Charge
from ..privacy.together import composed
from ..secret import Secret
from ..text.wording import arg
from .budget import divided, total

Name = tuple[str, ...]


@dataclass(frozen=True)
class GroupBudget:
    """How the (ε, δ) asked for a whole table is divided between choosing its names and its groups.

    `touched` is how many groups a neighbour can change. With noise, the cost of one group covers all of them
    (`times` = 1); bare entries cost it `times` times. Choosing names costs nothing if they are public.
    """

    privacy: Privacy  # of one group
    touched: int
    selection_epsilon: float = 0.0
    selection_delta: float = 0.0
    times: int = 1
    replaced: bool = False  # whether the table was asked for under replace

    @classmethod
    def of(
        cls, whole: Privacy, touched: int, selection: tuple[float, float] = (0.0, 0.0), *, bare: bool = False,
        overlap: int = 1,
    ) -> GroupBudget:  # fmt: skip
        """The budget of each group, from what is left for the groups after `selection`.

        `overlap` is how many groups a pair is in.
        """
        replaced = whole.relation == "replace"
        each = replace(whole, relation="add_remove")
        if bare:
            each = replace(each, epsilon=divided(whole.epsilon, touched), delta=divided(whole.delta, touched))
            return cls(each, touched, *selection, times=touched, replaced=replaced)
        changed = whole.pairs_per_person * overlap * (2 if replaced else 1)
        each = replace(each, pairs_per_person=changed, groups=min(touched, changed))
        return cls(each, touched, *selection, replaced=replaced)

    def checked(self, plan: Plan) -> Plan:
        """The plan of each group, unless it is bare and a pair replaced within its group costs more than (2ε, 2δ).

        Raises:
            PlanInfeasible: it costs more.
        """
        if not self._moves_both_ways(plan):
            return plan
        (law,) = charge_of(_within(plan)).laws("replace")
        if law.delta(2.0 * plan.epsilon) > 2.0 * plan.delta:
            raise PlanInfeasible(
                f"replacing a pair within its group changes {plan.statistic} by more than adding or removing one, "
                f"which the ε of two groups does not cover. Pass {arg('relation', 'add_remove')}."
            )
        return plan

    def _moves_both_ways(self, plan: Plan) -> bool:
        """Whether a pair replaced within its group may cost more there than one that is added or removed.

        Noise on a number costs the same whichever way the number moves, and no more if a pair is replaced.
        """
        bare = [one for one in plan.measurements if mechanism_of(one).bare]
        return self.replaced and (len(bare) > 1 or any(not one.statistic.rises for one in bare))

    def added_up(self, epsilon: float, delta: float) -> tuple[float, float]:
        """(ε, δ) of the table if the plan of a group reaches (epsilon, delta), by basic composition."""
        return (
            total([(epsilon, self.times), (self.selection_epsilon, 1)]),
            total([(delta, self.times), (self.selection_delta, 1)]),
        )

    def charge(self, plan: Plan) -> Charge:
        """The cost of the whole table: choosing names, and all groups together. Proof at the top of this file."""
        epsilon, delta = self.added_up(plan.epsilon, plan.delta)
        if self._moves_both_ways(plan):
            return Charge("other", epsilon=epsilon, delta=delta)
        charges = [charge_of(plan)] * self.times
        if self.selection_epsilon:
            charges.append(Charge("other", epsilon=self.selection_epsilon, delta=self.selection_delta))
        if len(charges) == 1:
            return charges[0]
        found = composed(charges, "replace" if self.replaced else "add_remove", delta)
        return found if found.epsilon < epsilon else replace(found, epsilon=epsilon)


def _within(plan: Plan) -> Plan:
    """The plan as if pairs of its group were replaced: used only to compute that cost, never to release."""
    inside = replace(plan.privacy, relation="replace")
    return altered(plan, privacy=inside, inputs=tuple(_within(one) for one in plan.inputs))


def group_secret(secret: Secret, name: Name) -> Secret:
    """The secret of one group of a release: derived, so that every part that reads its pairs gets the same one."""
    return secret.derive_secret(f"group/{json.dumps(name)}")


def selected(
    counts: Iterable[tuple[Name, int]],
    budget: GroupBudget,
    below: Callable[[int], int] = secrets.randbelow,
) -> Iterator[Name]:
    """The names whose noisy counts reach the threshold. Proof at the top of this file."""
    scale = Fraction(budget.touched) / Fraction(budget.selection_epsilon)
    least = threshold(budget)
    for name, count in counts:
        if count + discrete_laplace.sample(scale, below) >= least:
            yield name


def threshold(budget: GroupBudget) -> int:
    """The smallest integer T with P(1 + X >= T) = P(X > T - 2) <= δ_s/touched for discrete Laplace X of scale b."""
    scale = Fraction(budget.touched) / Fraction(budget.selection_epsilon)
    return discrete_laplace.quantile(scale, 1 - Fraction(budget.selection_delta) / budget.touched) + 2


_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_PIECES = re.compile(r"(\D*)(\d{0,15})")
_DAY = re.compile(r"\d{4}-\d\d(-\d\d)?")


def in_natural_order(names: Iterable[Name]) -> list[Name]:
    """The names in natural order: numbers by their size, also within a text.

    >>> in_natural_order([("FR", "10"), ("FR", "9"), ("DE", "10")])
    [('DE', '10'), ('FR', '9'), ('FR', '10')]
    >>> in_natural_order([("site 10",), ("site 9",)])
    [('site 9',), ('site 10',)]
    """
    return sorted(names, key=lambda name: [_place(part) for part in name])


def _place(part: str) -> tuple[float, list[tuple[str, int]], str]:
    """Where part of a name stands: by its number, or by the texts and whole numbers that it consists of."""
    number = 0.0 if _NUMBER.fullmatch(part) is None else float(part)
    return number, [(text, int(digits or -1)) for text, digits in _PIECES.findall(part)], part


def are_numbers(names: Iterable[Name]) -> bool:
    """Whether these names, if there are any, are numbers, months or days, which have a natural order."""
    parts = [part for name in names for part in name]
    return bool(parts) and all(_NUMBER.fullmatch(part) or _DAY.fullmatch(part) for part in parts)
