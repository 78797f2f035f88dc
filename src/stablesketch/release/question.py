"""`Question`: everything a release from data is asked for, checked before anything is read.

Users pass it as arguments, which are listed in arguments.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..bounding import budget
from ..bounding.groups import Name
from ..bounding.in_one_pass import groups_of_person
from ..bounding.max_value import AutoMaxValue
from ..errors import HIDDEN, ArgumentError, check_type
from ..plan import Asked
from ..plan.mechanism import measuring
from ..privacy import Privacy
from ..reading.arguments import Reading
from ..reading.columns import Columns, OnBad, check_on_bad
from ..reading.found import Input
from ..sketch.estimators import checked_confidence
from ..statistic import Statistic, Subject
from ..text.wording import arg


@dataclass(frozen=True)
class Question:
    """A question about data: what to release, from which columns, and how to read them.

    Usually made by `ss.question`, or from the arguments of `ss.release`, which explains them.
    """

    asked: Asked
    columns: Columns
    groups: Sequence[Name] | None = None
    groups_per_person: int = 1
    selection_share: float = 0.1
    count_pairs: bool | None = None
    clip: bool = False
    auto_max_value: AutoMaxValue | None = None
    on_bad: OnBad = Reading.on_bad
    confidence: float = 0.95
    input: Input = field(default_factory=Input)

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", checked_confidence(self.confidence))
        check_on_bad(self.on_bad)
        if self.asked.sampling is not None:
            raise ArgumentError(
                "sampling", self.asked.sampling.rate, "cannot be used when releasing from data",
                "Leave it out, or collect with Plan.open and release that",
            )  # fmt: skip
        object.__setattr__(self, "columns", self.columns.under(self.privacy.relation))
        self._check_people()
        self._check_values()
        self._check_persons()
        self._check_groups()

    def _check_people(self) -> None:
        """Checks a statistic about people, such as inequality: one person per key. Reports all problems at once."""
        if not self.statistic.of_people:
            return
        privacy, columns = self.privacy, self.columns
        pass_ = [
            arg(name, value) for name, value in self.statistic.usual_privacy.items() if getattr(privacy, name) != value
        ]
        groups = self.groups_per_person != 1
        given = (("person", columns.person), ("by", columns.by), ("groups", self.groups), ("groups_per_person", groups))
        leave_out = [arg(name) for name, there in given if there]
        problems = [
            (name, getattr(privacy, name), f"must be {value!r} for {self.statistic.name}")
            for name, value in self.statistic.usual_privacy.items()
            if getattr(privacy, name) != value
        ]
        problems += [(name, HIDDEN, f"cannot be used with {self.statistic.name}") for name, there in given if there]
        ways = [f"Pass {' and '.join(pass_)}"] if pass_ else []
        ways += [f"{'leave' if ways else 'Leave'} out {' and '.join(leave_out)}"] if leave_out else []
        if ways:
            name, value, must = problems[0]
            raise ArgumentError(
                name, value, must, f"{' and '.join(ways)}. Then {arg('max_value')} is the largest total of a key",
                because="every key is a person, and the number of people is public",
            )  # fmt: skip

    def _check_values(self) -> None:
        check_type(
            "auto_max_value", self.auto_max_value, AutoMaxValue | None, "must be an AutoMaxValue",
            "Pass ss.AutoMaxValue()",
        )  # fmt: skip
        if self.columns.value is None and self.privacy.max_value > 1 and self.privacy.unit == "pair":
            raise ArgumentError(
                "max_value", self.privacy.max_value, "must be 1 without a column of values",
                f"Name the column ({arg('value')}), or pass {arg('max_value', 1)}",
            )  # fmt: skip
        if self.clips and self.privacy.unit == "individual":
            raise ArgumentError(
                "clip" if self.clip else "auto_max_value", True, f"cannot be used with {arg('unit', 'individual')}",
                f"Leave it out, or pass {arg('unit', 'pair')}",
                because="a value is then a number of pairs",
            )  # fmt: skip
        if self.columns.value is None and self.clips and self.privacy.unit == "pair":
            raise ArgumentError(
                "value", HIDDEN, "must name the column of values to clip",
                f"Pass {arg('value')}, or leave out {arg('clip' if self.clip else 'auto_max_value')}",
            )  # fmt: skip

    def _check_persons(self) -> None:
        privacy = self.privacy
        if self.columns.person is not None and privacy.relation != "add_remove":
            raise ArgumentError(
                "relation", privacy.relation, f"must be 'add_remove' with {arg('person')}",
                f"Pass {arg('relation', 'add_remove')}, or leave out {arg('person')}",
                because="limiting people makes the number of pairs private",
            )  # fmt: skip
        if self.count_pairs and privacy.relation != "replace":
            raise ArgumentError(
                "count_pairs", True, "cannot be used with add_remove",
                f"Leave out {arg('count_pairs')}, or pass {arg('relation', 'replace')}",
                because="then the number of pairs is private",
            )  # fmt: skip
        if self.columns.person is not None and privacy.unit == "key":
            raise ArgumentError(
                "person", self.columns.person, f"cannot be used with {arg('unit', 'key')}",
                f"Leave out {arg('person')}, or pass {arg('unit', 'pair')}",
                because="then every key is a person",
            )  # fmt: skip
        if self.columns.person is not None and privacy.unit == "individual":
            raise ArgumentError(
                "person", self.columns.person, f"cannot be used with {arg('unit', 'individual')}",
                f"Leave out {arg('person')}, or pass {arg('unit', 'pair')}",
                because="then one individual is protected, not a person",
            )  # fmt: skip
        object.__setattr__(self, "groups_per_person", groups_of_person(self.groups_per_person))
        if self.columns.person is None and self.groups_per_person != 1:
            raise ArgumentError(
                "groups_per_person", self.groups_per_person, "needs a column of people",
                f"Name it ({arg('person')}), or leave out {arg('groups_per_person')}",
            )  # fmt: skip

    def _check_groups(self) -> None:
        if not self.columns.by:
            if self.groups is not None:
                raise ArgumentError(
                    "groups", HIDDEN, "needs a column of groups", f"Name it ({arg('by')}), or leave out {arg('groups')}"
                )
            return
        if self.count_pairs or (self.privacy.pairs and self.groups is None and self.bare):
            raise ArgumentError(
                "pairs", self.privacy.pairs, "must be 0 when the names of the groups are private",
                f"Pass {arg('pairs', 0)}, or list the groups ({arg('groups')}), each of which has that many",
                because="then their sizes are private too",
            )  # fmt: skip
        if self.columns.person is None and self.privacy.pairs_per_person > 1:
            raise ArgumentError(
                "pairs_per_person", self.privacy.pairs_per_person, f"must be 1 without {arg('person')}",
                f"Name the column of people ({arg('person')}), so that each person is limited to some groups, or pass "
                f"{arg('pairs_per_person', 1)}",
                because="the pairs of one person could be in that many groups",
            )  # fmt: skip
        if self.privacy.unit == "key":
            # A pair is in one group. For a key, the proof at the head of bounding/groups.py has no bound.
            raise ArgumentError(
                "by", ", ".join(self.columns.by), f"cannot be used with {arg('unit', 'key')}",
                f"Leave out {arg('by')} and release each group from its own rows (their costs add up), or pass "
                f"{arg('unit', 'pair')}",
                because="a key can be in every group",
            )  # fmt: skip
        object.__setattr__(self, "selection_share", budget.share_of_budget("selection_share", self.selection_share))
        if self.groups is not None:
            if not self.groups:
                raise ArgumentError("groups", [], "must not be empty", "List the public names")
            for name in self.groups:
                if len(name) != len(self.columns.by):
                    raise ArgumentError(
                        "groups",
                        name,
                        f"must have one part for each of the columns {', '.join(self.columns.by)}",
                        "Correct the list",
                    )
            if len(set(self.groups)) < len(self.groups):
                (repeated, _), *_ = Counter(self.groups).most_common(1)
                raise ArgumentError("groups", ", ".join(repeated), "must not repeat a name", "List each group once")

    def check_groups_per_person(self) -> None:
        """Refuses a number of groups without groups. In a pipeline they may be windows, which only it knows."""
        if self.groups_per_person != 1 and not self.columns.by:
            raise ArgumentError(
                "groups_per_person", self.groups_per_person, "needs a column of groups",
                f"Name it ({arg('by')}), or leave out {arg('groups_per_person')}",
            )  # fmt: skip

    @property
    def statistic(self) -> Statistic:
        """The statistic to be released."""
        return self.asked.statistic

    @property
    def privacy(self) -> Privacy:
        """What is protected."""
        return self.asked.privacy

    @property
    def caution(self) -> str:
        """A warning about comparing its groups; empty if there is none."""
        return self.statistic.caution_between_groups if self.columns.by else ""

    def subject(self, noun: str = "") -> Subject:
        """What the stream contains, named after its columns; `noun` is the plural noun for keys."""
        lines, wide = self.columns.key == ("line",), self.input.wide
        key = None if lines or wide else " and ".join(self.columns.key)
        value = None if wide else self.columns.value
        return Subject(key, value, noun or ("lines" if lines else None), self.has_people, self.pair)

    @property
    def has_people(self) -> bool:
        """Whether people are bounded, so that everything one of them did is protected."""
        return self.columns.person is not None

    @property
    def pair(self) -> str:
        """The word for a pair: in a wide table it is a cell, unless cells count individuals."""
        return "individual" if self.counts_individuals else "cell" if self.input.wide else "row"

    @property
    def reads_again(self) -> bool:
        """Whether the data are read more than once: to bound people, find max_value, choose groups or sum values."""
        chooses = bool(self.columns.by) and self.groups is None
        whole_keys = self.privacy.unit == "key"
        return self.columns.person is not None or self.auto_max_value is not None or chooses or whole_keys

    @property
    def counts_pairs(self) -> bool:
        """Whether the plan needs the number of pairs, and they are counted: if asked, or if the number is public and
        was left out. A collected table has a number for each group, and none for all.
        """
        public = self.privacy.relation == "replace" and not self.columns.by and self.privacy.leaves_out("pairs")
        return self.bare and (public if self.count_pairs is None else self.count_pairs)

    @property
    def clips(self) -> bool:
        """Whether values above max_value count as max_value."""
        return self.clip or self.auto_max_value is not None

    @property
    def largest(self) -> int | None:
        """The largest valid value, if one was promised."""
        return None if self.clips or self.counts_individuals else self.privacy.max_value

    @property
    def counts_individuals(self) -> bool:
        """Whether the value of a row is its number of pairs: engines/local/pour.py."""
        return self.privacy.unit == "individual" and self.columns.value is not None

    @property
    def tells_skipped(self) -> bool:
        """Whether invalid rows are skipped, and their number is public.

        A replaced row is still a row, so under replace the number is public. But a whole key may have any number of
        rows, valid or not.
        """
        return self.on_bad == "skip" and self.privacy.relation == "replace" and self.privacy.unit == "pair"

    @property
    def bare(self) -> bool:
        """Whether any entries are private without added noise. A table then divides ε among its groups."""
        return any(each.bare for each in measuring(self.asked))
