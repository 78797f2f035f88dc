"""`BeamSource`: a PCollection as a `Source`, and the first steps that `Release` and `Sketch` share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...bounding.groups import Name
from ...bounding.in_one_pass import Bounding, text_of
from ...errors import ArgumentError
from ...plan import Plan
from ...reading.columns import total_above
from ...reading.libraries import need
from ...release.question import Question
from ...sketch.columns import MAX_WEIGHT
from ..secret_from import SecretFrom, TheSecret, check_absent, reference
from .collect_fn import CountedFn
from .elements import NAME, ElementReader, Pair, kinds
from .persons import BoundFn, by_likeness, by_person, kept_pairs

beam = need("apache_beam", "beam")
_windows = need("apache_beam.transforms.window", "beam")
_triggers = need("apache_beam.transforms.trigger", "beam")


class BeamSource:
    """A `Source` of (name, (collector as bytes, number of people or pairs)), under the secret that workers find. A
    window is the last part of a name.
    """

    def __init__(self, question: Question, pcoll: Any, secret: TheSecret, *, windowed: bool) -> None:
        columns = question.columns
        self._question, self._pcoll, self._secret, self._windowed = question, pcoll, secret, windowed
        self._people, self._by, self._weighted = question.has_people, bool(columns.by), columns.value is not None
        self._reader = ElementReader(
            self._people, self._by, self._weighted, question.largest, question.on_bad, columns.zeros
        )
        self._bounding = Bounding(question.privacy.pairs_per_person, question.groups_per_person)

    def collected(self, plan: Plan, names: Sequence[Name] | None = None) -> Any:
        """In every window, the listed groups that have pairs there; without windows, also those that have none."""
        named = self.kept()
        if names is not None:
            named = named | "Listed" >> beam.Filter(_is_listed, frozenset(names), self._windowed)
        if not self._windowed and (not self._by or names is not None):
            there = [()] if names is None else names
            seeds = self._pcoll.pipeline | "Names" >> beam.Create([(name, (name, 0)) for name in there])
            named = (named, seeds) | "AlsoEmpty" >> beam.Flatten()
        # A whole key was added up before, whether its rows had values or not.
        weighted = self._weighted or self._question.privacy.unit == "key"
        fn = CountedFn(plan, self._secret, weighted=weighted, clip=self._question.clip, persons=self._people)
        return named | beam.CombinePerKey(fn)

    def kept(self) -> Any:
        """Pairs, people bounded and keys added up: (name of group and window, what `CollectFn` takes)."""
        if self._people:
            people = self._pcoll | "Read" >> beam.ParDo(Read(self._reader, self._windowed, by_likeness))
            if self._windowed:
                people = people | "AllWindows" >> beam.WindowInto(_windows.GlobalWindows())
            fn = BoundFn(self._bounding, self._secret.find, weighted=self._weighted)
            people = people | "Alike" >> beam.CombinePerKey(total_of_alike) | "People" >> beam.Map(by_person)
            return people | "Bounded" >> beam.CombinePerKey(fn) | "Kept" >> beam.FlatMap(kept_pairs)
        if self._question.privacy.unit == "key":
            keys = self._pcoll | "Read" >> beam.ParDo(Read(self._reader, self._windowed, _by_key))
            totals = keys | "Totals" >> beam.CombinePerKey(total_of_alike)
            return totals | "WholeKeys" >> beam.Map(_whole_key, self._reader.largest)
        return self._pcoll | "Read" >> beam.ParDo(Read(self._reader, self._windowed, by_group))


def _is_listed(element: Any, names: frozenset[Name], windowed: bool) -> bool:
    """Whether the group of a named pair is listed; a window, if there is one, follows the name."""
    name = element[0]
    return (name[:-1] if windowed else name) in names


def total_of_alike(same: Iterable[Any]) -> Any:
    """(pair, copies) of identical pairs, or (key, total) of one key: all of them as one."""
    what, total = None, 0
    for what, number in same:  # noqa: B007  # the last one: all are the same
        total += number
    return what, total


def _by_key(pair: Pair) -> Any:
    """For whole keys (bounding/whole_keys.py): keys a pair by the sort and the text of its key, which have the same
    bytes on every worker.
    """
    return json.dumps([[*kinds([part]), text_of(part)] for part in pair.parts_of_key]), (pair.key, pair.value)


def _whole_key(element: Any, largest: int | None) -> Any:
    """A key with its total → a pair for `CollectFn`; a total above the promised maximum is refused."""
    _, (key, total) = element
    if largest is not None and total > largest:
        raise total_above(NAME, largest)
    return (), ((), key, min(total, MAX_WEIGHT))


class Read(beam.DoFn):  # type: ignore[misc, name-defined]
    """Elements → pairs, keyed by `keyed`. A window is the last part of the name of a group."""

    def __init__(self, reader: ElementReader, windowed: bool, keyed: Callable[[Pair], Any]) -> None:
        super().__init__()
        self._reader, self._windowed, self._keyed = reader, windowed, keyed

    def process(self, element: Any, window: Any = beam.DoFn.WindowParam) -> Iterator[Any]:
        pair = self._reader.read(element)
        if pair is None:
            return
        if self._windowed:
            pair = pair._replace(group=(*pair.group, f"{_time(window.start)}/{_time(window.end)}"))
        yield self._keyed(pair)


def by_group(pair: Pair) -> Any:
    """(name, what `CollectFn` takes)."""
    return pair.group, (pair.group, pair.key, pair.value)


def _time(stamp: Any) -> str:
    return str(stamp.to_rfc3339())


def windows_of_a_pair(windowing: Any) -> int | None:
    """The number of windows a pair is in; None if there is only the global window."""
    if not isinstance(windowing.triggerfn, _triggers.DefaultTrigger) or windowing.allowed_lateness != 0:
        raise ArgumentError(
            "windowing", f"{windowing.triggerfn}, lateness {windowing.allowed_lateness}", "must fire each window once",
            "Use the default trigger and no allowed lateness: a window that fires twice is released twice",
        )  # fmt: skip
    fn = windowing.windowfn
    if isinstance(fn, _windows.GlobalWindows):
        return None
    if isinstance(fn, _windows.FixedWindows):
        return 1
    if isinstance(fn, _windows.SlidingWindows):
        return -int(-fn.size.micros // fn.period.micros)  # rounded up
    raise ArgumentError(
        "windowing", type(fn).__name__, "must be a kind whose windows are known as soon as a pair arrives",
        "Use the global window, FixedWindows or SlidingWindows",
    )  # fmt: skip


def reference_or_none(secret: object) -> SecretFrom | None:
    """A reference that does not hold the secret itself, or an error that says how to make one."""
    if secret is None:
        return None
    found = reference(secret, "stored", ".environment(name), .callable(function)")
    if found.fetches:
        check_absent(found.find(), need("apache_beam.internal.cloudpickle.cloudpickle", "beam").dumps(found))
    return found
