"""A plan as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..privacy import delta_advice
from ..statistic import Total
from .bare_words import bare_change, bare_comparison, bare_part, is_bare, sampling_rows
from .in_words import (
    both_errors,
    change,
    entries,
    error_in_words,
    exact_in_words,
    memory,
    noise_in_words,
    noise_on_top,
)

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["plan_table"]


def plan_table(plan: Plan) -> str:
    """What is asked, what is reached, what it costs, and what the exact mechanism would do."""
    privacy = plan.privacy
    rows = [
        ("statistic", str(plan.statistic)),
        ("protects", bare_change(plan) if is_bare(plan) else f"{change(privacy)}{_public(plan)}"),
        ("asked", f"ε = {privacy.epsilon:g}, δ = {privacy.delta:g}"),
        ("reached", f"ε = {plan.epsilon:.4g}, δ = {plan.delta:.3g}"),
    ]
    rows += _bare_rows(plan) if is_bare(plan) else _rows(plan)
    advice = delta_advice(privacy)
    if advice is not None and plan.delta:
        rows += [("note", advice)]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {text}" for name, text in rows]
    title = f"Plan: {plan.statistic} by the {plan.mechanism} mechanism"
    rule = "─" * max(len(line) for line in [title, *lines])
    return "\n".join([title, rule, *lines])


def _public(plan: Plan) -> str:
    return f"; the number of {plan.privacy.unit}s is public" if plan.privacy.relation == "replace" else ""


def _rows(plan: Plan) -> list[tuple[str, str]]:
    """Entries, noise and error; what the exact mechanism would do, where this is another one."""
    rows = [(str(part.statistic), _part(part)) for part in plan.parts]
    if plan.mechanism == "exact":
        rows += [("memory", memory(plan))]
    else:
        sketches = sum(part.size > 0 for part in plan.parts)
        size = f"{plan.size:,} entries in all, " if sketches > 1 else "" if plan.parts else f"{entries(plan)}, "
        rows += [("size", f"{size}about {_bytes(plan.bytes)} stored")]
    on_top = noise_on_top(plan) if plan.parts else ""
    rows += [] if plan.parts else [("noise", noise_in_words(plan))]
    rows += [("error", both_errors(plan) if on_top else error_in_words(plan))]
    rows += [("noise", on_top)] if on_top else []
    return rows if plan.mechanism == "exact" else [*rows, ("exact", exact_in_words(plan))]


def _part(part: Plan) -> str:
    """One of several measurements that a statistic is computed from."""
    kind = "one counter" if isinstance(part.statistic, Total) else entries(part) if part.size else ""
    return f"{kind}{', ' if kind else ''}noise {noise_in_words(part)}"


def _bare_rows(plan: Plan) -> list[tuple[str, str]]:
    rows = [("pure ε", f"{plan.pure_epsilon:.4g} at δ = 0")]
    rows += [(str(part.statistic), bare_part(part)) for part in plan.parts]
    rows += [("size", f"{plan.size:,} entries, about {_bytes(plan.bytes)} stored")]
    rows += [("floor", f"{plan.floor:,.6g}" if plan.floor else "none needed")] if not plan.parts else []
    rows += [("error", error_in_words(plan)), ("exact + Laplace", bare_comparison(plan))]
    return rows + (sampling_rows(plan, plan.sampled) if plan.sampled is not None else [])


def _bytes(count: int) -> str:
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1024:,.1f} KiB"
