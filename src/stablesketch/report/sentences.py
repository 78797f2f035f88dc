"""A release in sentences: what was asked, what it cost, what it protects and what it does not, and what was done."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..bounding.persons import groups_of_each
from ..plan import Plan
from ..plan.in_words import of_one_person, used
from ..plan.mechanism import mechanism_of, needs_promise
from ..privacy import Privacy
from ..privacy.advice import EXCEEDED, WEAK_EPSILON, suspicion
from ..release.shares import Share, in_words
from ..statistic.published import Release
from ..text.spoken import at_most, one_in, price_in_words

_EXPONENT = 700.0  # e^709 is the largest float


@dataclass(frozen=True)
class Explained:
    """A release, or a table of `groups` groups with the first of their releases.

    `privacy` is what was asked for, of everything together; that of `plan` may be only a group's. `person` says that
    people are protected, each of whom counts in at most `groups_per_person` groups. `pair` is the word for a pair.
    Values above `clipped_to`, if given, count as `clipped_to`. `counted` says that the number of pairs was counted.
    """

    plan: Plan
    privacy: Privacy
    release: Release
    shares: tuple[Share, ...]
    groups: int
    person: bool
    groups_per_person: int
    pair: str
    clipped_to: int | None = None
    counted: bool = False

    @property
    def unit(self) -> str:
        """What is protected if it is not a person."""
        return self.pair if self.privacy.unit == "pair" else self.privacy.unit

    @property
    def protects_people(self) -> bool:
        """Whether people are protected: their pairs are bounded, or every key is one person."""
        return self.person or self.privacy.unit == "key"

    @property
    def _counted(self) -> str:
        """What a noisy count of a group counts."""
        return "people" if self.person else f"{self.unit}s"

    @property
    def _value(self) -> str:
        """What a maximum value limits."""
        return "total" if self.privacy.unit == "key" else "value"

    def paid_for(self, purpose: str) -> bool:
        """Whether a part of the price was paid for this."""
        return any(share.purpose == purpose for share in self.shares)

    def terms(self) -> list[tuple[str, str]]:
        """The question as it was before any data were read, as a table of names and texts. A number of pairs that was
        counted, and a maximum value that was found, are in it too: both are public.
        """
        plan, privacy = self.plan, self.privacy
        keys = privacy.unit == "key"
        least = f"at least {privacy.pairs:,}" if privacy.pairs else "nothing about the number of"
        promised = [("promised", f"{least} {privacy.unit}s")] if needs_promise(plan) else []
        if self.counted:
            promised = [("counted", f"{privacy.pairs:,} {self.unit}s; under replace their number is public")]
        each, most = f"every {privacy.unit} counts 1", f"whole numbers from 1 to {privacy.max_value:,}"
        larger = "" if self.clipped_to is None else f"; larger ones count as {self.clipped_to:,}"
        return [
            ("statistic", f"{plan.statistic}: {plan.statistic.definition()}"),
            ("privacy", f"at most {price_in_words(privacy.epsilon, privacy.delta)} in all"),
            ("relation", f"{privacy.relation}: {self.change()}"),
            *([("unit", "key: every key is one person, and occurs once with its total")] if keys else []),
            *promised,
            ("totals of keys" if keys else "values", f"{most if privacy.max_value > 1 else each}{larger}"),
        ]

    def change(self) -> str:
        """The difference between neighbours."""
        privacy = self.privacy
        c = privacy.pairs_per_person
        if self.person:
            return f"1 person added or removed, with all that they did (at most {used(c, self.pair)})"
        units = f"1 {privacy.unit}" if c == 1 else f"up to {c:,} {privacy.unit}s of one person"
        return f"{units} replaced by others" if privacy.relation == "replace" else f"{units} added or removed"

    def cost(self) -> str:
        """ε and δ, what they mean, and, if they were divided, what they were spent on."""
        epsilon, delta = self.release.epsilon, self.release.delta
        whole = " for the whole table" if self.groups else ""
        many = len(self.shares) > 1
        divided = f": {in_words(self.shares, epsilon, grouped=bool(self.groups))}" if many else ""
        spent = at_most(epsilon)
        factor = at_most(math.exp(epsilon), 3) if epsilon < _EXPONENT else f"e^{spent}"
        excess = f", plus a probability of at most {one_in(delta)} (δ)" if delta else ""
        most = at_most(self.privacy.epsilon)
        asked = f" At most ε = {most} was asked for; {spent} was used." if most != spent else ""
        return (
            f"ε = {spent} and δ = {at_most(delta, 3)}{whole}{divided}.{asked} Any conclusion from "
            f"what is published here is at most {factor} times as likely because of {self._act()}"
            f"{excess}. Every further release of the same data costs its own ε on top of this."
        )

    def _act(self) -> str:
        if self.person:  # whose rows were bounded
            return "one person being in the data"
        units = of_one_person(self.privacy.pairs_per_person, self.unit)
        if self.privacy.relation == "replace":
            return f"what {units} {'said' if self.privacy.unit == 'pair' else 'had'}"
        return f"{units} being in the data"

    def whom(self, published: str = "this page") -> str:
        """Who is protected, and how well, in words that need no explanation.

        The bound on a suspicion and its exception are proved in `privacy.advice.suspicion`. ε and δ are those of the
        release: everything that was spent, including on names of groups. Those of the plan are for the numbers only.

        Under add_remove ε is for whether a person is in the data. Two things that they may have done are two steps
        apart, through data without the person: 2 ε and (1 + e^ε) δ.
        """
        privacy, epsilon, delta = self.privacy, self.release.epsilon, self.release.delta
        c, weak = privacy.pairs_per_person, epsilon > WEAK_EPSILON
        same = f"{published} {'could have come out quite differently' if weak else 'would have come out much the same'}"
        verdict = " That is little protection." if weak else ""
        once = _becomes(epsilon, delta)
        records = of_one_person(c, "record" if self.pair == "row" else self.pair)
        if privacy.unit == "key":
            records = "one person's total" if c == 1 else f"{c:,} totals of one person"
        if privacy.unit == "individual":
            records = "one individual" if c == 1 else f"{c:,} individuals"
        if privacy.relation == "replace":
            which = "it says" if c == 1 else "they say"
            return f"Whatever any {records} had said, {same}. A suspicion of 50% about what {which} {once}.{verdict}"
        if self.protects_people:
            twice = _becomes(2.0 * epsilon, (1.0 + math.exp(min(epsilon, _EXPONENT))) * delta)
            return (
                f"Every person is protected. With or without any one person's data, {same}. A suspicion of 50% that "
                f"someone is in the data {once}. One about what they did {twice}.{verdict}"
            )
        them = "it is" if c == 1 else "they are"
        more = f"several {self.unit}s" if c == 1 else f"more than {c:,} {self.unit}s"
        are = "are" if self.unit == "individual" else "is"
        return (
            f"With or without any {records}, {same}. A suspicion of 50% that {them} in the data {once}.{verdict} "
            f"{self._those_with(more)} {are} protected less."
        )

    def _those_with(self, more: str) -> str:
        """Who contributed more than is protected. Individuals are not the pairs of a person."""
        return f"{more[:1].upper()}{more[1:]} together" if self.unit == "individual" else f"A person with {more}"

    def limits(self) -> str:
        """What the interval covers, and what it does not."""
        c, most = self.privacy.pairs_per_person, self.clipped_to
        measured = "pairs collected" if self.pair == "pair" else "data"  # a stored sketch knows of nothing before it
        if self.person:
            measured = f"{self.pair}s used, at most {c:,} of each person"
        if most is not None:
            measured += f", with {self._value}s above {most:,} counted as {most:,}"
        said = [
            f"Limits hold the true value in {100 * self.release.confidence:g} of 100 releases: the value of the "
            f"{measured}, before sketch and noise. They say nothing about a population that the data were sampled from."
        ]
        if self.person and self.groups:
            said.append(groups_of_each(self.groups_per_person, self.pair))
        moves = []
        if self.person:
            moves.append((f"leaving out the other {self.pair}s", f"one person with very many {self.pair}s"))
        if most is not None:
            moves.append((f"counting larger {self._value}s as {most:,}", f"one very large {self._value}"))
        return " ".join([*said, *([self._moved(moves)] if moves else [])])

    def _moved(self, moves: list[tuple[str, str]]) -> str:
        """How far limits on the data may have moved the value: each with what could decide it. No public number bounds
        it.
        """
        rises = all(point.rises for point in self.plan.statistic.points)
        moved = "can only lower the value" if rises else "can move the value either way"
        causes = " and ".join(cause for cause, _ in moves)
        return (
            f"{causes[:1].upper()}{causes[1:]} {moved}; the limits do not include that. How far cannot be published, "
            f"because {' or '.join(one for _, one in moves)} could decide it; those who hold the data can compute it."
        )

    def protected(self) -> list[str]:
        """What the release does not reveal."""
        found = [self._protected()]
        whom = "that person" if self.person or self.privacy.pairs_per_person > 1 else f"that {self.unit}"
        if self.paid_for("names"):
            found.append(
                f"That a group is shown because of {whom}: its name appears only if a noisy count of its "
                f"{self._counted} is large enough. Groups that are not shown may exist."
            )
        if self.paid_for("max_value"):
            found.append(
                f"That the values are as large as they are because of {whom}: the maximum value, "
                f"{self.privacy.max_value:,}, was found from noisy counts. Larger values count as the maximum."
            )
        return found

    def _protected(self) -> str:
        privacy = self.privacy
        c = privacy.pairs_per_person
        if privacy.unit == "key":
            whole = "any one key, which is one person," if c == 1 else f"any {c:,} keys of one person"
            if privacy.relation == "replace":
                whole = f"What {whole} {'has' if c == 1 else 'have'}: the whole total"
                return f"{whole}. It could have been anything from 1 to {privacy.max_value:,}."
            return f"Whether {whole} {'is' if c == 1 else 'are'} in the data at all, and with what total."
        rows = f"any one {self.unit}" if c == 1 else f"any {c:,} {self.unit}s of one person"
        if privacy.relation == "replace":
            return f"What {rows} said: key and value. It could have been anything else."
        if self.person:
            had = f"however many {self.unit}s they had: at most {c:,} of these were used"
            return f"Whether any one person is in the data at all, {had}."
        return f"Whether {rows} {'is' if c == 1 else 'are'} in the data at all."

    def not_protected(self) -> list[str]:
        """What the guarantee does not cover, so that nobody relies on more than is true."""
        release, unit = self.release, self.unit
        found = []
        if release.relation == "replace":
            found.append(
                f"How many {unit}s there are{'' if release.pairs is None else f' ({release.pairs:,})'}. It is public."
            )
        if not self.person:
            c = release.pairs_per_person
            more = f"more than one {unit}" if c == 1 else f"more than {c:,} {unit}s"
            found.append(f"{self._those_with(more)}: the more {unit}s, the less they are protected.")
        if self.groups and not self.paid_for("names"):
            found.append("The names of the groups: they were listed and are public. A listed group may be empty.")
        found += [
            "What is true of everyone. If the number itself says something about a group, so does this release.",
            "Anything from those who hold the data, or who held the secret or the state during the computation.",
            "Other releases from the same data. Together they cost more than each alone.",
        ]
        return found

    def chosen(self) -> list[str]:
        """How the choices before the release were made."""
        noise = "was given discrete Laplace noise, drawn exactly, from the operating system"
        ways = {
            "max_value": f"Values were counted by their number of binary digits; every count {noise}, and "
            "the maximum value was taken from them. Larger values count as that maximum.",
            "names": f"The {self._counted} of every group were counted; every count {noise}, and names of "
            "groups with small counts are not shown.",
        }
        return [ways[share.purpose] for share in self.shares if share.purpose in ways]


def computed(plan: Plan) -> list[str]:
    """How the number was computed from the stream, measurement by measurement."""
    measured = [(mechanism_of(one), one) for one in plan.measurements]
    found = [sentence for way, one in measured for sentence in way.methods(one)]
    found += dict.fromkeys(reason for way, one in measured if (reason := way.reason(one)))
    if needs_promise(plan):
        found.append("The numbers were rounded to a public grid; the cost of finite precision is part of δ.")
    found.append(
        "All randomness comes from a secret of 256 bits that was drawn for this release only and is now spent: weights "
        "by AES-128, noise by SHAKE-256."
    )
    return [*found, *mechanism_of(plan).methods(plan)] if plan.inputs else found


def _becomes(epsilon: float, delta: float) -> str:
    """What a suspicion of 50% becomes by reading something (ε, δ)-private."""
    most, chance = suspicion(epsilon, delta), min(EXCEEDED * delta, 1.0)
    no_exception = chance == 0.0 or (chance == 1.0 and most == "100%")
    apart = "" if no_exception else f", except with a chance of at most {one_in(chance)}"
    return f"becomes at most {most} by reading it{apart}"
