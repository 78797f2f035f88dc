"""`Release`: a transform from pairs to private numbers.

**Windows and groups.** A window is a group that is named by its time: each has a secret of its own, is planned like a
group, and which of them are shown is chosen privately, as groups are (bounding/groups.py), since that a window or a
group has a release at all tells that it has pairs. In the global window, a list of public `groups` all have a release,
also those without pairs. `public_windows` promises that which windows have pairs is known anyway. A pair in k windows
at once, as sliding windows have it, changes k of them: it counts as k pairs in k groups.

**People** (`person=True`). Every element says whose it is, and of each person at most `privacy.pairs_per_person` pairs
are kept, in at most L = `groups_per_person` groups (`persons.py`). What is kept is a function of that person's elements
and of the secret, so a person more or less changes at most L groups, by so many pairs in all, and the count of people
by which a group is chosen by at most one in each: what bounding/groups.py needs.

With windows the same must hold for all windows together: a person kept in L groups of *every* window would change as
many releases as there are windows, which no ε says. So pairs are named by their window first, a pair in k windows
becoming k pairs of k groups, and then are bounded in the global window, where all of a person's pairs meet. What comes
out is named by group and window, and a person changes at most L of those. The global window has one firing, when all
input has been read; so this is for input that ends, and on input that does not it is refused (were it let through,
nothing would ever be released). `public_windows` is refused as well: which windows have pairs may be known, but not
which of them have pairs that were *kept*.

**Whole keys** (`unit="key"`) are added up first, as doors do it. They are not released by group or window: a key in
several of those would change them all, and `Task`, for which a window is a group, refuses it.

**Once.** A window is released when it closes. Triggers that fire several times and windows that take late data would
release a state twice, so they are refused; so are windows that merge, whose name is not known when a pair comes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...bounding.groups import GroupBudget, Name, selected
from ...bounding.in_one_pass import Bounding
from ...collector import Collector
from ...errors import ArgumentError, ArgumentTypeError
from ...ledger.record import Ask
from ...plan import MechanismName, Plan
from ...plan.mechanism import charge_of
from ...privacy import Privacy
from ...published import Release as Released
from ...reading.columns import Columns, OnBad
from ...reading.libraries import need
from ...release.outcome import GroupRelease
from ...release.sizing import Sizing
from ...release.task import Task
from ...statistic import Statistic
from ..local.release import group_names
from ..secret_from import SecretFrom, TheSecret
from .collect_fn import CountedFn, secret_of
from .elements import Reader
from .persons import BoundFn, by_person, kept_pairs
from .reading import Read, by_group, checked_reference, windows_of_a_pair
from .whole_keys import WholeKey, by_key, total

if TYPE_CHECKING:
    from ...ledger import Ledger

__all__ = ["Release"]

beam = need("apache_beam", "beam")
_windows = need("apache_beam.transforms.window", "beam")


class Release(beam.PTransform):  # type: ignore[misc, name-defined]  # Beam is untyped
    """Private numbers from a PCollection of pairs: `pairs | Release(ss.Moment(0.5), privacy)`.

    Elements are keys, or (key, value) where `privacy.max_value` is above 1; a tuple as key is a composite key. With
    `by=True`, or a list of public `groups`, they are (group, pair), and a group is a text or a tuple of its parts. With
    `person=True` they are (person, ...), whatever else they have: then each person is bounded to
    `privacy.pairs_per_person` pairs in `groups_per_person` groups. In the global window and without groups the result
    is one `Release`; otherwise a `GroupRelease` for each group and window, in its window (of people, in the global
    one), whose ε and δ are those of all of them together. What is chosen and refused is said at the head of
    engines/beam/transform.py.

    Elements that are no pairs fail the pipeline with a `DataError`, or are left out with on_bad="skip"; `typed_error`
    finds it in what a runner raises.

    `secret` is a reference that every worker can follow; what it leads to is never used itself, but derived from with
    128 random bits that are drawn when the transform is made. So make the pipeline anew for each run: one that is
    stored and run again, as a template is, would use a secret twice. Without `secret` a fresh one stays in this
    process, which is enough for runners whose workers are threads of it.

    `ledger` is charged when the transform is applied, for all that it may release, before anything runs.
    """

    def __init__(
        self,
        statistic: Statistic,
        privacy: Privacy,
        *,
        by: bool = False,
        groups: Sequence[str | Sequence[str]] | None = None,
        person: bool = False,
        groups_per_person: int = 1,
        public_windows: bool = False,
        error: float | None = None,
        size: int | None = None,
        memory: str | int | None = None,
        entries_per_key: int | None = None,
        expected: float | None = None,
        mechanism: MechanismName = "sketch",
        clip: bool = False,
        selection_share: float = 0.1,
        on_bad: OnBad = "error",
        confidence: float = 0.95,
        secret: SecretFrom | None = None,
        ledger: Ledger | None = None,
        label: str = "",
    ) -> None:
        super().__init__()
        if not isinstance(privacy, Privacy):
            raise ArgumentTypeError("privacy", privacy, "not a Privacy", "Pass ss.Privacy(1.0, 1e-9)")
        self._statistic, self._privacy = statistic, privacy
        self._sizing = Sizing(error, size, memory, expected, mechanism, entries_per_key)
        self._groups = None if groups is None else group_names(groups)
        self._by, self._public_windows = by or groups is not None, public_windows
        self._person, self._most_groups = person, groups_per_person
        self._clip, self._confidence, self._share = clip, confidence, selection_share
        self._reader = Reader(person, self._by, privacy.max_value > 1, None if clip else privacy.max_value, on_bad)
        self._secret = TheSecret(checked_reference(secret) or SecretFrom.this_process(), secrets.token_hex(16))
        self._ledger, self._label = ledger, label

    def expand(self, pcoll: Any) -> Any:
        """Read, bounded or added up, keyed by group and window, combined, released."""
        times = windows_of_a_pair(pcoll.windowing)
        windowed = times is not None
        self._check(pcoll, windowed)
        task = self._task(windowed)
        bounding = Bounding(self._privacy.pairs_per_person, self._most_groups)
        shares = None
        if task.columns.by:
            public = self._groups is not None if not windowed else self._public_windows and not self._by
            # People are bounded after a pair has become one of each of its windows.
            shares = task.group_budget(task.privacy, times=1 if self._person else times or 1, public=public)
        plan = self._sizing.plan(self._statistic, task.privacy) if shares is None else task.group_plan(shares)
        spent = (plan.epsilon, plan.delta) if shares is None else shares.spent(plan.epsilon, plan.delta)
        if self._ledger is not None:
            by = f" by {', '.join(task.columns.by)}" if task.columns.by else ""
            charged = charge_of(plan) if shares is None else shares.charge(plan)
            ask = Ask.of_table(f"{self._statistic}{by}", charged, spent, self._privacy, person=self._person)
            self._ledger._charge(ask, self._label)
        named = self._named(pcoll, windowed, bounding)
        if self._groups is not None:
            named = named | "Listed" >> beam.Filter(_Listed(self._groups, windowed))
        if not windowed and (shares is None or self._groups is not None):
            there = [()] if self._groups is None else self._groups
            seeds = pcoll.pipeline | "Names" >> beam.Create([(name, (name, 0)) for name in there])
            named = (named, seeds) | "AlsoEmpty" >> beam.Flatten()
        fn = CountedFn(plan, self._secret, weighted=self._reader.weighted, clip=self._clip, persons=self._person)
        last = _Released(plan, self._secret, self._confidence, shares, spent, self._privacy, person=self._person)
        return named | beam.CombinePerKey(fn) | "Once" >> beam.ParDo(last)

    def _check(self, pcoll: Any, windowed: bool) -> None:
        if windowed and self._public_windows and self._groups is not None:
            raise ArgumentError(
                "groups", "...", "a window without a release for a listed group would tell that it has no pairs there",
                "Leave public_windows out; then what is shown is chosen privately",
            )  # fmt: skip
        if self._person and self._public_windows:
            raise ArgumentError(
                "public_windows", True, "which windows have pairs that are kept of people is private",
                "Leave it out; or name windows as groups, and list them: groups=[...]",
            )  # fmt: skip
        if self._person and not pcoll.is_bounded:
            raise ArgumentError(
                "person", True, "the input does not end, and what is kept of a person depends on all of their pairs",
                "Run it on input that ends: a day, say, with a ledger over the days",
            )  # fmt: skip

    def _named(self, pcoll: Any, windowed: bool, bounding: Bounding) -> Any:
        """(name, what `CollectFn` takes), the name being that of the group and of the window."""
        if self._person:
            people = pcoll | "Read" >> beam.ParDo(Read(self._reader, windowed, by_person))
            if windowed:
                people = people | "AllWindows" >> beam.WindowInto(_windows.GlobalWindows())
            fn = BoundFn(bounding, self._secret, weighted=self._reader.weighted)
            return people | "Bounded" >> beam.CombinePerKey(fn) | "Kept" >> beam.FlatMap(kept_pairs)
        if self._privacy.unit == "key":
            keys = pcoll | "Read" >> beam.ParDo(Read(self._reader, windowed, by_key))
            whole = WholeKey(self._reader.largest)
            return keys | "Totals" >> beam.CombinePerKey(total) | "WholeKeys" >> beam.Map(whole)
        return pcoll | "Read" >> beam.ParDo(Read(self._reader, windowed, by_group))

    def _task(self, windowed: bool) -> Task:
        """The same as a task on one machine, so that the same is checked and divided in the same way."""
        parts = [*(["group"] if self._by else []), *(["window"] if windowed else [])]
        width = len(self._groups[0]) if self._groups else 1
        by = [f"group {i}" for i in range(width)] if self._by and not windowed else parts
        value, person = "value" if self._reader.weighted else None, "person" if self._person else None
        columns = Columns(("key",), value, tuple(by), person)
        return Task(
            self._statistic, self._privacy, columns, self._sizing, groups=None if windowed else self._groups,
            groups_per_person=self._most_groups, selection_share=self._share, clip=self._clip,
            confidence=self._confidence,
        )  # fmt: skip


class _Listed:
    """Whether the group of a named pair is a listed one; where there are windows, they follow its name."""

    def __init__(self, names: Sequence[Name], windowed: bool) -> None:
        self._names, self._windowed = frozenset(names), windowed

    def __call__(self, element: Any) -> bool:
        """One pair."""
        name = element[0]
        return (name[:-1] if self._windowed else name) in self._names


class _Released(beam.DoFn):  # type: ignore[misc, name-defined]
    """Collectors → releases; where there is a selection, of those that pass it."""

    def __init__(
        self, plan: Plan, secret: TheSecret, confidence: float, shares: GroupBudget | None,
        spent: tuple[float, float], asked: Privacy, person: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self._plan, self._secret, self._confidence = plan.to_json(), secret, confidence
        self._shares, self._spent, self._asked, self._person = shares, spent, asked, person

    def process(self, element: tuple[Name, tuple[bytes, int]]) -> Iterator[Released | GroupRelease]:
        """One collector, and how many people or pairs it has."""
        name, (blob, count) = element
        collector = Collector.from_bytes(blob, secret_of(self._secret.spend(name), name, False))
        if self._shares is None:
            yield replace(collector.release(confidence=self._confidence), person=self._person)
            return
        if self._shares.selection_epsilon and not list(selected([(name, count)], self._shares)):
            return
        own = collector.release(confidence=self._confidence)
        epsilon, delta = self._spent
        asked = self._asked
        own = replace(own, epsilon=epsilon, delta=delta, relation=asked.relation,
                      pairs_per_person=asked.pairs_per_person, person=self._person)  # fmt: skip
        yield GroupRelease(name, own)
