"""The privacy loss of an estimate with Laplace noise, as a law that can be composed with others.

The release is F ξ + L, and ξ has one law for all streams (docs/math-noisy-estimate.md). In units of the noise, an
observer of a release learns at most as much as one who also sees ξ, that is, the pair

    (ξ, Laplace(0)) against (ξ, Laplace(s)),      s = ξ/noise + added,

where `noise` is b/Δ and `added` is the cost of finite precision (`Precision.shift`). This pair dominates at every
α >= 0, so also in composition with other releases (Lemma 4 of docs/math-sensitivity-and-curve.md), in both directions:

1. *One shift.* Two Laplace laws at distance s have H_s(α) = (1 - α^{1/2} e^{-s/2})_+ for α >= 1. The pair is
   symmetric, so H_s(α) = 1 - α + α H_s(1/α) for α < 1. Both increase with s. So closer neighbours are dominated, and
   any law whose upper tail is at least that of ξ dominates ξ: `Atoms`.
2. *The mixture.* On either stream the release is a mixture of Laplace laws with the same law of ξ, and H of mixtures
   with the same weights is at most the mean of H. That mean, E H_s(α), is the curve of the pair above.
3. *Discrete noise* at a shift of k steps has at most the H of continuous noise at k + 1 of them, for α >= 1 as proved
   in docs/math-noisy-estimate.md. It is symmetric too, so for α < 1 as well. `added` has that step.
4. *Failure.* Take the two computations with the same ξ. Except with probability 2π their outcomes are within s, so H is
   at most E H_s + 2π: the curve of the pair with an additional mass of 2π at infinity.

**On a lattice.** `Law` needs masses at the losses t = k·step, and the polygon through the corners H(e^t) is the lowest
that will do. It is found without a difference of H. The loss of Laplace(0) against Laplace(s) is s with probability
1/2, -s with probability e^{-s}/2, and has the density e^{(t-s)/2}/4 between. For s on the lattice, splitting that
density so that the P and the Q mass of every cell stay gives, with τ = tanh(step/4),

    mass τ e^{(t-s)/2} at |t| < s,      (1 + τ)/2 at t = s,      e^{-s} (1 + τ)/2 at t = -s.

(In a cell from a to a + step the P mass is e^{(a-s)/2} (e^{step/2} - 1)/2, the Q mass e^{-a} e^{(a-s)/2} (1 -
e^{-step/2})/2; shares τ/2 e^{(a-s)/2} and τ/2 e^{(a+step-s)/2} at its ends have both.) For s between two lattice
points H_s at every corner is linear in e^{-s/2}, since no corner lies between them: so s becomes two shifts, at these
points, with the same mass and the same mean of e^{-s/2}, and H stays what it is at every corner.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ..numbers.arrays import Array
from .loss_law import Law, on_lattice
from .noisy_estimate import RAISED_XI, NoisyEstimate, NoisyXi
from .noisy_norm import NoisyNorm
from .upper_atoms import Atoms, power_atoms

_UNIT = 2.0**-53
# Points per deviation by default, and if there is room for this many points above 0.
_FINENESS, _FINEST = 40.0, 4_096.0
_MOST = 1 << 12
# Shifts exceeded less often than this may count as infinite: the first of these that leaves few enough points.
_CUTS = (0.0, 1e-17, 1e-16, 1e-15)
_LEAST_LOWER = 1e-18  # mass at the lower end that is moved up
_STEPS = (-990, 6)  # powers of two


ESTIMATES: Mapping[str, type[NoisyXi]] = {"power": NoisyEstimate, "norm": NoisyNorm}
"""The estimates whose ξ is known, by their names in `Charge.estimate`. Each is made from p, size and copies, and raises
an ArgumentError if there is no such estimate."""


@lru_cache(maxsize=512)
def law_of_estimate(kind: str, p: float, size: int, copies: int, noise: float, added: float, failure: float) -> Law:
    """The law of one release of an estimate of this kind, for composition. It is the same in both directions."""
    if kind == "power":
        atoms = power_atoms(p, size)
    else:
        points, tail = NoisyNorm(p, size).survival
        atoms = Atoms(points * RAISED_XI, tail)
    return shifted_law(atoms.largest_of(copies), noise, added, failure)


def shifted_law(atoms: Atoms, noise: float, added: float, failure: float) -> Law:
    """The law of the pair at the top of this file, for a ξ that is bounded by `atoms`."""
    with np.errstate(over="ignore"):
        shifts = (atoms.points / noise + added) * (1.0 + 4.0 * _UNIT)  # in decreasing order
    tail = atoms.tail
    masses = np.diff(tail, prepend=0.0)
    exponent, cut = _lattice(shifts, tail, masses)
    if cut == len(shifts):
        return Law(0, 0, np.ones(1), infinity=1.0)  # worse than any pair; the finite mass allows composition
    step = math.ldexp(1.0, exponent)
    infinity = float(tail[cut - 1]) if cut else 0.0
    weights = on_lattice(shifts[cut:], masses[cut:], 0, step, rate=0.5)
    mass, first = _two_sided(weights, step)
    rounding = 4.0 * (len(weights) + len(shifts) + 100) * _UNIT
    return Law(exponent, first, mass, (infinity + 2.0 * failure) * (1.0 + rounding), rounding).trimmed()


def _lattice(shifts: Array, tail: Array, masses: Array) -> tuple[int, int]:
    """The exponent of the step, a power of two, and the number of the largest shifts that count as infinite."""
    deviation = math.sqrt(float(masses @ np.minimum(shifts, 1.75) ** 2))
    least, most = _STEPS
    exponent = math.floor(math.log2(max(deviation, math.ldexp(1.0, least)) / _FINENESS))
    finite = int(np.searchsorted(-shifts, -np.finfo(np.float64).max))
    cut = finite
    for level in _CUTS:
        cut = min(max(finite, int(np.searchsorted(tail, level, side="right"))), len(shifts) - 1)
        if shifts[cut] <= math.ldexp(_MOST, exponent):
            break
    cut = max(cut, int(np.searchsorted(-shifts, -math.ldexp(_MOST, most))))  # no budget is that large
    if cut == len(shifts):
        return most, cut
    while exponent < most and shifts[cut] > math.ldexp(_MOST, exponent):
        exponent += 1
    while exponent > least and shifts[cut] <= math.ldexp(_MOST, exponent - 1):
        if math.ldexp(_FINEST, exponent) <= deviation:
            break
        exponent -= 1
    return exponent, cut


def _two_sided(weights: Array, step: float) -> tuple[Array, int]:
    """The masses of the loss, and the index of the first: above 0 computed one by one, below 0 e^{-t} times those."""
    turned = math.tanh(0.25 * step)
    fall = math.exp(-0.5 * step)
    # Σ over s > t of their weight e^{(t-s)/2}, from the top.
    beyond = itertools.accumulate(weights[:0:-1].tolist(), lambda total, own: fall * total + own)
    above = np.zeros(len(weights))
    above[:-1] = fall * np.array(list(beyond))[::-1]
    right = turned * above + 0.5 * (1.0 + turned) * weights
    right[0] = weights[0] + turned * above[0]
    left = right[1:] * np.exp(-step * np.arange(1, len(right)))
    lower = np.cumsum(left[::-1])
    moved = int(np.searchsorted(lower, _LEAST_LOWER))
    mass = np.concatenate([left[::-1][moved:], right])
    if moved:
        mass[0] += float(lower[moved - 1])
    return mass, -(len(mass) - len(right))
