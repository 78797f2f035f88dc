"""`Release`: a transform from pairs to private numbers.

**Windows and groups.** A window is a group named by its time: it has its own secret and is planned like a group. Which
windows are shown is chosen privately, as for groups (bounding/groups.py), because the mere existence of a release
reveals that a window or group has pairs. In the global window, all groups of a public list `groups` have a release,
even those without pairs. `public_windows` promises that it is publicly known which windows have pairs. A pair in k
windows at once, as in sliding windows, changes k of them: it counts as k pairs in k groups.

**People** (`person=True`). Every element names its person, and at most `privacy.pairs_per_person` pairs of each person
are kept, in at most L = `groups_per_person` groups (persons.py). What is kept is a function of that person's elements
and of the secret. One person more or less therefore changes at most L groups, by at most that many pairs in all, and
the count of people by which a group is chosen by at most one in each: what bounding/groups.py needs.

With windows, the same must hold for all windows together: a person kept in L groups of *every* window would change as
many releases as there are windows, which no ε covers. So pairs are first named by their window (a pair in k windows
becomes k pairs of k groups), and then bounded in the global window, where all of a person's pairs come together. The
result is named by group and window, and a person changes at most L of these. The global window fires once, when all
input has been read. This therefore works only for input that ends, and is refused for input that does not: otherwise
nothing would ever be released. `public_windows` is refused as well: it may be known which windows have pairs, but not
which have pairs that were *kept*.

**Whole keys** (`unit="key"`) are added up first (bounding/whole_keys.py). They are not released by group or window: a
key in several of these would change them all. `Question`, for which a window is a group, refuses it.

**Once.** A window is released when it closes. Triggers that fire several times, and windows that accept late data,
would release a state twice, so they are refused. So are merging windows, whose name is unknown when a pair arrives.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from ...bounding.groups import Name
from ...collector import Collector
from ...errors import HIDDEN, ArgumentError, ArgumentTypeError
from ...privacy import Privacy
from ...privacy.discrete_laplace import KeyedIntegers
from ...reading.found import Input
from ...reading.libraries import need
from ...release.arguments import What, asks, question, warned
from ...release.decide import Decision, decide
from ...release.outcome import GroupRelease
from ...release.publish import Till, names_shown, publish
from ...release.question import Question
from ...release.source import Source
from ...secret.paying import until_shown
from ...statistic import Statistic
from ...statistic.published import Release as Released
from ..secret_from import SecretFrom, TheSecret
from .collect_fn import secret_of
from .elements import check_elements, have_values
from .source import BeamSource, reference_or_none, windows_of_a_pair

if TYPE_CHECKING:
    from ...ledger import Ledger

beam = need("apache_beam", "beam")


class Release(beam.PTransform):  # type: ignore[misc, name-defined]  # Beam is untyped
    """Private numbers from a PCollection of pairs: `pairs | Release(ss.Moment(0.5), privacy)`.

    Elements are keys, or (key, value) if `privacy.max_value` is above 1 or `privacy.unit` is "individual", for which a
    value counts individuals; a tuple as key is a composite key. With `by=True`, or a list of public `groups`, they are
    (group, pair), and a group is a text or a tuple of its parts. With `person=True` they are (person, ...), followed by
    the rest, and each person is bounded to `privacy.pairs_per_person` pairs in `groups_per_person` groups. In the
    global window and without groups, the result is one `Release`. Otherwise it is a `GroupRelease` for each group and
    window, in its window (with people, in the global window), whose ε and δ are those of all of them together. The head
    of engines/beam/transform.py says what is chosen and refused.

    Invalid elements fail the pipeline with a `DataError`, or are left out with on_bad="skip"; `typed_error` finds the
    error in what a runner raises.

    `secret` is a reference that every worker can follow. The secret it leads to is never used itself: another is
    derived from it with 128 random bits, drawn when the transform is created. Create a new pipeline for each run: one
    that is stored and run again, such as a template, would use a secret twice. Without `secret`, a fresh one stays in
    this process, which is enough for runners whose workers are its threads.

    The question is as in `stablesketch.release`, without columns, which elements do not have. A `Question` replaces it;
    elements then have a part for each column it names. max_value cannot be found and pairs cannot be counted, because a
    pipeline is planned before it runs.

    `ledger` is charged when the transform is applied, for everything it may release, before anything runs.
    """

    @asks(What)
    def __init__(
        self,
        statistic: Statistic | Question | None = None,
        privacy: Privacy | None = None,
        *,
        by: bool = False,
        person: bool = False,
        public_windows: bool = False,
        secret: SecretFrom | None = None,
        ledger: Ledger | None = None,
        label: str = "",
        **what: Unpack[What],
    ) -> None:
        super().__init__()
        self._question = warned(_posed(statistic, privacy, by, person, what))
        self._public_windows = public_windows
        self._secret = TheSecret(reference_or_none(secret) or SecretFrom.this_process(), secrets.token_hex(16))
        self._till = Till(ledger, label)

    def expand(self, pcoll: Any) -> Any:
        """Reads, bounds or adds up, keys by group and window, combines and releases."""
        times = windows_of_a_pair(pcoll.windowing)
        windowed = times is not None
        question = self._question
        self._check(pcoll, windowed)
        public = question.groups is not None if not windowed else self._public_windows and not question.columns.by
        source: Source[Any] = BeamSource(question, pcoll, self._secret, windowed=windowed)
        # People are bounded after a pair has become one pair in each of its windows.
        overlap = 1 if question.has_people else times or 1
        decision = decide(_by_window(question) if windowed else question, overlap=overlap, public=public)
        with until_shown():
            self._till.pay(decision.ask)
        collected = source.collected(decision.plan, question.groups)
        return collected | "Once" >> beam.ParDo(_Published(decision, self._secret))

    def _check(self, pcoll: Any, windowed: bool) -> None:
        question = self._question
        if not windowed:
            question.check_groups_per_person()
        if windowed and self._public_windows and question.groups is not None:
            raise ArgumentError(
                "groups", HIDDEN, "cannot be listed together with public windows",
                "Leave out public_windows, and the windows shown are chosen privately: a missing window would reveal "
                "an empty group",
            )  # fmt: skip
        if question.has_people and self._public_windows:
            raise ArgumentError(
                "public_windows", True, "cannot be used with people",
                "Leave it out, or name the windows as groups and list them (groups=[...]): which windows have pairs "
                "of people is private",
            )  # fmt: skip
        if question.has_people and not pcoll.is_bounded:
            raise ArgumentError(
                "person", True, "needs input that ends",
                "Run it on each day, for example, with one ledger: which pairs of a person are used depends on all of "
                "them",
            )  # fmt: skip


def _posed(
    statistic: Statistic | Question | None, privacy: Privacy | None, by: bool, person: bool, what: What
) -> Question:
    """The question. Elements have no columns: the columns it names say which parts an element has."""
    if isinstance(statistic, Question):
        typed = {name: there for name, there in (("by", by), ("person", person)) if there}
        posed = question(statistic, privacy, **what, **typed)  # type: ignore[arg-type]  # refused
    elif not isinstance(privacy, Privacy):
        raise ArgumentTypeError("privacy", privacy, "must be a Privacy", "Pass ss.Privacy(1.0, 1e-9)")
    else:
        check_elements(person=person, by=by)
        groups = what.get("groups")
        first = groups[0] if groups else ""
        width = 1 if isinstance(first, str) else len(first)
        posed = question(
            statistic, privacy, key="key", value="value" if have_values(privacy) else None,
            by=[f"group {i}" for i in range(width)] if by or groups is not None else None,
            person="person" if person else None, **what,
        )  # fmt: skip
    for name, usual in (("auto_max_value", None), ("count_pairs", None), ("input", Input())):
        given = getattr(posed, name)
        if given != usual:
            raise ArgumentError(
                name, given, "cannot be used in a pipeline",
                "Leave it out: the pipeline is planned before its input is opened",
            )  # fmt: skip
    return posed


def _by_window(question: Question) -> Question:
    """The question with a window as part of each group's name. Whether groups are listed is decided before that."""
    by = (*(("group",) if question.columns.by else ()), "window")
    return replace(question, columns=replace(question.columns, by=by), groups=None)


class _Published(beam.DoFn):  # type: ignore[misc, name-defined]
    """Collectors → releases as decided; if names are chosen privately, only of those that are. All was paid for when
    the transform was applied."""

    def __init__(self, decision: Decision, secret: TheSecret) -> None:
        super().__init__()
        self._decision, self._secret = decision, secret

    def process(self, element: tuple[Name, tuple[bytes, int]]) -> Iterator[Released | GroupRelease]:
        """Releases one collector, given its number of people or pairs."""
        name, (blob, count) = element
        own = secret_of(self._secret.spend(name), name, False)
        collector = Collector.from_bytes(blob, own)
        # A runner may run this again, after another step has used what it yielded: it chooses the same names then.
        if names_shown(self._decision, [(name, count)], KeyedIntegers(own.derive("choosing names")).below):
            yield from publish(self._decision, [collector], Till(), names=[name])
