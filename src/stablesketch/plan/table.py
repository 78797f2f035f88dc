"""A plan as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..privacy import delta_advice
from ..statistic import Distinct, Profile, Shannon, Total

if TYPE_CHECKING:
    from .plan import Plan
    from .sampled import Sampled

__all__ = ["error_in_words", "plan_table"]

_RELATIONS = {
    "replace": "replacing up to {c} of {n}",
    "add_remove": "adding up to {c} to {n}, or removing them",
}


def plan_table(plan: Plan) -> str:
    """What is asked, what is reached, what it costs, and what would do better."""
    privacy = plan.privacy
    number = f"at least {privacy.pairs:,}" if privacy.pairs else "any number of"
    change = _RELATIONS[privacy.relation].format(c=privacy.pairs_per_person, n=f"{number} {privacy.unit}s")
    rows = [
        ("statistic", str(plan.statistic)),
        ("protects", f"{change}, values up to {privacy.max_value:,}"),
        ("asked", f"ε = {privacy.epsilon:g}, δ = {privacy.delta:g}"),
        ("reached", f"ε = {plan.epsilon:.4g}, δ = {plan.delta:.3g}"),
        ("pure ε", f"{plan.pure_epsilon:.4g} at δ = 0" if plan.delta else f"{plan.pure_epsilon:.4g}"),
    ]
    if plan.parts:
        rows += [(str(part.statistic), _part(part)) for part in plan.parts]
    if plan.mechanism != "exact":
        rows += [("size", f"{plan.size:,} entries, about {_bytes(plan.bytes)} stored")]
        rows += [("floor", f"{plan.floor:,.6g}" if plan.floor else "none needed")] if not plan.parts else []
    else:
        rows += [("memory", "every key of the stream, as a keyed fingerprint")]
    rows += [("error", error_in_words(plan.error, plan)), ("exact + Laplace", _comparison(plan))]
    if plan.sampled is not None:
        rows += _sampling(plan, plan.sampled)
    advice = delta_advice(privacy)
    if advice is not None and plan.delta:
        rows += [("note", advice)]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {text}" for name, text in rows]
    title = f"Plan: {plan.statistic} by the {plan.mechanism} mechanism"
    rule = "─" * max(len(line) for line in [title, *lines])
    return "\n".join([title, rule, *lines])


def _part(part: Plan) -> str:
    """One of several measurements that a statistic is computed from."""
    if isinstance(part.statistic, Total):
        return f"ε = {part.epsilon:.3g}, noise of {part.error * (part.expected or 1.0):,.4g}"
    entries = f"{part.size:,} entries, " if part.size else ""
    return f"{entries}ε = {part.epsilon:.3g}, {f'floor {part.floor:,.4g}' if part.floor else 'no floor'}"


def error_in_words(error: float, plan: Plan) -> str:
    """The error, and where it is to be expected."""
    measured = [part for part in plan.parts or (plan,) if not isinstance(part.statistic, Total)]
    percent = f"{100 * error:,.0f}%" if error >= 1.0 else f"{100 * error:.3g}%"
    exact_entropy = any(isinstance(part.statistic, Shannon) and part.mechanism == "exact" for part in measured)
    if exact_entropy and not max(plan.privacy.pairs, plan.privacy.total):
        return "the smaller the longer the stream is; nothing is promised of its length"
    # A sketch of entropy has an error of its own whatever the stream, so nothing has to be guaranteed of it.
    if any(part.statistic.relative and not part.relative for part in plan.parts):
        shown = percent if plan.statistic.relative else f"{error:.3g}"
        return f"{shown} where every moment is equal to its floor: nothing is guaranteed about the stream"
    if not plan.statistic.relative:
        return f"{error:.3g} absolute{', where everybody has the least' if plan.privacy.unit == 'key' else ''}"
    if isinstance(plan.statistic, Profile):
        return f"{percent} at most, where every moment is the least there can be"
    if all(isinstance(part.statistic, Shannon) for part in measured):
        return f"{percent} of any stream" if plan.mechanism != "exact" else f"{percent} in a stream so long"
    if all(isinstance(part.statistic, Distinct) for part in measured) and not plan.expected:
        return f"{percent} of many keys"
    if not plan.relative:
        return f"{error:,.4g} absolute: nothing is guaranteed about {plan.statistic}"
    return f"{percent} at {plan.statistic} = {plan.expected:,.6g}"


def _sampling(plan: Plan, sampled: Sampled) -> list[tuple[str, str]]:
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


def _comparison(plan: Plan) -> str:
    if plan.mechanism == "exact":
        return "this is it"
    parts = plan.parts or (plan,)
    if all(isinstance(part.statistic, Distinct) for part in parts) and not plan.expected:
        deviation = 2.0**0.5 * plan.privacy.pairs_per_person / plan.privacy.epsilon
        return f"within some {deviation:,.3g} of any number of keys, if all may be held in memory"
    ratio = plan.error / plan.exact_error if plan.exact_error > 0 else float("inf")
    times = f"{ratio:,.0f}" if ratio >= 1_000.0 else f"{ratio:.3g}"
    if ratio <= 1.0:
        return f"no better: {_short_error(plan.exact_error, plan)}"
    return f"{times} times as accurate, if all keys may be held in memory"


def _bytes(count: int) -> str:
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1024:,.1f} KiB"
