"""`plan`: from a statistic and what to protect to a mechanism that answers it, using public numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import ArgumentError
from ..privacy import Privacy
from ..privacy.sampling import Sampling
from ..statistic import Statistic
from ..text.wording import arg
from .asked import Asked, MechanismName
from .asked import asked as asked_for
from .mechanism import Mechanism, every_mechanism, find, measuring, mechanism_for
from .plan import Plan


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
    """The plan that answers this question: the only way from a question to a plan, wherever it was asked."""
    statistic, sampling = asked.statistic, asked.sampling
    way = find(statistic, asked.mechanism, sampled=sampling is not None)
    if sampling is not None and (way is None or not asked.sized):
        sampled = next(each for each in every_mechanism() if each.samples)
        raise ArgumentError(
            "sampling", sampling.rate, f"can be used only for bare sketches of {sampled.measures} with a given size",
            f"Pass {sampled.example}, {arg('mechanism', 'bare')} and {arg('size')} or {arg('memory')} with it",
        )  # fmt: skip
    way = mechanism_for(statistic, asked.mechanism, sampled=sampling is not None)
    if not statistic.derived:
        asked = _of_one(asked, way)
    _check_size(asked)
    if not statistic.derived and not way.in_buckets:
        asked.no_buckets([each.measures for each in reversed(every_mechanism()) if each.in_buckets and each.measures])
    return way.plan(asked)


def _of_one(asked: Asked, way: Mechanism) -> Asked:
    """The question about a single measurement, whose sizes were given one by one."""
    if not asked.sizes:
        return asked
    for name, each, one in (("size", asked.sizes, "size"), ("entries_per_key", asked.each_per_key, "number")):
        if len(each) > 1:
            raise ArgumentError(
                name, each, "must be a single number", f"Pass one {one}", because=f"{asked.statistic} is one sketch"
            )
    if not asked.sizes[0] and not way.exact:
        raise ArgumentError(
            "size", 0, "must be positive", "Pass 64 or more", because=f"{asked.statistic} is measured by a sketch"
        )
    per_key = asked.each_per_key[0] if asked.each_per_key else 0
    return replace(asked, size=asked.sizes[0] or None, entries_per_key=per_key or None)


def _check_size(asked: Asked) -> None:
    """Refuses a size where nothing has one, and a memory where all keys are held."""
    given = {"size": asked.size, "memory": asked.memory_as_given or asked.memory}
    refused = {
        "size": any(asked.sizes or (1,)) and all(each.exact for each in measuring(asked)),
        "memory": any(each.exact and not each.counter for each in measuring(asked)),
    }
    for name, value in given.items():
        if value is not None and refused[name]:
            raise ArgumentError(
                name, value, f"cannot be used for {asked.statistic}",
                f"Leave out {arg(name)}",
                because="it is counted exactly before noise is added",
            )  # fmt: skip
