"""`plan`: from a statistic and what to protect to a mechanism that answers it, using public numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import ArgumentError, PlanInfeasible
from ..privacy import Privacy
from ..privacy.sampling import Sampling
from ..statistic import Statistic
from ..text.wording import arg
from .asked import Asked, MechanismName
from .asked import asked as asked_for
from .mechanism import every_mechanism, find, mechanism_for
from .plan import Plan

_LONG = 2**40  # pairs: such a long stream needs no floor, so the error alone decides its size


def plan(
    statistic: Statistic,
    privacy: Privacy,
    *,
    error: float | None = None,
    size: int | Sequence[int] | None = None,
    memory: str | int | None = None,
    entries_per_key: int | Sequence[int] | None = None,
    expected: float | None = None,
    mechanism: MechanismName = "sketch",
    deletes: bool = False,
    sampling: Sampling | float | None = None,
) -> Plan:
    """A plan that reaches the (ε, δ) of `privacy` with a target `error`, a `size` or a `memory` ("64K").

    `error` is relative for moments, counts and Hill numbers: at the value `expected`, or without the noise (of a bare
    sketch: without the floor). For entropies and indices it is absolute. Without any of the three, moments of orders
    below 1 and entropy get 256 KiB, and everything else is planned for the statistic's default error
    (`Statistic.default_error`).

    More than 512 entries are divided into buckets, and a key touches one bucket. `entries_per_key` is the size of a
    bucket. The default is 64 for entropy; for moments it is 16 if you pass an error, otherwise enough to estimate a
    single key to 10%. A `size` of up to 10,000 given alone is one bucket. A statistic computed from several sketches
    gives each of them `size` entries, or takes a list with one size for each (`Plan.sizes`); they share `memory`.

    The (ε, δ) of a plan never depends on `expected`, but its size and noise do, and they are published. Take `expected`
    from public knowledge, never from the data. `deletes` allows deletes, and promises that each undoes an earlier
    update. `sampling` keeps each pair with this probability only. It needs a `size` or a `memory`, is biased, and is
    seldom the better choice; the plan says how it compares.

    Raises:
        PlanInfeasible: no size reaches the error, or δ is below the cost of finite precision. The message says what is
            possible.
    """
    return planned(
        asked_for(
            statistic, privacy, error=error, size=size, memory=memory, entries_per_key=entries_per_key,
            expected=expected, mechanism=mechanism, deletes=deletes, sampling=sampling,
        )
    )  # fmt: skip


def planned(asked: Asked) -> Plan:
    """The plan that answers this question: the only way from a question to a plan, wherever it was asked.

    If nothing is known about the stream of a bare sketch, its error is the one before the floor. The same applies if no
    error was requested and the usual 5% is out of reach: the plan says what it reaches.
    """
    statistic, privacy = asked.statistic, asked.privacy
    if not asked.bare or asked.size is not None or asked.memory is not None or asked.sampling is not None:
        return reaching(asked)
    # For statistics other than moments, no expected value is needed unless an error is requested.
    guessed = asked.error is not None or mechanism_for(statistic, "bare").guesses
    if not guessed or privacy.pairs > 0 or privacy.total > 0 or asked.expected is not None:
        try:
            return reaching(asked)
        except PlanInfeasible:
            if not guessed or asked.error is not None:
                raise
    long = planned_long(asked)
    # What is measured depends on what is public, so sizes are matched by what they measure, not by position.
    sizes = {one.statistic: one.size for one in long.measurements}
    sized = replace(asked, error=None, size=tuple(sizes.get(each, 0) for each in statistic.needs(privacy)))
    return replace(reaching(sized), asked=asked)


def planned_long(asked: Asked) -> Plan:
    """The plan for a stream long enough to need no floor."""
    return reaching(replace(asked, privacy=replace(asked.privacy, pairs=_LONG, relation="replace")))


def reaching(asked: Asked) -> Plan:
    """The plan that reaches the error in every stream that the question allows."""
    statistic, sampling = asked.statistic, asked.sampling
    way = find(statistic, asked.mechanism, sampled=sampling is not None)
    if sampling is not None and (way is None or (asked.size is None and asked.memory is None)):
        sampled = next(each for each in every_mechanism() if each.samples)
        raise ArgumentError(
            "sampling", sampling.rate, f"can be used only for bare sketches of {sampled.measures} with a given size",
            f"Pass {sampled.example}, {arg('mechanism', 'bare')} and {arg('size')} or {arg('memory')} with it",
        )  # fmt: skip
    way = mechanism_for(statistic, asked.mechanism, sampled=sampling is not None)
    if statistic.derived:
        return way.plan(asked)
    if asked.sizes:
        for name, each, one in (("size", asked.sizes, "size"), ("entries_per_key", asked.each_per_key, "number")):
            if len(each) > 1:
                raise ArgumentError(
                    name, each, "must be a single number", f"Pass one {one}", because=f"{statistic} is one sketch"
                )
        if not asked.sizes[0] and not way.exact:
            raise ArgumentError(
                "size", 0, "must be positive", "Pass 64 or more", because=f"{statistic} is measured by a sketch"
            )
        per_key = asked.each_per_key[0] if asked.each_per_key else 0
        asked = replace(asked, size=asked.sizes[0] or None, entries_per_key=per_key or None)
    if not way.in_buckets:
        asked.no_buckets([each.measures for each in reversed(every_mechanism()) if each.in_buckets and each.measures])
    if way.exact and asked.size is not None:
        raise ArgumentError(
            "size", asked.size, f"cannot be used for {statistic}",
            f"Leave out {arg('size')}",
            because="it is counted exactly before noise is added",
        )  # fmt: skip
    return way.plan(asked)
