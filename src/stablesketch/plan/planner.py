"""`plan`: from a statistic and what is to be protected to a mechanism that reaches it, from public numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import ArgumentError, ArgumentTypeError
from ..privacy import Privacy, PrivacyCurve
from ..privacy.neighbours import log_sensitivity
from ..privacy.sampling import Sampling
from ..statistic import Derived, Distinct, Moment, Shannon, Statistic, Total
from .bare_entropy_plan import bare_entropy_plan
from .bare_plan import bare_plan, not_above_one
from .derived_plan import derived_plan
from .distinct_plan import distinct_plan
from .entropy_plan import entropy_plan
from .exact_entropy_plan import exact_entropy_plan
from .moment_plan import moment_plan
from .plan import Mechanism, Plan
from .sampled import checked_sampling, sampled_plan
from .total_plan import total_plan
from .wanted import Wanted, wanted

__all__ = ["plan", "plan_of_group"]


def plan(
    statistic: Statistic,
    privacy: Privacy,
    *,
    error: float | None = None,
    size: int | Sequence[int] | None = None,
    memory: str | int | None = None,
    entries_per_key: int | Sequence[int] | None = None,
    expected: float | None = None,
    mechanism: Mechanism = "sketch",
    deletes: bool = False,
    sampling: Sampling | float | None = None,
) -> Plan:
    """A plan that reaches the (ε, δ) of `privacy`, by one of: a target `error`, a `size`, or a `memory` ("64K").

    `error` is relative for moments, counts and Hill numbers, at the value `expected` or without the noise; for
    entropies and indices it is absolute. Without any of the three, moments of orders below 1 and entropy have 256 KB,
    and everything else the error of the statistic (`Statistic.default_error`).

    Beyond 512 entries these lie in buckets, of which a key touches one. `entries_per_key` says how many that is: by
    default 64 of entropy, and of moments 16 where an error is asked for, else as many as know one key alone to 10%. A
    `size` of up to 10,000 that comes alone is one bucket. A statistic that is computed from several sketches gives each
    of them `size` entries, or takes a list with one for each (`Plan.sizes`), and shares out `memory`.

    The (ε, δ) of a plan never depends on `expected`, but its size and noise do and are published: take `expected` from
    public knowledge, never from the data. `deletes` promises that every delete undoes an earlier update, and allows
    them. `sampling` keeps every pair with this probability only; it takes a `size` or a `memory`, is biased, and is
    seldom the better choice: the plan says how it compares.

    Raises:
        PlanInfeasible: no size reaches the error, or δ is below what finite precision costs; the message says what
            would.
    """
    if not isinstance(statistic, Statistic):
        raise ArgumentTypeError("statistic", statistic, "not a statistic", "Pass ss.Moment(0.5), for example")
    if not isinstance(privacy, Privacy):
        raise ArgumentTypeError("privacy", privacy, "not a Privacy", "Pass ss.Privacy(epsilon=1.0, delta=1e-9, ...)")
    asked = wanted(
        error=error, size=size, memory=memory, entries_per_key=entries_per_key, expected=expected, mechanism=mechanism,
        deletes=deletes,
    )  # fmt: skip
    if sampling is None:
        return _planned(statistic, privacy, asked)
    rate = checked_sampling(sampling)
    if not isinstance(statistic, Moment) or mechanism != "bare" or (asked.size is None and memory is None):
        raise ArgumentError(
            "sampling", rate.rate, "sampling is for bare sketches of a moment, of a given size",
            "Pass ss.Moment(...), mechanism='bare' and size= or memory= with it",
        )  # fmt: skip
    if privacy.unit == "key":
        raise ArgumentError("sampling", rate.rate, "nothing is proved of it for whole keys", "Leave it out")
    base = bare_plan(statistic, privacy, asked)
    bare = PrivacyCurve.from_log(statistic.p, base.size, min(log_sensitivity(statistic.p, privacy), 700.0))
    return sampled_plan(base, rate, bare.epsilon(privacy.delta))


def plan_of_group(
    statistic: Statistic, privacy: Privacy, usual_memory: int, *, expected: float | None,
    entries_per_key: int | Sequence[int] | None,
) -> Plan:  # fmt: skip
    """As `plan` where no error, size or memory is asked for, but with so much memory instead of the usual 256 KB."""
    asked = wanted(
        error=None, size=None, memory=None, entries_per_key=entries_per_key, expected=expected, mechanism="sketch",
        deletes=False,
    )  # fmt: skip
    return _planned(statistic, privacy, replace(asked, usual_memory=usual_memory))


def _planned(statistic: Statistic, privacy: Privacy, asked: Wanted) -> Plan:
    if isinstance(statistic, Derived):
        if asked.mechanism == "bare":
            not_above_one(statistic.needs(privacy))
        return derived_plan(statistic, privacy, asked, _planned)
    if asked.sizes:
        if len(asked.sizes) > 1:
            raise ArgumentError("size", asked.sizes, f"{statistic} is one sketch", "Pass one size")
        return _planned(statistic, privacy, asked.one(asked.sizes[0], *asked.each_per_key))
    if isinstance(statistic, Moment):
        return moment_plan(statistic, privacy, asked)
    if isinstance(statistic, Shannon):
        if asked.mechanism != "sketch":
            asked.no_buckets(statistic)
        ways = {"sketch": entropy_plan, "exact": exact_entropy_plan, "bare": bare_entropy_plan}
        return ways[asked.mechanism](statistic, privacy, asked)
    asked.no_buckets(statistic)
    if isinstance(statistic, Distinct):
        return distinct_plan(statistic, privacy, asked)
    if isinstance(statistic, Total):
        return total_plan(statistic, privacy, asked)
    raise ArgumentTypeError("statistic", statistic, "nothing is known of how to plan it", "Pass one of this library's")
