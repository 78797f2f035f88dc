"""A new sample for every entry: the curve of one entry as a law on a lattice, composed `size` times.

Every entry has its own coins and its own row of the projection, so the entries are independent, and it is enough to
bound the curve of one, H(α) = sup over neighbours of D_α, at every α >= 0 (composition keeps order: Lemma 4 of
docs/math-sensitivity-and-curve.md). The claim of privacy/sampling.py bounds H(e^ε') for ε' >= 0 if at least t pairs are
kept:

- below α = 1, H(α) = 1 - α + α H°(1/α), H° the curve of the opposite order (under replace H° = H);
- **hull**: let b_i >= H(α_i) at the points α_i = e^{ih}, i >= 0. H is convex, being the greatest of convex functions,
  so it lies below the chord of any two of the points (α_i, b_i), and hence below their convex hull from below. The hull
  is a convex polygon: the curve of a pair that lives on the lattice, its Q mass at α_i the change of slope there, its P
  mass α_i times that. The two orders meet at α = 1, where both are the total variation; the lesser bound holds for
  both. What mass is left stands at the loss 0.
- **few kept**: fewer than t are kept with probability C = P(Bin < t), and then D <= η, so that H grows by at most
  κ = ηC everywhere: a mass κ at infinity. Composed, that adds (1 + κ)^size - 1 to δ.

The one-entry curves inside the claim are those of `upper_law` (lattice.py), which are exact at their own lattice points
and chords between: upper bounds, with their errors included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...numbers.arrays import Array
from ..privacy import Privacy
from ..sampling import amplified, common_pairs, cut_chances, kept_chance, sample_log_rho
from .compose import tilt_for_epsilon, tilted_sum
from .lattice import LatticeLaw, upper_law
from .loss import loss_cells

_CELLS = 4096  # of a one-entry curve
_POINTS = 4096  # of the lattice on one side of 0
_CUTS = 4  # the cuts with the least t, which samples miss least often
_LARGEST_SHIFT = 200.0  # ρ beyond e^{200 p} protects nothing
_UP = 1.0 + 1e-12


def per_entry_delta(p: float, size: int, privacy: Privacy, rate: float, floor: float, epsilon: float) -> float:
    """An upper bound of δ(ε) of `size` entries, each with its own coins: the least over some cuts t."""
    eta = kept_chance(rate, privacy.pairs_per_person)
    cuts = [(0, 0.0)] if floor > 0.0 else []
    cuts += cut_chances(common_pairs(privacy), rate)[:_CUTS]
    best = 1.0
    for t, below in cuts:
        few = math.expm1(size * math.log1p(eta * below)) * _UP
        if few < best:
            laws = _entry_laws(p, privacy, rate, floor, t)
            best = min(best, few + max(0.0 if law is None else _composed(law, size, epsilon) for law in laws))
    return best


def _composed(law: LatticeLaw, size: int, epsilon: float) -> float:
    if epsilon >= size * -law.lowest:
        return 0.0
    return math.exp(
        min(0.0, tilted_sum(law, size, tilt_for_epsilon(law, size, epsilon)).log_delta(epsilon, upper=True))
    )


@lru_cache(maxsize=64)
def _entry_laws(p: float, privacy: Privacy, rate: float, floor: float, t: int) -> tuple[LatticeLaw | None, ...]:
    """The law of one entry when t pairs are kept: one for both orders under replace, (added, removed) otherwise."""
    eta = kept_chance(rate, privacy.pairs_per_person)
    with_pairs = sample_log_rho(p, privacy, "add_remove", t, floor) / p
    added, removed = _Curve.of(p, with_pairs, wide_first=True), _Curve.of(p, with_pairs, wide_first=False)
    if added is None or removed is None:
        return (_NOTHING,)
    if privacy.relation == "add_remove":
        top = max(added.top, removed.top)
        points = np.linspace(0.0, amplified(top, eta), _POINTS + 1)
        inner = _inner(points, eta)
        gained = eta * added(inner)
        lost = eta * np.exp(points - inner) * removed(inner)
        return _law(points, gained, lost), _law(points, lost, gained)
    instead = sample_log_rho(p, privacy, "replace", t, floor) / p
    raised, lowered = _Curve.of(p, instead, wide_first=True), _Curve.of(p, instead, wide_first=False)
    if raised is None or lowered is None:
        return (_NOTHING,)
    top = max(added.top, raised.top, lowered.top)
    points = np.linspace(0.0, amplified(top, eta), _POINTS + 1)
    inner = _inner(points, eta)
    beta = np.exp(points - inner)
    either = (1.0 - beta) * added(inner) + beta * np.maximum(raised(inner), lowered(inner))
    either = eta * np.minimum(either, np.maximum(raised(points), lowered(points)))
    return (_law(points, either, either),)


def _inner(points: Array, eta: float) -> Array:
    """The ε of the claim for every ε', rounded down: see `unamplified`."""
    out: Array = np.log1p(np.expm1(points) / eta) / _UP
    return out


