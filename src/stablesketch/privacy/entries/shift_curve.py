"""`ShiftCurve`: the certified privacy of r entries R - H when neighbours change the entropy H by at most Δ.

R is the law of law/skewed.py with density h; on one neighbour an entry has the density h(y + H), on the other h(y +
H'). Only τ = |H - H'| matters, and the pair is (h, h_τ) or (h_τ, h), h_τ(y) = h(y + τ). The greater entropy has h_τ.

**1. h has one peak.** R = A + ln W with A = A(φ) = φ cot φ + ln(sin φ/φ), φ uniform on (0, π). A falls, and

    A''(φ) sin²φ = -3 + 2φ cot φ + (sin φ/φ)² <= -3 + 2 + 1 = 0,

because φ cot φ <= 1 and sin φ <= φ. So |A'| rises with φ, and the density 1/(π|A'|) of A falls as A falls from 1: it
has one peak, at its upper end. ln W has the log-concave density e^{u - e^u}, and convolution with a log-concave
density keeps the property of having one peak (Ibragimov 1956). ∎ ln h is not concave (its left tail is 1/y²), so that
Lemma 3 of docs/math-sensitivity-and-curve.md does not apply; the following does.

**2. The widest shift is the worst, at every α >= 0 and in both directions.** Let h have one peak, at m: rising before
it, falling after it. *Claim:* `∫ (h_τ - αh)_+` and `∫ (h - αh_τ)_+` grow with τ.

*Proof.* First α >= 1. Let τ < τ' = τ + d and S = {y: h(y + τ) > αh(y)}. For y >= m, h(y + τ) <= h(y): so S lies left
of m, where h(y - d) <= h(y). Use the set S - d against τ':

    ∫_{S-d} h(y + τ') - αh(y) dy = ∫_S h(y + τ) - αh(y - d) dy >= ∫_S h(y + τ) - αh(y) dy,

and the left side is at most the supremum over all sets. For the other direction reflect: h(-y) has one peak too. For α
< 1 use H_{P,Q}(α) = 1 - α + α H_{Q,P}(1/α), which holds for probabilities. ∎

So the pair with τ = Δ dominates every pair with τ in [0, Δ] in the sense of Lemma 4 there. It also dominates products
of such pairs, whatever the shift of each entry. No search is needed.

**3. One entry.** `L(y) = ln h(y) - ln h(y + τ) = -∫_0^τ (ln h)'(y + t) dt` is the loss of h against h_τ, and -L that
of h_τ against h. The line is cut into panels. Gauss nodes in each give its P mass, and its Q mass as the integral of
e^{-L}. *Let all losses of a panel lie in [a, b]. Two atoms at a and b with the same P and Q mass then dominate the
panel.* Proof: the panel's part of H(α) is `E[(1 - αz)_+]` over z = e^{-L} in [e^{-b}, e^{-a}], times its P mass. This
function of z is convex. Of all laws on an interval with a given mean, the one on its ends has the largest mean of a
convex function. ∎ (One atom for a panel would be post-processing, and err in the other direction.) The share of b is

    E[1 - e^{a - L}]/(1 - e^{a - b}),

a mean of positive terms. Let B = (w²/8) · (a bound of |L''| <= τ sup|(ln h)'''|), where w is the panel's width: a
function is that close to its chord. Then a is the smaller L at the panel's ends minus B, and b the larger plus B.

- *Left end*: for y <= -Y all is one panel. There 0 <= (ln h)' <= 5/|y|: with x = -y >= 50, s^{-s} <= e^{1/e} and |sin
  πs| <= πs in the integral along the cut give h' <= 2 e^{1/e}/x³, and s^{-s} >= 1 and sin πs >= 2s for s <= 1/2 give
  h >= 0.6/x². So |L| <= 5τ/(Y - τ) there, and all of the mass is put at the larger end: H grows with every loss.
- *Right end*: R exceeds the last panel with probability 1e-33. This mass is put at infinity.

Then the atoms are split onto a lattice and composed (privacy/loss_law.py), which also only raises the curve.

The bounds rest on these proofs, on IEEE arithmetic, and on three bounds that are measured with a margin, not proved:
the errors of ln h and of its slope as law/skewed.py computes them (`VALUE_ERROR`, `SLOPE_ERROR`), and
`third_derivative_bound`. tests/privacy/entries/test_shift_curve.py compares all three with mpmath, and the curve with
independent integrators.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...errors import ArgumentError
from ...law.skewed import SkewedLaw
from ...numbers.arrays import Array
from ...numbers.checked import checked_real, checked_whole
from ..loss_law import ATOM, Law, law_of_masses, power, worse_than_both

VALUE_ERROR = 2e-12
"""|computed - true| of ln h; the largest found is below 3e-13."""

SLOPE_ERROR = 2e-12
"""|computed - true| of (ln h)', relative to 1 + |(ln h)'|; the largest found is below 1e-13."""

MOST_SHIFT = 1.0
"""Larger shifts are not computed: a handful of entries distinguishes them, and the curve reports δ = 1."""

_QUADRATURE_ERROR = 1e-12
_MASS_ERROR = 1e-10
_NODES = 5
_PANEL = 1.0 / 32.0
# On the right h and e^{-L} change by a factor e within e^{1 - y - τ}; panels are half as wide.
_FOLDS = 0.5
_MIDDLE = -6.0  # from here to the left panels widen in proportion to |y|
_WIDENING = 1.05
_LEFT_END = -4096.0
_LEFT_SLOPE = 5.0
# P(R > y) is about exp(-e^{y-1}): 1e-33 here.
_RIGHT_END = 1.0 + math.log(76.0)
# Up to the first shift three nodes integrate the slope to rounding, up to MOST_SHIFT eight.
_SMALL_SHIFT = 0.02
# Smaller shifts are rounded up to this one: Law cannot hold a loss below 2^-1000.
_LEAST_SHIFT = 1e-90
_BISECTIONS = 60
_MOST_EPSILON = 1e300  # so that ∞ is not subtracted from ∞


class ShiftCurve:
    """The privacy of `size` entries R - H when neighbours change H by at most `shift`, in either direction.

    `delta(epsilon)` and `epsilon(delta)` are upper bounds, never below the truth; `laws()` and `law()` are for
    composition with other mechanisms. The proofs are at the top of this file. The curve is for real numbers drawn from
    the exact law; privacy/precision.py adds the cost of finite precision.

    >>> curve = ShiftCurve(1_000, 1.48e-5)
    >>> round(curve.epsilon(1e-9), 4)
    0.0012
    """

    def __init__(self, size: int, shift: float) -> None:
        entries = checked_whole("size", size, "Pass 50, for example", least=1)
        moved = checked_real("shift", shift)
        if not moved >= 0.0:
            raise ArgumentError("shift", shift, "must be a number of 0 or more", "Use entropy_sensitivity(privacy)")
        self.size = entries
        self.shift = moved

    def __repr__(self) -> str:
        return f"ShiftCurve(size={self.size!r}, shift={self.shift!r})"

    def laws(self) -> tuple[Law, Law]:
        """The laws of the loss of the lesser entropy against the greater, and of the greater against the lesser.

        Adding a pair may raise or lower the entropy, so even under add_remove either of them can be the direction of a
        person who was removed. A release must be charged `law()`.
        """
        return _laws(self.size, self.shift)

    def law(self) -> Law:
        """One law that is worse than both of `laws()` at every α."""
        return _worse(self.size, self.shift)

    def delta(self, epsilon: float) -> float:
        """A δ for which the entries are (epsilon, δ)-private."""
        epsilon = checked_real("epsilon", epsilon)
        if not epsilon >= 0.0:
            raise ArgumentError("epsilon", epsilon, "must be a number of 0 or more", "Pass 1.0, for example")
        if self.shift == 0.0:
            return 0.0
        return max(law.delta(min(epsilon, _MOST_EPSILON)) for law in self.laws())

    def epsilon(self, delta: float) -> float:
        """An ε for which the entries are (ε, delta)-private; ∞ if there is none: the loss is unbounded."""
        delta = checked_real("delta", delta)
        if not 0.0 <= delta < 1.0:
            raise ArgumentError("delta", delta, "must be at least 0 and below 1", "Pass 1e-9, for example")
        if self.shift == 0.0:
            return 0.0
        return max(_epsilon(law, delta) for law in self.laws())


def third_derivative_bound(low: Array, high: Array) -> Array:
    """A bound of |(ln h)'''| between `low` and `high`: 1.1 e^{y-1} on the right, 6/(2 + |y|)³ on the left, added.

    The true derivative behaves like e^{y-1} and 4/|y|³. The bound is measured; the difference is its margin.
    """
    nearest = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    out: Array = 1.1 * np.exp(high - 1.0) + 6.0 / (2.0 + nearest) ** 3
    return out


@lru_cache(maxsize=256)
def _laws(size: int, shift: float) -> tuple[Law, Law]:
    if shift == 0.0:
        return ATOM, ATOM
    if shift > MOST_SHIFT:
        # Worse than any pair; the finite mass allows it to be composed like the others.
        everything = Law(0, 0, np.ones(1), infinity=1.0)
        return everything, everything
    lesser, greater = _one_entry(max(shift, _LEAST_SHIFT))
    return power(lesser, size), power(greater, size)


@lru_cache(maxsize=256)
def _worse(size: int, shift: float) -> Law:
    lesser, greater = _laws(size, shift)
    return lesser if shift > MOST_SHIFT else worse_than_both(lesser, greater)


def _epsilon(law: Law, delta: float) -> float:
    """Bisection down from the greatest loss, where δ is the mass at infinity; the upper end is always certain."""
    high = max(float(law.losses[-1]) + law.shift, 0.0) * (1.0 + 1e-12)
    if law.delta(high) > delta:
        return math.inf
    low = 0.0
    if law.delta(low) <= delta:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if law.delta(middle) <= delta else (middle, high)
    return high


@lru_cache(maxsize=64)
def _one_entry(shift: float) -> tuple[Law, Law]:
    """The certified laws of the loss of one entry: h against h_τ, and h_τ against h."""
    skewed = SkewedLaw()
    edges = _edges(shift)
    nodes, gauss = np.polynomial.legendre.leggauss(_NODES)
    middle, radius = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    y = middle[:, None] + radius[:, None] * nodes
    weight = radius[:, None] * gauss * np.exp(skewed.values(y).density)
    loss, at_edges = _loss(skewed, y, shift), _loss(skewed, edges, shift)
    slack = 0.5 * radius**2 * shift * third_derivative_bound(edges[:-1], edges[1:] + shift)
    lowest = np.minimum(np.minimum(at_edges[:-1], at_edges[1:]) - slack, loss.min(axis=1))
    highest = np.maximum(np.maximum(at_edges[:-1], at_edges[1:]) + slack, loss.max(axis=1))
    far = _LEFT_SLOPE * shift / (-_LEFT_END - shift)
    lower_tails = np.exp(skewed.values(np.array([_LEFT_END, _LEFT_END + shift])).cdf)
    upper_tails = np.exp(skewed.values(np.array([_RIGHT_END, _RIGHT_END + shift])).sf)
    steepest = 1.0 + math.exp(_RIGHT_END + shift - 1.0)
    error = SLOPE_ERROR * steepest * shift
    return (
        _certified(weight, loss, lowest, highest, 0.0, lower_tails[0], upper_tails[0], error),
        _certified(weight * np.exp(-loss), -loss, -highest, -lowest, far, lower_tails[1], upper_tails[1], error),
    )


def _edges(shift: float) -> Array:
    """Panels that narrow to the right as e^{-y}, and widen to the left as |y|."""
    left = np.geomspace(_LEFT_END, _MIDDLE, math.ceil(math.log(_LEFT_END / _MIDDLE) / math.log(_WIDENING)) + 1)
    # Panels of width _PANEL up to the knee, from there equal steps of e^{y - 1 + τ}.
    knee = min(1.0 - shift + math.log(_FOLDS / _PANEL), _RIGHT_END)
    even = np.linspace(_MIDDLE, knee, math.ceil((knee - _MIDDLE) / _PANEL) + 1)
    folds = np.exp(np.array([knee, _RIGHT_END]) - 1.0 + shift)
    steep = np.linspace(folds[0], folds[1], math.ceil((folds[1] - folds[0]) / _FOLDS) + 1)
    return np.concatenate([left[:-1], even[:-1], np.log(steep) + 1.0 - shift])


def _loss(skewed: SkewedLaw, y: Array, shift: float) -> Array:
    """L(y) = -∫_0^τ (ln h)'(y + t) dt by Gauss: its error is proportional to τ, however small τ is."""
    nodes, gauss = np.polynomial.legendre.leggauss(3 if shift <= _SMALL_SHIFT else 8)
    out = np.zeros_like(y)
    for node, share in zip(nodes, gauss, strict=True):
        out -= 0.5 * share * skewed.slope(y + 0.5 * shift * (1.0 + node))
    return out * shift


def _certified(
    weight: Array, loss: Array, lowest: Array, highest: Array, far: float, lower: float, upper: float, error: float
) -> Law:
    """The panels as pairs of atoms, `lower` at the loss `far`, `upper` at infinity; on a lattice.

    True losses are at most the computed ones plus `error`, which goes into the shift of the law. The errors of h, of
    the rule and, where weights hold e^{-L}, of L are factors of the P masses: they go into its scale.
    """
    total = weight.sum(axis=1)
    if abs(float(total.sum() + lower + upper) - 1.0) > _MASS_ERROR:
        raise ArithmeticError(f"privacy loss of an entropy: the mass is 1 + {total.sum() + lower + upper - 1.0}")
    kept = total > 0.0
    weight, loss, lowest, highest, total = (a[kept] for a in (weight, loss, lowest, highest, total))
    upwards = (weight * -np.expm1(lowest[:, None] - loss)).sum(axis=1) / -np.expm1(lowest - highest)
    upwards = np.minimum(upwards * (1.0 + 2.0 * _QUADRATURE_ERROR), total)
    atoms = np.concatenate([lowest, highest, [far]])
    mass = np.concatenate([total - upwards, upwards, [lower]])
    law = law_of_masses(atoms, mass, scale=VALUE_ERROR + 2.0 * _QUADRATURE_ERROR + error, shift=error)
    return Law(law.exponent, law.first, law.mass, law.infinity + 1.01 * float(upper), law.scale, law.shift)
