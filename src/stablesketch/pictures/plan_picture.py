"""The picture of a plan: how ε affects the noise, how the size affects the error, and both together.

Every point of a curve is a plan of its own, made by `stablesketch.plan`. If a value is expected, errors are relative to
it and include the noise. Otherwise noise and error are shown separately, which holds for every stream. A statistic
computed from one sketch gets the picture of that sketch, which may have only a share of ε, and says so. A bare plan has
its own picture (bare_plan_picture.py). If the noise depends on the length of the stream, and none is expected, the
picture is for a stream of 10,000 pairs, and says so.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, PlanInfeasible
from ..plan import Plan
from ..plan.in_words import change
from ..plan.mechanism import mechanism_for, mechanism_of, needs_promise
from ..statistic import usual
from ..text.spoken import at_most, short
from ..text.wording import arg
from .bare_plan_picture import EXACT, STEPS, Neighbourhood, bare_neighbourhood, draw_bare, draw_by_epsilon, promise
from .save import picture_bytes
from .style import BLUE, GREY, INK, SKY, VERMILION, in_style, log_axes, panels, titled_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZES = (20, 50, 200, 1_000, 5_000, 10_000)
_SIZES_IN_BUCKETS = (200, 1_000, 5_000, 20_000, 100_000, 1_000_000)
_LENGTH = 10_000  # assumed pairs of an unknown stream, for noise that depends on their number


def drawn_measurement(chosen: Plan, argument: str = "plan") -> Plan:
    """The plan that is drawn. If the statistic is computed from one sketch, it is the plan of that sketch. Errors name
    `argument`.

    Raises:
        ArgumentError: there are several sketches, or none, or pairs are sampled.
    """
    if chosen.sampled is not None:
        raise ArgumentError(
            argument, chosen.sampled.sampling, "must not sample to be drawn", f"Leave out {arg('sampling')}"
        )
    # A statistic that is exact even when a sketch is asked for, such as a total, has none.
    measured = [one for one in chosen.measurements if one.size or not mechanism_for(one.statistic, "sketch").exact]
    if len(measured) == 1 and (way := mechanism_of(measured[0])).exact and way.by_length:
        raise ArgumentError(
            argument, str(chosen.statistic), "must be for a sketch if the noise depends on the length of the stream",
            f"Draw the plan of a sketch ({arg('mechanism', 'sketch')})",
        )  # fmt: skip
    if len(measured) != 1:
        raise ArgumentError(
            argument, str(chosen.statistic), "must be for a single sketch",
            f"Draw {chosen.statistic.points[0].named if chosen.statistic.several else usual().named}, for example",
            because=f"this has {len(measured)}",
        )  # fmt: skip
    return measured[0]


def neighbourhood(chosen: Plan) -> Neighbourhood:
    """About a dozen plans, which take a few seconds: other ε at this size, and other sizes at this ε.

    The exact mechanism has no size: beside it is the sketch that would be planned by default.
    """
    whole, chosen = chosen, drawn_measurement(chosen)
    own = chosen.privacy.epsilon
    fewest = mechanism_for(chosen.statistic, "sketch").fewest
    sketch = _of_a_length(chosen if chosen.size else drawn_measurement(_again(whole, mechanism="sketch")))
    by_epsilon = [(step * own, _planned(sketch, step * own, sketch.size)) for step in STEPS]
    each = sketch.entries_per_key
    others = [each * max(size // each, 2) for size in _SIZES_IN_BUCKETS] if sketch.buckets > 1 else _SIZES
    by_size = [(one, _planned(sketch, own, one)) for one in sorted({*others, sketch.size}) if one >= fewest]
    return Neighbourhood(
        sketch,
        [(epsilon, made.error if _includes_noise(made) else _noise(made)) for epsilon, made in by_epsilon],
        [(epsilon, made.exact_error if _includes_noise(made) else _exact_noise(made)) for epsilon, made in by_epsilon],
        [(one, made.error) for one, made in by_size],
        [(one, mechanism_of(made).error_alone(made)) for one, made in by_size],
    )


@in_style
def plan_picture(chosen: Plan, around: Neighbourhood | None = None) -> Figure:
    """Three panels: against ε, against the size, and against the value. `drawn_measurement` says which plans work."""
    whole, chosen = chosen, drawn_measurement(chosen)
    privacy, one = whole.privacy, chosen.privacy
    if mechanism_of(chosen).bare:
        figure = draw_bare(chosen, around or bare_neighbourhood(chosen))
        kind, protected = "Bare plan", promise(whole)
    else:
        figure = _draw(chosen, around or neighbourhood(whole))
        kind, protected = "Plan", change(privacy)
    price = f"ε = {at_most(privacy.epsilon, 3)}, δ = {at_most(privacy.delta, 3)}"
    said = [f"{kind}: {whole.statistic} at {price}, {protected}"]
    if whole is not chosen:
        said.append(f"Shown: {chosen.statistic}, which it is computed from")
    if one.epsilon < privacy.epsilon:
        said[-1] += f", at its share of ε, {at_most(one.epsilon, 3)}"
        axes = figure.axes[0]
        axes.set_xlabel(f"{axes.get_xlabel()} of {chosen.statistic}")
    titled_panels(figure, *said)
    return figure


def plan_bytes(chosen: Plan, path: Path, figure: Figure | None = None) -> bytes:
    """The picture of a plan as the content of the file `path`; `figure` is the picture if there is one."""
    one = drawn_measurement(chosen)
    title = f"Plan: {chosen.statistic}"
    itself = f", and against {one.statistic} itself" if one.statistic.relative else ""
    all_of_it = needs_promise(one) or one.expected or mechanism_of(one).by_length
    costs = "the error" if all_of_it else "the noise"
    alt = f"{title}: {costs} of {one.statistic} against ε, and the error against the size of the sketch{itself}."
    return picture_bytes(figure or plan_picture(chosen), path, title, alt)


def _draw(chosen: Plan, around: Neighbourhood) -> Figure:
    figure, (left, middle, *rest) = panels(3 if chosen.statistic.relative else 2)
    drawn = around.sketch if chosen.size else chosen
    _against_epsilon(left, drawn, around)
    _against_size(middle, drawn, around)
    for right in rest:
        _against_value(right, chosen, around)
    return figure


def _against_epsilon(axes: Axes, chosen: Plan, around: Neighbourhood) -> None:
    at, label = chosen.error, _error_label(chosen)
    if not _includes_noise(chosen):
        at, label = _noise(chosen), f"noise on {mechanism_of(chosen).measured(chosen)}, standard deviation"
    default = "" if chosen.size else ", the default"
    draw_by_epsilon(axes, chosen, around, f"sketch of {around.sketch.size:,}{default}", at)
    log_axes(axes, "What privacy costs", "ε", label, percent=bool(chosen.expected) and chosen.statistic.relative)


def _against_size(axes: Axes, chosen: Plan, around: Neighbourhood) -> None:
    sizes, errors = zip(*around.by_size, strict=True)
    if chosen.expected:
        alone = [error for _, error in around.by_size_alone]
        axes.fill_between(sizes, alone, errors, color=BLUE, alpha=0.15, linewidth=0, label="what the noise adds")
        axes.plot(sizes, alone, color=GREY, linestyle=":", label="sketch without noise")
    if _includes_noise(chosen):
        axes.axhline(chosen.exact_error, color=VERMILION, linestyle="--", label=EXACT)
    noise = "with" if _includes_noise(around.sketch) else "without"
    axes.plot(sizes, errors, color=BLUE, linewidth=3.5, label=f"sketch {noise} noise")
    if chosen.size:
        axes.plot([chosen.size], [chosen.error], "o", color=INK, markersize=10, label="this plan", zorder=5)
    sketch = around.sketch
    kind = mechanism_of(sketch).entries_named[1]
    touched = f", {sketch.entries_per_key} per key" if sketch.buckets > 1 else ""
    label = f"{kind} of the sketch{touched}"
    log_axes(axes, "What the size buys", label, _error_label(chosen), percent=chosen.statistic.relative)


def _against_value(axes: Axes, chosen: Plan, around: Neighbourhood) -> None:
    """Relative error against F: sqrt(v + 2 b²/F²) for the sketch, the noise alone for the exact table."""
    sketch = around.sketch
    way = mechanism_of(sketch)
    alone, exact, order = way.error_alone(sketch), _exact_noise(sketch), way.exponent(sketch)
    equal = float((order * _noise(sketch) / alone) ** order)  # where the noise equals the error of the sketch
    centre = chosen.expected or equal
    low, high = min(centre, equal) / 30.0, max(centre, equal) * 100.0
    values = [low * (high / low) ** (k / 100.0) for k in range(101)]
    axes.axvspan(low, equal, color=SKY, alpha=0.22, linewidth=0, label="mostly noise")
    table = [way.noise_at_value(sketch, value, exact) for value in values]
    axes.plot(values, table, color=VERMILION, linestyle="--", label=EXACT)
    axes.plot(values, [alone] * len(values), color=GREY, linestyle=":", label="sketch without noise")
    both = [math.hypot(alone, way.noise_at_value(sketch, value)) for value in values]
    axes.plot(values, both, color=BLUE, linewidth=3.5, label="sketch with noise")
    if chosen.expected:
        axes.plot([chosen.expected], [chosen.error], "o", color=INK, markersize=10, label="this plan", zorder=5)
    log_axes(
        axes, "Noise and size together", f"{chosen.statistic} of the stream", "relative error", percent=True,
        within=(low, high),
    )  # fmt: skip


def _includes_noise(made: Plan) -> bool:
    return mechanism_of(made).includes_noise(made)


def _of_a_length(chosen: Plan) -> Plan:
    """The plan itself. If its noise depends on the length of the stream and none is known, it has an assumed one, which
    changes only the prediction."""
    if not mechanism_of(chosen).by_length or _includes_noise(chosen):
        return chosen
    return chosen.again(same_size=True, pairs=_LENGTH, expected=None)


def _planned(like: Plan, epsilon: float, size: int) -> Plan:
    per_key = like.entries_per_key if like.buckets > 1 else None
    return _again(
        like, epsilon=epsilon, size=size, entries_per_key=per_key, expected=like.expected or None,
        mechanism="sketch",
    )  # fmt: skip


def _again(like: Plan, **changes: Any) -> Plan:
    """A sketch with noise exists for every ε and every size, unless δ is too small."""
    try:
        return like.again(**changes)
    except PlanInfeasible as error:
        epsilon = changes.get("epsilon", like.privacy.epsilon)
        raise ArgumentError(
            "plan", str(like.statistic), f"must exist at ε = {epsilon:g} to be drawn ({error.wording})",
            "Draw another plan",
        ) from None  # fmt: skip


def _noise(made: Plan) -> float:
    return mechanism_of(made).noise_deviation(made)


def _exact_noise(made: Plan) -> float:
    return mechanism_for(made.statistic, "exact").noise_deviation(made)


def _error_label(chosen: Plan) -> str:
    if chosen.expected:
        return f"error at {chosen.statistic} = {short(chosen.expected)}, noise included"
    if _includes_noise(chosen):
        length = max(chosen.privacy.pairs, chosen.privacy.total)
        return f"error in {chosen.statistic.unit}, in a stream of {short(length)} {chosen.privacy.unit}s"
    return f"error as a share of {mechanism_of(chosen).measured(chosen)}"
