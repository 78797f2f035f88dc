"""`Task`: everything that is asked of a release from data, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..bounding import budget
from ..bounding.groups import GroupBudget, Name
from ..bounding.max_value import AutoMaxValue
from ..errors import ArgumentError, ArgumentTypeError, PlanInfeasible
from ..plan import Plan
from ..plan.ways_out import instead_of
from ..privacy import Privacy
from ..reading.columns import Columns, OnBad
from ..reading.sources import Input
from ..statistic import Statistic
from .sizing import Sizing

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """A release from data: what to know, what is protected, which columns, and how it is to be read."""

    statistic: Statistic
    privacy: Privacy
    columns: Columns
    sizing: Sizing = field(default_factory=Sizing)
    groups: Sequence[Name] | None = None
    groups_per_person: int = 1
    selection_share: float = 0.1
    count_pairs: bool = False
    clip: bool = False
    auto: AutoMaxValue | None = None
    on_bad: OnBad = "error"
    confidence: float = 0.95
    input: Input = field(default_factory=Input)

    def __post_init__(self) -> None:
        if not isinstance(self.statistic, Statistic):
            raise ArgumentTypeError("statistic", self.statistic, "not a statistic", "Pass ss.Moment(0.5), for example")
        if not isinstance(self.privacy, Privacy):
            raise ArgumentTypeError("privacy", self.privacy, "not a Privacy", "Pass ss.Privacy(1.0, 1e-9)")
        if not 0.0 < self.confidence < 1.0:
            raise ArgumentError("confidence", self.confidence, "not a probability between 0 and 1", "Pass 0.95")
        if self.on_bad not in ("error", "skip"):
            raise ArgumentError("on_bad", self.on_bad, "there is no such choice", "Pass 'error' or 'skip'")
        self._check_people()
        self._check_values()
        self._check_persons()
        self._check_groups()

    def _check_people(self) -> None:
        """Inequality is that of people, one for each key; everything that does not fit is told at once."""
        if not self.statistic.of_people:
            return
        privacy, columns = self.privacy, self.columns
        pass_ = [
            f"{name}='{value}'"
            for name, value, given in (("unit", "key", privacy.unit), ("relation", "replace", privacy.relation))
            if given != value
        ]
        groups = self.groups_per_person != 1
        given = (("person", columns.person), ("by", columns.by), ("groups", self.groups), ("groups_per_person", groups))
        leave_out = [f"{name}=" for name, there in given if there]
        ways = [f"Pass {' and '.join(pass_)}"] if pass_ else []
        ways += [f"{'leave' if ways else 'Leave'} out {' and '.join(leave_out)}"] if leave_out else []
        if ways:
            raise ArgumentError(
                "statistic", self.statistic.name, "it is about people: every key is one, and their number is public",
                f"{' and '.join(ways)}. max_value= is then the largest total of a key",
            )  # fmt: skip

    def _check_values(self) -> None:
        if self.columns.value is None and self.privacy.max_value > 1 and self.privacy.unit == "pair":
            raise ArgumentError(
                "max_value", self.privacy.max_value, "without a column of values every pair counts 1",
                "Name the column (value=), or pass max_value=1",
            )  # fmt: skip
        if self.columns.value is None and (self.auto is not None or self.clip) and self.privacy.unit == "pair":
            raise ArgumentError(
                "value", None, "it must name the column of values that are to be clipped",
                f"Pass value=, or leave out {'clip' if self.clip else 'auto_max_value'}=",
            )  # fmt: skip

    def _check_persons(self) -> None:
        privacy = self.privacy
        if self.columns.person is not None and privacy.relation != "add_remove":
            raise ArgumentError(
                "relation", privacy.relation, "bounding people leaves the number of pairs private",
                "Pass relation='add_remove', or leave out person=",
            )  # fmt: skip
        if self.count_pairs and privacy.relation != "replace":
            raise ArgumentError(
                "count_pairs", True, "the number of pairs is private under add_remove",
                "Leave out count_pairs=, or pass relation='replace'",
            )  # fmt: skip
        if self.columns.person is not None and privacy.unit == "key":
            raise ArgumentError(
                "person",
                self.columns.person,
                "with unit='key' every key is a person",
                "Leave out person=, or pass unit='pair'",
            )
        if not 1 <= self.groups_per_person <= 2**31:
            raise ArgumentError("groups_per_person", self.groups_per_person, "at least one group", "Pass 1, or a few")
        if self.columns.person is None and self.groups_per_person != 1:
            raise ArgumentError(
                "groups_per_person", self.groups_per_person, "there is no person column",
                "Name it (person=), or leave out groups_per_person=",
            )  # fmt: skip

    def _check_groups(self) -> None:
        if not self.columns.by:
            if self.groups is not None:
                raise ArgumentError(
                    "groups", "...", "there is no column of groups", "Name it (by=), or leave out groups="
                )
            return
        if self.count_pairs or (self.privacy.pairs and self.groups is None and self.bare):
            raise ArgumentError(
                "pairs", self.privacy.pairs, "the sizes of groups are private, and nothing is promised of them",
                "Pass pairs=0, or list the groups (groups=), of which each has so many",
            )  # fmt: skip
        if self.columns.person is None and self.privacy.pairs_per_person > 1:
            raise ArgumentError(
                "pairs_per_person", self.privacy.pairs_per_person, "one person's pairs could be in as many groups",
                "Name the person column (person=), so that people can be bounded to some groups, or pass "
                "pairs_per_person=1",
            )  # fmt: skip
        if self.privacy.unit == "key":
            # A pair is in one group; the proof at the head of groups.py knows no bound for a key.
            raise ArgumentError(
                "by", ", ".join(self.columns.by), "a whole key can be in every group, and would change all of them",
                "Leave out by= and release each group from its own rows (their costs add up), or pass unit='pair'",
            )  # fmt: skip
        budget.checked_share("selection_share", self.selection_share)
        if self.groups is not None:
            if not self.groups:
                raise ArgumentError("groups", [], "the list of groups is empty", "List the names that are public")
            for name in self.groups:
                if len(name) != len(self.columns.by):
                    raise ArgumentError("groups", name, f"a name has {len(self.columns.by)} part(s)", "Repair the list")
            if len(set(self.groups)) < len(self.groups):
                raise ArgumentError("groups", "...", "a name stands there twice", "List each once")

    @property
    def of_people(self) -> bool:
        """Whether people are bounded, and so all that one of them did is protected."""
        return self.columns.person is not None

    @property
    def reads_again(self) -> bool:
        """Whether the data are read more than once: to bound people, to find max_value, to choose groups, to add up."""
        chooses = bool(self.columns.by) and self.groups is None
        whole_keys = self.privacy.unit == "key"
        return self.columns.person is not None or self.auto is not None or chooses or whole_keys

    @property
    def clips(self) -> bool:
        """Whether larger values are taken for max_value."""
        return self.clip or self.auto is not None

    @property
    def largest(self) -> int | None:
        """The largest value that is no error, where one was promised."""
        return None if self.clips else self.privacy.max_value

    @property
    def touched(self) -> int:
        """How many groups a neighbour can change: bounding/groups.py."""
        if self.columns.person is not None:
            return min(self.groups_per_person, self.privacy.pairs_per_person)
        return 2 if self.privacy.relation == "replace" else 1

    @property
    def bare(self) -> bool:
        """Whether entries are released that are private by themselves: then a table divides ε among its groups."""
        return self.sizing.mechanism == "bare"

    def shares(self) -> tuple[float, Privacy]:
        """(ε of choosing max_value, what is left for the rest)."""
        if self.auto is None:
            return 0.0, self.privacy
        part, rest = budget.split(self.privacy.epsilon, self.auto.share)
        return part, replace(self.privacy, epsilon=rest)

    def group_budget(self, privacy: Privacy, *, times: int = 1, public: bool | None = None) -> GroupBudget:
        """What of `privacy` goes to choosing names, and what to each group.

        `times` is how many groups each pair is in, where they overlap; `public`, whether all names are, if that is not
        as `groups` says.
        """
        touched = times * self.touched
        if self.groups is not None if public is None else public:
            return GroupBudget.of(privacy, touched, bare=self.bare, overlap=times)
        chosen, epsilon = budget.split(privacy.epsilon, self.selection_share)
        chosen_delta, delta = budget.split(privacy.delta, self.selection_share)
        left = replace(privacy, epsilon=epsilon, delta=delta)
        return GroupBudget.of(left, touched, (chosen, chosen_delta), bare=self.bare, overlap=times)

    def group_plan(self, shares: GroupBudget) -> Plan:
        """The plan of every group."""
        unpromised = next((each for each in self.statistic.inputs if each.bare_needs_pairs), None)
        if self.bare and self.groups is None and unpromised is not None:
            raise PlanInfeasible(
                f"a bare sketch of {self.statistic} by group takes a promise of how many pairs every group has, and "
                f"private names have none. Pass mechanism='exact', or {instead_of(self.statistic, unpromised)}, or "
                "list the public names (groups=) and promise pairs= of each."
            )
        return shares.checked(self.table_sizing.plan(self.statistic, shares.privacy))

    @property
    def table_sizing(self) -> Sizing:
        """How large the sketch of one group is."""
        return self.sizing.in_table(None if self.groups is None else len(self.groups))

    def planned(self, pairs: int | None = None) -> Plan:
        """The plan of this task before any data are read, with max_value and `pairs` as far as they are known."""
        _, privacy = self.shares()
        if self.columns.by:
            return self.group_plan(self.group_budget(privacy))
        return self.sizing.plan(self.statistic, privacy if pairs is None else replace(privacy, pairs=pairs))