@dataclass(frozen=True)
class _Curve:
    """An upper bound of D_{e^ε} of one entry in one direction, at many ε at once: e^scale (A_j - e^ε B_j).

    A_j and B_j are the P and Q masses at lattice points from j on, j the first above ε: between lattice points the
    curve of a lattice law is a chord.
    """

    top: float
    lowest: float
    step: float
    first: Array
    second: Array
    scale: float
    shift: float

    @classmethod
    def of(cls, p: float, shift: float, *, wide_first: bool) -> _Curve | None:
        """None if ρ is beyond all bounds; `shift` is (1/p) ln ρ."""
        if shift > _LARGEST_SHIFT:
            return None
        if shift == 0.0:
            return cls(0.0, 0.0, 1.0, np.zeros(2), np.zeros(2), 0.0, 0.0)
        law = upper_law(loss_cells(p, shift, _CELLS), wide_first=wide_first and p < 1.0)
        losses = law.lowest + law.step * np.arange(len(law.weight))
        first = np.append(np.cumsum(law.weight[::-1])[::-1], 0.0)
        # Q masses are taken relative to the loss, so that their difference from the P masses keeps its digits.
        second = np.append(np.cumsum((law.weight * -np.expm1(-losses))[::-1])[::-1], 0.0)
        top = float(losses[-1]) + law.shift_error
        return cls(top, law.lowest, law.step, first, second, law.scale_error + 1e-12, law.shift_error)

    def __call__(self, epsilon: Array) -> Array:
        at = epsilon - self.shift
        j = np.clip(np.floor((at - self.lowest) / self.step).astype(np.intp) + 1, 0, len(self.first) - 1)
        # A - e^ε B with B = A - second: (1 - e^ε) A + e^ε second.
        value = -np.expm1(at) * self.first[j] + np.exp(at) * self.second[j]
        out: Array = np.maximum(value, 0.0) * math.exp(self.scale)
        return out


def _law(points: Array, ahead: Array, behind: Array) -> LatticeLaw | None:
    """The pair whose curve is the hull of `ahead` above α = 1 and, reversed, of `behind` below it.

    None if neither reveals anything. The masses are then compared with the hulls they came from, and the scale makes up
    for what rounding removed.
    """
    meeting = min(ahead[0], behind[0])
    if meeting <= 0.0:
        return None
    step = float(points[1] - points[0])
    count = len(points)
    upper, lower = (_hull(points, np.append(meeting, values[1:])) for values in (ahead, behind))
    up, down = _second_mass(upper, step), _second_mass(lower, step)
    grow = np.exp(points)
    weight = np.zeros(2 * count - 1)
    weight[count:] = (up * grow)[1:]
    weight[: count - 1] = down[:0:-1]
    rest = 1.0 - float(weight.sum())
    if rest < 0.0:
        return _NOTHING
    weight[count - 1] = rest
    lacking = max(_lacking(upper, (up * grow), step), _lacking(lower, (down * grow), step))
    return LatticeLaw(-float(points[-1]), step, weight, math.log(lacking) + 1e-12, 4e-16 * float(points[-1]))


def _hull(points: Array, values: Array) -> Array:
    """The convex hull from below of (e^point, value), at the points. H decreases, so a running minimum comes first."""
    x, y = np.expm1(points), np.minimum.accumulate(values)
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    out: Array = np.interp(x, x[kept], y[kept])
    return out


def _second_mass(hull: Array, step: float) -> Array:
    """The Q mass at each α_i, i > 0: the change of slope; the hull is 0 after the last point."""
    i = np.arange(len(hull))
    slope = np.diff(hull) / (np.exp(i[:-1] * step) * math.expm1(step))
    out = np.zeros(len(hull))
    out[1:-1] = np.maximum(np.diff(slope), 0.0)
    out[-1] = max(-slope[-1], 0.0)
    return out


def _lacking(hull: Array, mass: Array, step: float) -> float:
    """The largest factor by which the curve of the masses is below the hull: 1 or slightly more."""
    gap = step * np.arange(len(hull))
    first = np.cumsum(mass[::-1])[::-1]
    second = np.cumsum((mass * -np.expm1(-gap))[::-1])[::-1]
    here = -np.expm1(gap[:-1]) * first[1:] + np.exp(gap[:-1]) * second[1:]
    seen = hull[:-1] > 0.0
    if not seen.any():
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(here[seen] > 0.0, hull[:-1][seen] / here[seen], np.inf)
    return max(1.0, float(ratio.max()))


# Reveals everything: all mass at a loss that no ε reaches.
_NOTHING = LatticeLaw(-1e6, 1e6, np.array([0.0, 0.0, 1.0]), 0.0, 0.0)
