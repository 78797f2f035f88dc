"""A plan in words: what it protects, how much it errs, and what the exact mechanism would do."""

from __future__ import annotations

import math

from ..privacy import Privacy
from ..statistic import Derived, Distinct, Moment, Profile, Renyi, Shannon, Simpson, Statistic, Tsallis
from .bare_words import bare_error, is_bare
from .exact_plan import least_moment
from .noise import is_included, noise_deviation, noise_scale, pairs_for_noise_below
from .plan import Plan
from .total_plan import is_counted

__all__ = [
    "amount", "both_errors", "change", "entries", "error_in_words", "exact_in_words", "measured", "memory",
    "noise_in_words", "noise_on_top", "percent", "shown_error", "values",
]  # fmt: skip

_HELD = "if all keys may be held in memory"


def change(privacy: Privacy) -> str:
    """What tells neighbouring streams apart.

    >>> change(Privacy(1.0, 1e-9))
    'adding or removing any one pair'
    >>> change(Privacy(1.0, 1e-9, pairs_per_person=20, max_value=5, relation="replace"))
    'replacing any 20 pairs of one person, values up to 5'
    """
    c, unit = privacy.pairs_per_person, privacy.unit
    act = "replacing" if privacy.relation == "replace" else "adding or removing"
    whose = f"any one {unit}" if c == 1 else f"any {c:,} {unit}s of one person"
    spread = f", in up to {privacy.copies:,} groups" if privacy.copies > 1 else ""
    return f"{act} {whose}{spread}{values(privacy)}"


def values(privacy: Privacy) -> str:
    """How large they may be, where they vary."""
    if privacy.max_value == 1:
        return ""
    return f", {'totals' if privacy.unit == 'key' else 'values'} up to {privacy.max_value:,}"


def measured(statistic: Statistic) -> str:
    """What the noise is added to, and what its size is compared with: above order 1 the norm of the totals."""
    if isinstance(statistic, Moment) and statistic.p > 1.0:
        return f"F_{statistic.p:g}^(1/{statistic.p:g})"
    if isinstance(statistic, Distinct):
        return "the number of keys"
    return "entropy times the total" if isinstance(statistic, Shannon) else str(statistic)


def entries(part: Plan) -> str:
    """How many numbers a sketch has."""
    if isinstance(part.statistic, Distinct):
        return f"{part.size:,} registers"
    if part.buckets > 1:
        return f"{part.size:,} entries in {part.buckets:,} buckets, {part.entries_per_key:,} a key"
    return f"{part.size:,} {'entry' if part.size == 1 else 'entries'}"


def amount(value: float) -> str:
    """Three digits, or all before the point: 1.87, 0.0125, 3,000."""
    return f"{value:,.0f}" if value >= 1_000.0 else f"{value:.3g}"


def noise_in_words(part: Plan) -> str:
    """The scale b of the Laplace noise, in units of what is measured."""
    scale = noise_scale(part)
    return f"b = {amount(scale)}{_on_norm(part)}" if scale else "b grows with the logarithm of the total"


def _on_norm(part: Plan) -> str:
    """What the noise is on, where that is not the statistic itself."""
    norm = isinstance(part.statistic, Moment) and part.statistic.p > 1.0
    return f" on {measured(part.statistic)}" if norm else ""


def error_in_words(plan: Plan) -> str:
    """What the sketch errs by, and what the noise adds; together where a value is expected.

    >>> from stablesketch import plan
    >>> error_in_words(plan(Moment(0.5), Privacy(1.0, 1e-9), size=200))
    '5.03% of F_0.5, and ± 1.88'
    >>> error_in_words(plan(Moment(0.5), Privacy(1.0, 1e-9)))
    '0.509% of F_0.5 if no key dominates, 9% if one key holds everything, and ± 2.53'
    """
    if is_bare(plan):
        return bare_error(plan)
    if all(is_included(part) for part in plan.parts or (plan,)):
        return f"{both_errors(plan)}{_at(plan)}{'' if plan.mechanism == 'exact' else ', noise included'}"
    if noise := noise_on_top(plan):
        return f"{both_errors(plan)}; the noise {noise}"
    if plan.parts:
        return _computed_error(plan)
    if isinstance(plan.statistic, Shannon):
        return _entropy_error(plan)
    noise = f"± {amount(noise_deviation(plan))}{_on_norm(plan)}"
    if plan.mechanism == "exact":
        return f"{noise}, whatever the stream"
    whole = measured(plan.statistic) if isinstance(plan.statistic, Distinct) else str(plan.statistic)
    return f"{both_errors(plan, f' of {whole}')}, and {noise}"


def both_errors(plan: Plan, whole: str = "") -> str:
    """What a sketch errs by; in buckets also if one key holds everything."""
    error = f"{shown_error(plan.error, plan)}{whole}"
    if plan.worst_error == plan.error:
        return error
    comma, worst = "," if error.endswith("order") else "", shown_error(plan.worst_error, plan, most="")
    return f"{error}{comma} if no key dominates, {worst} if one key holds everything"


def noise_on_top(plan: Plan) -> str:
    """From which length on the noise of what is computed from sketches adds less than these err by; else empty."""
    inside = all(is_included(part) for part in plan.parts or (plan,))
    computed = isinstance(plan.statistic, Derived | Shannon) and not _counts_alone(plan)
    if is_bare(plan) or inside or plan.mechanism == "exact" or not computed:
        return ""
    on_keys = _on_keys(plan)
    said = f"adds less in streams of {_more_than(plan, plan.error)}"
    return f"{said}; {on_keys}" if on_keys else said


