"""Checks the arguments of ledgers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import get_args

from ..errors import HIDDEN, ArgumentError, ArgumentTypeError
from ..numbers.checked import checked_real, checked_share, checked_whole
from ..privacy import Privacy, Relation
from ..privacy.charge import Charge
from ..statistic.published import Release
from ..text.visible import writable
from ..text.wording import arg
from .record import INDIVIDUALS, PEOPLE, Ask

_MOST = 2**53
_OF_PAIRS = " of pairs"  # which a ledger leaves out


def checked_unit(relation: object, pairs_per_person: object) -> int | None:
    """The pairs per person, if given, as an int. The relation must be one that a ledger knows."""
    if relation is not None:
        _check_relation(relation, _relations(""))
    return None if pairs_per_person is None else checked_count("pairs_per_person", pairs_per_person)


def stated_unit(relation: str) -> str:
    """What a charge protects, as a ledger stores it. It must be stated in full.

    The `relation` of a `Privacy`, and of a release, is "add_remove" whether a pair, a key, an individual or a person is
    added or removed. Taken as pairs, a release of individuals would be added to pairs at an ε below the truth.
    """
    full = _relations(_OF_PAIRS)
    if relation in get_args(Relation):
        raise ArgumentError(
            "relation", relation, "must also say what is protected",
            f"Pass {_either(one for one in full if one.startswith(relation))}, or the release itself "
            f"({arg('release')})",
        )  # fmt: skip
    _check_relation(relation, full)
    return relation.removesuffix(_OF_PAIRS)


def _relations(of_pairs: str) -> list[str]:
    """What a release can protect, in full; `of_pairs` is how that of pairs ends."""
    return [*(f"{each}{unit}" for unit in (of_pairs, " of keys") for each in get_args(Relation)), INDIVIDUALS, PEOPLE]


def _check_relation(relation: object, known: Sequence[str]) -> None:
    if relation not in known:
        raise ArgumentError(
            "relation", relation, f"must be {_either(known)}", "Choose the one that says what the release protects"
        )


def _either(words: Iterable[str]) -> str:
    *first, last = map(repr, words)
    return f"{', '.join(first)} or {last}"


def check_stated(**given: object) -> None:
    """Refuses a charge that lacks one of these: nothing is guessed."""
    for name, value in given.items():
        if value is None:
            raise ArgumentError(
                name, None, "must be given", f"Pass it, or the release itself ({arg('release')}), which says it"
            )


def check_priced(epsilon: float, delta: float, statistic: object) -> None:
    """Refuses a price that no release can have, and a price without a statistic."""
    Privacy(epsilon, checked_real("delta", delta) or 0.5, 0)
    if not isinstance(statistic, str) or not statistic:
        raise ArgumentError("statistic", statistic, "must say what is released", 'Pass "median value", for example')


def ask_of_release(release: object, beside: Sequence[str]) -> tuple[Ask, Callable[[int], str]]:
    """What a release that is in no ledger yet asks of one, and a function from its record number to its text.

    `beside` are arguments that were given as well, and could contradict it.
    """
    if not isinstance(release, Release):
        raise ArgumentTypeError(
            "release", release, "must be a Release", "Pass one: result.release, or result['FR'] of a group"
        )
    if beside:
        raise ArgumentError(
            "release", HIDDEN, f"cannot be used with {arg(beside[0])}", f"Leave out {arg(beside[0])}",
            because="the release states it",
        )  # fmt: skip
    if release.record is not None:
        raise ArgumentError(
            "release", HIDDEN, f"must not be in a ledger yet, but is record {release.record:,} of one",
            "It is already paid for: do not charge it again",
        )  # fmt: skip
    if release.unit is None and not release.person:
        raise ArgumentError(
            "release", HIDDEN, "must say what it protects", f"Say it yourself: {arg('epsilon')}, {arg('delta')}, "
            f"{arg('statistic')} and {arg('relation', 'add_remove of pairs')}, for example",
            because="this one comes from version 0.1.0 and does not",
        )  # fmt: skip
    # Anyone can make one up, and a negative ε would add to the budget. Only a release that costs nothing has 0.
    check_priced(release.epsilon or 1.0, release.delta, release.statistic)
    checked_unit(release.protects, release.pairs_per_person)
    charge = Charge("other", epsilon=release.epsilon, delta=release.delta)
    ask = Ask(
        release.statistic, charge, release.epsilon, release.delta, release.protects, release.pairs_per_person,
        max_value=release.max_value, p=release.p, size=release.size or None,
    )  # fmt: skip
    return ask, lambda number: release.recorded(number).to_json()


def checked_count(name: str, value: object) -> int:
    must = f"must be a whole number between 1 and {_MOST:,}"
    return checked_whole(name, value, "Pass an integer", least=1, most=_MOST, must=must)


def checked_probability(name: str, value: object) -> float:
    return checked_share(name, value, "Pass 1e-6, for example")


def checked_label(label: object) -> str:
    """The label, which must be text that a file can hold."""
    if not isinstance(label, str):
        raise ArgumentTypeError("label", label, "must be text", "Pass a short text, or leave it out")
    if not _is_text(label):
        raise ArgumentError("label", label, "must be text that UTF-8 can encode", "Pass a short text")
    return label


def checked_part(part: object, ask: Ask) -> tuple[str, str] | None:
    """(partition, part). Under replace there are no parts: a pair can move from one part to another and change both."""
    if part is None:
        return None
    if not isinstance(part, tuple) or len(part) != 2 or not all(_is_text(name) and name for name in part):
        raise ArgumentError(
            "part", part, "must be the names of a partition and of a part", 'Pass ("country", "FR"), for example'
        )
    if ask.relation not in ("add_remove", PEOPLE, INDIVIDUALS):
        raise ArgumentError(
            "part", part, "can be used only with add_remove",
            f"Plan with {arg('relation', 'add_remove')}, or leave out {arg('part')}",
            because="a replaced pair may move to another part",
        )  # fmt: skip
    return part[0], part[1]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and writable(value) and len(value.encode()) < 2**16
