"""What the table of a bare plan says: of its floor, its error, the exact mechanism, and sampling."""

from __future__ import annotations

from ..statistic import Profile, Shannon, Total
from .plan import Plan
from .sampled import Sampled

__all__ = ["bare_change", "bare_comparison", "bare_error", "bare_part", "is_bare", "sampling_rows"]

_RELATIONS = {
    "replace": "replacing up to {c} of {n}",
    "add_remove": "adding up to {c} to {n}, or removing them",
}


def is_bare(plan: Plan) -> bool:
    """Whether some of what is released is the entries themselves."""
    return any(part.mechanism == "bare" for part in plan.parts or (plan,))


def bare_change(plan: Plan) -> str:
    """What is protected, in a stream of which so much is promised."""
    privacy = plan.privacy
    number = f"at least {privacy.pairs:,}" if privacy.pairs else "any number of"
    change = _RELATIONS[privacy.relation].format(c=privacy.pairs_per_person, n=f"{number} {privacy.unit}s")
    return f"{change}, values up to {privacy.max_value:,}"


def bare_part(part: Plan) -> str:
    """One of several measurements that a statistic is computed from."""
    if isinstance(part.statistic, Total):
        return f"ε = {part.epsilon:.3g}, noise of {part.error * (part.expected or 1.0):,.4g}"
    entries = f"{part.size:,} entries, " if part.size else ""
    return f"{entries}ε = {part.epsilon:.3g}, {f'floor {part.floor:,.4g}' if part.floor else 'no floor'}"


def bare_error(plan: Plan) -> str:
    """The error, and where it is to be expected."""
    error = plan.error
    measured = [part for part in plan.parts or (plan,) if not isinstance(part.statistic, Total)]
    percent = f"{100 * error:,.0f}%" if error >= 1.0 else f"{100 * error:.3g}%"
    # A sketch of entropy has an error of its own whatever the stream, so nothing has to be guaranteed of it.
    if any(part.statistic.relative and not part.relative for part in plan.parts):
        shown = percent if plan.statistic.relative else f"{error:.3g}"
        return f"{shown} where every moment is equal to its floor: nothing is guaranteed about the stream"
    if not plan.statistic.relative:
        return f"{error:.3g} absolute{', where everybody has the least' if plan.privacy.unit == 'key' else ''}"
    if isinstance(plan.statistic, Profile):
        return f"{percent} at most, where every moment is the least there can be"
    if all(isinstance(part.statistic, Shannon) for part in measured):
        return f"{percent} of any stream"
    if not plan.relative:
        return f"{error:,.4g} absolute: nothing is guaranteed about {plan.statistic}"
    return f"{percent} at {plan.statistic} = {plan.expected:,.6g}"


def bare_comparison(plan: Plan) -> str:
    """How the exact mechanism compares."""
    if plan.exact_error >= plan.error:
        return f"no better: {_short_error(plan.exact_error, plan)}"
    ratio = plan.error / plan.exact_error if plan.exact_error > 0 else float("inf")
    times = f"{ratio:,.0f}" if ratio >= 1_000.0 else f"{ratio:.3g}"
    return f"{times} times as accurate, if all keys may be held in memory"


def sampling_rows(plan: Plan, sampled: Sampled) -> list[tuple[str, str]]:
    """How it samples, the bias in that error, and whether a floor alone, or neither, would do better."""
    once = "once for all entries" if sampled.sampling.per == "pair" else "anew for each entry"
    bias = f"; bias {100 * sampled.bias:.3g}% if all keys are seen equally often" if plan.relative else ""
    floor = f"a floor of {sampled.unsampled_floor:,.4g}" if sampled.unsampled_floor else "no floor needed"
    better = "as good, and unbiased" if sampled.unsampled_error <= 1.05 * plan.error else "worse"
    if sampled.unsampled_error < 0.95 * plan.error:
        better = "better: leave out sampling"
    bare = f"ε = {sampled.bare_epsilon:.4g}" if sampled.bare_epsilon < 1000.0 else "no guarantee to speak of"
    return [
        ("sampling", f"{100 * sampled.sampling.rate:g}% of pairs, {once}{bias}"),
        ("without sampling", f"{floor}, error {_short_error(sampled.unsampled_error, plan)}: {better}"),
        ("with neither", bare),
    ]


def _short_error(error: float, plan: Plan) -> str:
    return f"{100 * error:.3g}%" if plan.relative else f"{error:,.4g}"
