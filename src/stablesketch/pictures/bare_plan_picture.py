"""The picture of a bare plan: how ε, the size and the floor affect the error, and where the exact table is better.

Every point of a curve is a plan of its own, made by `stablesketch.plan`. Where no plan exists (finite precision, too
many phantoms) the curve has no point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import PlanInfeasible
from ..plan import Plan
from ..plan.in_words import act, promised
from ..plan.mechanism import mechanism_for, mechanism_of
from ..text.spoken import short
from .style import BLUE, GREEN, GREY, INK, VERMILION, log_axes, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = list[tuple[float, float]]
_SIZES = (50, 200, 1_000, 5_000, 10_000)
STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # multiples of the requested ε
EXACT = "exact table + noise"


@dataclass(frozen=True)
class Neighbourhood:
    """The plans around a plan, as curves of (what varies, error). Unless a plan is bare or has an expected value, those
    by ε are of the noise alone.
    """

    sketch: Plan  # the plan itself; for a plan of the exact mechanism, a sketch to compare with
    by_epsilon: Curve
    exact_by_epsilon: Curve
    by_size: Curve
    by_size_alone: Curve  # without noise; without a floor if the plan is bare


def bare_neighbourhood(chosen: Plan) -> Neighbourhood:
    """About a dozen plans, which take a few seconds: other ε at this size, and other sizes at this ε.

    The first ε that needs no floor is the last one planned, apart from the largest: the error is constant between them.
    """
    size, own = chosen.size, chosen.privacy.epsilon
    by_epsilon: list[tuple[float, Plan]] = []
    rising = [step * own for step in STEPS]
    no_floor = not chosen.statistic.rises
    while rising:
        without_floor = bool(by_epsilon) and by_epsilon[-1][1].floor == 0.0 and not no_floor
        epsilon = rising.pop(-1 if without_floor else 0)
        made = _planned(chosen, epsilon, size)
        if made is None and no_floor:  # a smaller ε allows fewer entries
            made = _planned(chosen, epsilon, None)
        if made is not None:
            by_epsilon.append((epsilon, made))
            if without_floor:
                break
    by_size = [(one, _planned(chosen, own, one)) for one in sorted({*_SIZES, size})]
    made_by_size = [(one, made) for one, made in by_size if made is not None]
    return Neighbourhood(
        chosen,
        [(epsilon, made.error) for epsilon, made in by_epsilon],
        [(step * own, chosen.exact_error * own / (step * own)) for step in STEPS],  # noise is proportional to 1/ε
        [(one, made.error) for one, made in made_by_size],
        [(one, mechanism_of(made).error_alone(made)) for one, made in made_by_size],
    )


def draw_bare(chosen: Plan, around: Neighbourhood) -> Figure:
    """Error against ε and against the size, and for moments against F_p itself."""
    figure, (left, middle, *rest) = panels(3 if chosen.statistic.relative else 2)
    drawn = f"sketch of {chosen.size:,}{'' if chosen.statistic.rises else ' or fewer'}"
    draw_by_epsilon(left, chosen, around, drawn, chosen.error)
    log_axes(left, "What privacy costs", "requested ε", _error_label(chosen), percent=chosen.relative)
    _against_size(middle, chosen, around)
    for right in rest:
        _against_moment(right, chosen)
    return figure


def draw_by_epsilon(axes: Axes, chosen: Plan, around: Neighbourhood, drawn: str, at: float) -> None:
    """The curves by ε: of the sketch, which is `drawn`, and of the exact table; and the plan itself `at` its error."""
    if around.by_epsilon:
        axes.plot(*zip(*around.by_epsilon, strict=True), color=BLUE, linewidth=3.5, label=drawn)
    axes.plot(*zip(*around.exact_by_epsilon, strict=True), color=VERMILION, linestyle="--", label=EXACT)
    axes.plot([chosen.privacy.epsilon], [at], "o", color=INK, markersize=10, label="this plan", zorder=5)


def _against_size(axes: Axes, chosen: Plan, around: Neighbourhood) -> None:
    if around.by_size:
        sizes, errors = zip(*around.by_size, strict=True)
        if chosen.relative:
            bare = [error for _, error in around.by_size_alone]
            axes.fill_between(sizes, bare, errors, color=BLUE, alpha=0.15, linewidth=0, label="what the floor costs")
            axes.plot(sizes, bare, color=GREY, linestyle=":", label="sketch without floor")
        axes.plot(sizes, errors, color=BLUE, linewidth=3.5, label="sketch, as released")
    axes.axhline(chosen.exact_error, color=VERMILION, linestyle="--", label=EXACT)
    axes.plot([chosen.size], [chosen.error], "o", color=INK, markersize=10, zorder=5)
    log_axes(axes, "What the size buys", "entries of the sketch", percent=chosen.relative)


def _against_moment(axes: Axes, chosen: Plan) -> None:
    """Relative error against F: γ(1 + Λ/F) for the sketch and σ/F for the exact table, equal at F = σ/γ - Λ."""
    sigma = mechanism_for(chosen.statistic, "exact").noise_deviation(chosen)
    mass, spread = chosen.floor, mechanism_of(chosen).error_alone(chosen)
    crossing = sigma / spread - mass if spread > 0.0 else 0.0
    centre = chosen.expected or max(mass, sigma, 1.0)
    low = min(centre, crossing) / 5.0 if crossing > 0.0 else centre / 20.0
    high = max(centre, crossing) * 300.0
    moments = [low * (high / low) ** (k / 100.0) for k in range(101)]
    if crossing > 0.0:
        axes.axvspan(low, crossing, color=GREEN, alpha=0.16, linewidth=0, label="the sketch wins")
    axes.axvspan(max(low, crossing), high, color=VERMILION, alpha=0.09, linewidth=0, label="the exact table wins")
    axes.plot(moments, [sigma / moment for moment in moments], color=VERMILION, linestyle="--")
    if spread > 0.0:
        axes.plot(moments, [spread] * len(moments), color=GREY, linestyle=":")
        axes.plot(moments, [spread * (1.0 + mass / moment) for moment in moments], color=BLUE, linewidth=3.5)
    log_axes(
        axes, "If the exact table may be held", f"{chosen.statistic} of the stream", "relative error", percent=True,
        within=(low, high),
    )  # fmt: skip


def _planned(chosen: Plan, epsilon: float, size: int | None) -> Plan | None:
    try:
        return chosen.again(epsilon=epsilon, size=size, expected=chosen.expected or None)
    except PlanInfeasible:
        return None


def _error_label(chosen: Plan) -> str:
    if chosen.relative:
        return f"error at {chosen.statistic} = {short(chosen.expected)}"
    return f"error of {chosen.statistic}, absolute"


def promise(chosen: Plan) -> str:
    """What a bare plan protects, and what it needs for that."""
    privacy = chosen.privacy
    return f"{act(privacy.relation)} {privacy.pairs_per_person:,} of {promised(privacy)}"