def exact_in_words(plan: Plan) -> str:
    """What the exact mechanism would err by."""
    if all(is_included(part) for part in plan.parts or (plan,)):
        better = "no better: " if plan.exact_error >= plan.error else ""
        return f"{better}{shown_error(plan.exact_error, plan)}, {_HELD}"
    first, *others = plan.parts or (plan,)
    if isinstance(first.statistic, Distinct) and not others:
        return f"± {amount(noise_deviation(first))}{f' on {measured(first.statistic)}' if plan.parts else ''}, {_HELD}"
    if plan.parts or isinstance(plan.statistic, Shannon):
        return f"the noise alone, {_HELD}"
    return f"± {amount(plan.exact_error)}{_on_norm(plan)}, {_HELD}"


def percent(error: float) -> str:
    """A relative error."""
    return f"{100 * error:,.0f}%" if error >= 1.0 else f"{100 * error:.3g}%"


def shown_error(error: float, plan: Plan, most: str = " at most, at each order") -> str:
    """An error in the unit of the statistic; of a profile it is that of its worst order, and says so."""
    statistic = plan.statistic
    if isinstance(statistic, Tsallis) and statistic.order == 1.0:
        return f"{error:.3g} nats"
    if statistic.relative:
        return f"{percent(error)}{_of_shares(statistic)}{most if isinstance(statistic, Profile) else ''}"
    return f"{error:.3g} nats" if isinstance(plan.statistic, Shannon | Renyi) else f"{error:.3g}"


def _of_shares(statistic: Statistic) -> str:
    """What an error is a part of, where that is not the statistic: what it is computed from, s being shares."""
    if isinstance(statistic, Tsallis):
        return f" of Σ s^{statistic.order:g}" if statistic.order else " of the number of keys"
    return " of Σ s^2" if isinstance(statistic, Simpson) and statistic.form == "gini" else ""


def _at(plan: Plan) -> str:
    """Where the error is meant."""
    if plan.statistic.of_people:  # of which the mean total is expected
        return " if all have about the same"
    if not plan.expected:  # of entropy, of which a length is
        return f" if there are {max(plan.privacy.pairs, plan.privacy.total):,} {plan.privacy.unit}s"
    statistic, privacy = plan.statistic, plan.privacy
    least = isinstance(statistic, Moment) and plan.expected == least_moment(statistic.p, privacy)
    said = f", the least that {privacy.pairs:,} {privacy.unit}s can have" if least and privacy.pairs else ""
    value = f"{plan.expected:,.0f}" if plan.expected >= 1_000.0 else f"{plan.expected:.6g}"
    return f" at {statistic} = {value}{said}"


def _computed_error(plan: Plan) -> str:
    """Of what is computed from counts alone, or from exact numbers: the noise of each grows by its own factor."""
    exact, on_keys = plan.mechanism == "exact", _on_keys(plan)
    if _counts_alone(plan):
        return f"{on_keys}, whatever the stream" if exact else f"{shown_error(plan.error, plan)}, and {on_keys}"
    error, each = plan.statistic.default_error, " at each order" if isinstance(plan.statistic, Profile) else ""
    said = f"less than {shown_error(error, plan, most='')}{each} in streams of {_more_than(plan, error)}"
    return f"{said}; {on_keys}" if on_keys else said


def _counts_alone(plan: Plan) -> bool:
    return all(isinstance(part.statistic, Distinct) for part in plan.parts or (plan,))


def _on_keys(plan: Plan) -> str:
    """The noise on the number of keys, which a long stream does not outweigh: its keys may be few."""
    keys = [part for part in plan.parts if isinstance(part.statistic, Distinct)]
    return f"± {amount(noise_deviation(keys[0]))} on {measured(keys[0].statistic)}" if keys else ""


def _entropy_error(plan: Plan) -> str:
    error = plan.statistic.default_error
    return f"less than {shown_error(error, plan)} in streams of {_more_than(plan, error)}"


def _more_than(plan: Plan, error: float) -> str:
    """A number of pairs from which on the noise adds less than that, rounded up to two digits."""
    pairs = pairs_for_noise_below(plan, error)
    if pairs == math.inf:
        return f"more {plan.privacy.unit}s than can be counted"
    if pairs < 2.0:
        return "any length"
    digits = 10.0 ** max(math.floor(math.log10(pairs)) - 1, 0)
    return f"more than {math.ceil(pairs / digits) * digits:,.0f} {plan.privacy.unit}s{_worst(plan)}"


def _worst(plan: Plan) -> str:
    """Whose F_p is the least among streams of so many pairs: the number is for the worst of them (plan/noise.py)."""
    orders = [part.statistic.p for part in plan.parts or (plan,) if isinstance(part.statistic, Moment)]
    if plan.privacy.unit == "key" or not orders:
        return ""  # every key comes once; and the noise of entropy does not depend on the keys
    if min(orders) > 1.0:
        return ", even if each has a key of its own"
    return ", even if all are of one key" if max(orders) <= 1.0 else ", whatever their keys"


def memory(plan: Plan) -> str:
    """What is held while the exact mechanism runs."""
    return "one counter" if is_counted(plan) else "every key of the stream, as a keyed fingerprint"
