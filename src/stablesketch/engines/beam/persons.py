"""`BoundFn`: bounds the pairs of each person, as a Beam CombineFn.

Accumulators hold the candidates of `bounding/in_one_pass.py` and nothing else. A person with a billion pairs therefore
costs a worker no more than one with a hundred, and a runner bounds as much as it can before anything travels. The
result is the same however pairs were spread, combined and retried: a function of the person's pairs and of the secret.

Identical pairs of a person are counted first (`by_likeness`), because each has its own rank (bounding/ranks.py).

**Who is one person.** People are keyed by their id as text. If an id were text in one place and a number in another,
"7" and 7, it could be one person, or two who would be bounded as one, so that what is kept of one would depend on the
other. Either way the guarantee would not hold, so such ids are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...bounding.groups import Name
from ...bounding.in_one_pass import Bounding, Candidates, text_of
from ...bounding.ranks import Ranks
from ...errors import ArgumentError, DataError
from ...reading.libraries import need
from ...secret import Secret
from .elements import NAME, Pair, kinds

beam = need("apache_beam", "beam")

Kept = tuple[Name, Any, int]  # group, key, value
Held = tuple[str, Candidates[Kept]]  # the sort of the person's id, and what may be kept
Alike = tuple[Pair, int]  # a pair, and how many identical pairs its person has


def by_likeness(pair: Pair) -> tuple[tuple[str, ...], Alike]:
    """Keys identical pairs of a person alike, to be counted: every part as text, with its sort."""
    parts = [pair.person, *pair.parts_of_key, pair.value, *pair.group]
    sorts = (kind for part in parts for kind in kinds([part]))
    return (*map(text_of, parts), *sorts), (pair, 1)


def by_person(element: tuple[Any, Alike]) -> tuple[str, Alike]:
    """Keys a pair by the person's id as text."""
    alike = element[1]
    return text_of(alike[0].person), alike


def kept_pairs(element: tuple[str, list[Kept]]) -> Iterator[tuple[Name, Any]]:
    """What is kept of a person, for `CollectFn`: the pairs, and one person in each of their groups."""
    _, kept = element
    for name in dict.fromkeys(name for name, _, _ in kept):
        yield name, (name, 1)
    for name, key, value in kept:
        yield name, (name, key, value)


class BoundFn(beam.CombineFn):  # type: ignore[misc, name-defined]  # Beam is untyped
    """Combines the pairs of one person into those that are kept. Beam guarantees one person if the person is the key.

    It is pickled with the pipeline. The secret, which `find` returns, and the keys derived from it are not.
    """

    def __init__(self, bounding: Bounding, find: Callable[[], Secret], *, weighted: bool) -> None:
        super().__init__()
        self._bounding, self._find, self._weighted = bounding, find, weighted
        self._made: Ranks | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    @property
    def _ranks(self) -> Ranks:
        if self._made is None:
            self._made = Ranks(self._find())
        return self._made

    def create_accumulator(self) -> Held:
        return "", Candidates()

    def add_input(self, held: Held, alike: Alike) -> Held:
        """Remembers a pair and its copies, as far as they may be kept."""
        pair, copies = alike
        cells = [*pair.parts_of_key, *([pair.value] if self._weighted else []), *pair.group]
        (kind,) = kinds([pair.person])
        try:
            shared = self._ranks.of_pairs([pair.person], *([cell] for cell in cells)).item()
        except ArgumentError:  # elements of other types were refused before
            large = any(isinstance(cell, int) and not -(2**63) <= cell < 2**64 for cell in (pair.person, *cells))
            wrong = "is a whole number beyond 64 bits" if large else "is not valid Unicode"
            raise DataError(NAME, wrong, "Correct the input, or convert it to text first") from None
        for rank in self._ranks.smallest(shared, copies, self._bounding.pairs):
            self._bounding.take(
                held[1], pair.group,
                lambda: self._ranks.of_groups([pair.person], *([name] for name in pair.group)).item(),
                (rank, tuple(map(text_of, cells))), (pair.group, pair.key, pair.value),
            )  # fmt: skip
        return _one_kind(held[0], kind), held[1]

    def merge_accumulators(self, accumulators: Iterable[Held]) -> Held:
        kind, whole = self.create_accumulator()
        for other, found in accumulators:
            kind = _one_kind(kind, other)
            self._bounding.merge(whole, found)
        return kind, whole

    def extract_output(self, held: Held) -> list[Kept]:
        return self._bounding.kept(held[1])


def _one_kind(kind: str, other: str) -> str:
    if kind and other and kind != other:
        raise DataError(
            NAME, f"ids have different types, {min(kind, other)} and {max(kind, other)}",
            "Convert all ids to one type first", column="person",
        )  # fmt: skip
    return kind or other
