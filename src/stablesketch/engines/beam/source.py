"""A PCollection as a `Source`: what a release asks of data, as steps of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...bounding.groups import Name
from ...bounding.in_one_pass import Bounding
from ...plan import Plan
from ...reading.libraries import need
from ...release.question import Question
from ..secret_from import TheSecret
from .collect_fn import CountedFn
from .elements import ElementReader
from .persons import AlikeFn, BoundFn, by_likeness, by_person, kept_pairs
from .reading import Read, by_group
from .whole_keys import WholeKey, by_key, total

beam = need("apache_beam", "beam")
_windows = need("apache_beam.transforms.window", "beam")


class BeamSource:
    """A `Source` of (name, (collector as bytes, number of people or pairs)), under the secret that workers find. A
    window is the last part of a name.
    """

    def __init__(self, question: Question, pcoll: Any, secret: TheSecret, *, windowed: bool) -> None:
        columns = question.columns
        self._question, self._pcoll, self._secret, self._windowed = question, pcoll, secret, windowed
        self._people, self._by, self._weighted = question.of_people, bool(columns.by), columns.value is not None
        self._reader = ElementReader(
            self._people, self._by, self._weighted, question.largest, question.on_bad, question.columns.zeros
        )
        self._bounding = Bounding(question.privacy.pairs_per_person, question.groups_per_person)

    def collected(self, plan: Plan, names: Sequence[Name] | None = None) -> Any:
        """In every window, the listed groups that have pairs there; without windows, also those that have none."""
        named = self.kept()
        if names is not None:
            named = named | "Listed" >> beam.Filter(_Listed(names, self._windowed))
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
            people = people | "Alike" >> beam.CombinePerKey(AlikeFn()) | "People" >> beam.Map(by_person)
            return people | "Bounded" >> beam.CombinePerKey(fn) | "Kept" >> beam.FlatMap(kept_pairs)
        if self._question.privacy.unit == "key":
            keys = self._pcoll | "Read" >> beam.ParDo(Read(self._reader, self._windowed, by_key))
            whole = WholeKey(self._reader.largest)
            return keys | "Totals" >> beam.CombinePerKey(total) | "WholeKeys" >> beam.Map(whole)
        return self._pcoll | "Read" >> beam.ParDo(Read(self._reader, self._windowed, by_group))


class _Listed:
    """Whether the group of a named pair is listed; a window, if there is one, follows the name."""

    def __init__(self, names: Sequence[Name], windowed: bool) -> None:
        self._names, self._windowed = frozenset(names), windowed

    def __call__(self, element: Any) -> bool:
        name = element[0]
        return (name[:-1] if self._windowed else name) in self._names
