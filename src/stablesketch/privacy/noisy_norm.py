"""Orders above one: an estimated norm plus Laplace noise, how much noise (ε, δ) needs, and what finite precision costs.

For 1 < p <= 2 the estimate of ‖f‖_p = F_p^{1/p} from a symmetric sketch is ‖f‖_p ξ, and the law of ξ is the same for
every stream (sketch/estimators/norm.py). Norms rise with every total and by at most Δ = c M where c pairs of value at
most M are added, so neighbours have |‖f‖_p - ‖f'‖_p| <= Δ for add_remove and for replace. The bound is that of
noisy_estimate.py,

    δ(ε) <= E f(Δ ξ/b),      f(s) = (1 - e^{(ε - s)/2})_+,

proved in docs/math-noisy-estimate.md, "Orders above one". Here noise is b in units of Δ.

E f can only come out too large: P(ξ > x) is an integral of a known density, correct to 1e-10, and is raised by more
than its error. ξ is raised too. The mass between two points counts at the greater one, and the mass beyond the last
point counts at ∞.

**What finite precision costs.** Symmetric entries cancel, so errors are not relative.

Claim. Let T be the estimate from ideal entries a_j = Σ f_k x_kj and T̃ the computed one. Except with probability
`failure`, |T̃ - T| <= η T for every stream of at most `keys` keys, whatever their totals. Everything is proved from one
measured number, e: the error of a computed x̃ is at most e (1 + |x|), and sign and magnitude are drawn separately.

**Signs.** The sign of x̃ is a bit of its own. So with magnitudes fixed the error of an entry is Σ s_k α_k, s_k
independent signs, |α_k| <= β_k = e f_k (1 + |x_k|), and P(|Σ s_k α_k| > u) <= 2 P(|Σ s_k β_k| > u). Proof: order
α_k/β_k = λ_k, without loss of generality 1 >= λ_1 >= λ_2 >= ... >= 0. By summation by parts Σ λ_k s_k β_k is an
average of the partial sums of s_k β_k and of 0, so it is at most the largest of them, which exceeds u with at most
twice the probability of the last (Lévy's inequality). ∎ And s_k |x_k| is again symmetric stable: Σ s_k β_k is e Σ s_k
f_k plus e times an entry.

**p = 2.** |Σ s_k f_k| <= z ‖f‖_2 except with probability 2 e^{-z²/2} (Hoeffding), and an entry is below √2 z ‖f‖_2
except with probability e^{-z²/2}. So the error of every entry is at most A = (1 + √2) z e ‖f‖_2 except with probability
6 r e^{-z²/2}, and that of T, which is a Euclidean norm over κ √(2r), is at most A/(κ √2). ξ is at least ξ_0 except with
a chosen probability, and ‖f‖ <= T/ξ_0.

**1 < p < 2.** T κ is the k-th smallest |a_j|, Q, so only entries near Q matter. Write ‖f‖ = 1. Let w be such that Q <=
w/3 except with a chosen probability. Far out, for x >= 50, x^p P(|X| > x) <= C and x^{p+1} times the density of X is at
most D, 2% above their limits c = (2/π) Γ(p) sin(π(2-p)/2) and pc/2; and x^p P(|X| > x) <= 1 for all x
(docs/math-noisy-estimate.md, "The tails between orders 1 and 2", has the proofs). Call a term f_k x_k of an entry large
if it exceeds z, where z >= 8w and 7z/8 >= 50.

- *An entry with a large term is seldom near a given place.* For an interval I in [0, w] of length l, P(some term is
  large, |a_j| in I) <= 2 l C D (8/7)^p z^{-(2p+1)}. Proof: let term k be large. The rest R of the entry is independent
  of it, and |R| > z - w >= 7z/8; R is stable of scale at most 1, so that has probability at most C (7z/8)^{-p}. Then
  f_k x_k lies in two intervals of length l beyond z, where its density is at most D f_k^p z^{-(p+1)}. Add over k. ∎
- *The terms that are not large* have a joint error of at most A = e (z_1 + m z) except with probability 4 e^{-z_1²/2} +
  4 exp(-m (ln(m/v) - 1)): signs as above, then Hoeffding for Σ s_k f_k, and Bennett for the bounded terms, whose
  variances add up to at most Σ f_k² ∫_0^{z/f_k} 2x P(|X| > x) dx <= v z². P(|X| > x) is at most 1, x^{-p}, and from 50
  on C x^{-p}; Σ f_k² is at most 1; so v = (1 + 2 (50^{2-p} - 1)/(2-p)) z^{-2} + 2 C z^{-p}/(2-p) will do.
- *All entries, coarsely.* Take a first z, Z, so large that no entry in [0, w] has a large term (l = w, r entries), and
  its A, B. At most two terms of an entry beyond w are large except with probability (C Z^{-p})³/6. If both are below Y
  = w/(8e), their joint error is at most w/3. If the larger of them, y, is above, then the rest of the entry is below
  y/2, and so |a_j| above y/2 and the error of both below 5e |a_j|, except with probability C Y^{-p} C (Y/2)^{-p}. So
  |ã_j - a_j| <= B where |a_j| <= w, and |ã_j| > w/2 elsewhere.
- *Those near Q, finely.* Let no entry with ||a_j| - Q| <= 2B have a large term of a second, smaller z. Then the error
  of such entries is at most A, A <= B, those further below or above are still below Q - A or above Q + A when computed,
  and Q moves by at most A. It fails with probability at most 2 (E 1/h(Q) + 4rB) C D (8/7)^p z^{-(2p+1)}, h the density
  of |X|. Proof: of the other r - 1 entries let U and V be the (k-1)-th and the k-th smallest magnitude. Q is the middle
  one of U, |a_j|, V, so |a_j| lies in [U - 2B, V + 2B], which is independent of a_j, and in [0, w]. Take the first
  bullet and add over j: r E(V - U) is the mean of 1/h(Q) (sketch/estimators/norm.py, `gap`). ∎

**The last octave.** The uniform number behind x has a least value; below, x comes out too small.

- p = 2: where it is below 2^-63, with probability q = 2^-64. The law of an entry changes by at most 4q + 3(nq)² in
  total variation for n keys, and that is charged. Proof.
  Two hits or more have probability (nq)²/2. With one, of key k, the rest of the entry is normal of variance 2σ², σ² =
  ‖f‖² - f_k² (that the others are no hits changes its law by 2nq at most). At most two keys have f_k² >= ‖f‖²/2: 2q.
  For the others σ² >= ‖f‖²/2, and the mixtures of N(±u, 2σ²) and N(±u', 2σ²), u = f_k |x|, u' = f_k |x'|, differ by
  at most (1/2) ∫ v c/(2σ²) dv over [u', u] = c (u² - u'²)/(8σ²), c = ∫|φ''| < 0.97 (the first order cancels by
  symmetry), so by less than f_k² (x² - x'²)/(4‖f‖²); x² - x'² has mean below 8, and Σ f_k² = ‖f‖². ∎
- p < 2: the table has 32 octaves more on the upper side (native/stable_table.hpp, deep octaves), so the probability is
  2^-96, and all hits are charged: keys times entries times that.

**AES** is a permutation, so its blocks are independent except for (blocks)²/2^129, which is charged too (`switching`).

Not in `failure`: how well AES can be distinguished from a random permutation. e is certified at some p from 1.01 to 2
(docs/math-noisy-estimate.md, "The tables, certified"). At others it is measured, not proved
(tests/law/test_above_one_table.py).
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..errors import ArgumentError
from ..numbers.arrays import Array
from ..sketch.estimators.norm import NormLaw, norm_law
from .estimate_precision import SHARE_OF_DELTA, SHARE_OF_NOISE, switching
from .noisy_estimate import EXACT, NoisyXi, Precision, check_asked, enough_noise

MOST_KEYS = 2.0**40
"""No plan covers more keys than this."""

_WITHIN = 1e-4  # relative accuracy of `noise`, which always errs upwards
# The tail is raised by the first, and additionally by the second per entry: ln P of an order statistic is r times that
# of |X|.
_RAISED, _RAISED_EACH = 1e-9, 1e-12

# Errors of a computed entry.
_TABLE = 2e-15  # error of the rows, five times the largest found; close to 2 the polynomials are ten times worse
_NEAR_TWO, _TABLE_NEAR_TWO = 1.9999, 2.5e-14
_BITS = 2.0**-49  # the relative granularity of the uniform number at its coarsest; |X| moves by less
_RESOLUTION = 2.0**-53
_ARITHMETIC = 1e-14  # rounding entries to floats, and the sum, root and quotient
_LAST_OCTAVE, _LAST_DEEP_OCTAVE = 2.0**-64, 2.0**-96
_FAR, _ABOVE_LIMIT = 50.0, 1.02  # where the tail becomes a power, and how accurately
_GAP = 1.1  # the mean gap is raised by this factor; the error of its integral is far smaller

# Caps in units of Δ: the lowest, whatever it costs in noise, and the highest.
_LEAST_CAP, _LARGEST_CAP = 2.0**33, 2.0**37
_FEW = 25  # entries


class NoisyNorm(NoisyXi):
    """ξ of an estimated norm: one norm has one ξ. If a person's pairs may be in several groups, each with its own norm,
    each group has one.
    """

    needs_two_for = "variance"

    def __init__(self, p: float, size: int, copies: int = 1) -> None:
        super().__init__(p, size, copies)
        self._law = norm_law(p, size)

    def _above(self, epsilon: float, noise: float, precision: Precision) -> tuple[Array, Array]:
        return self.survival

    def noise(self, epsilon: float, delta: float, precision: Precision = EXACT) -> float:
        """The least noise whose `delta` is at most this, found from above to 0.01%."""
        check_asked(epsilon, delta, precision)
        return enough_noise(lambda noise: self.delta(epsilon, noise, precision) <= delta, epsilon, delta, _WITHIN)

    @cached_property
    def survival(self) -> tuple[Array, Array]:
        """Points ξ decreasing from ∞, and an increasing upper bound of P(one ξ >= the next point).

        The last point stands for all ξ below the one before: its bound is 1.
        """
        v, _, above = self._law.tails
        raised = above[::-1] * (1.0 + _RAISED + _RAISED_EACH * self.size)
        xi = np.exp(v[::-1])
        # The mass between two points has the greater ξ, the mass beyond the first an infinite one, the rest the last.
        return np.concatenate([[math.inf], xi]), np.minimum(np.concatenate([raised, [1.0]]), 1.0)


def norm_precision(
    p: float,
    size: int,
    cap: float,
    *,
    sensitivity: float = 1.0,
    grid: float = 2.0**-10,
    failure: float = 1e-13,
    keys: float = 2.0**33,
) -> Precision:
    """The `Precision` of a norm of order 1 < p <= 2 from `size` entries, for streams of at most this many keys.

    The estimate is cut at `cap`; a longer stream is just as private, and is released as the cap. `sensitivity` is Δ,
    `grid` is the step of the grid in units of b, and `failure` is the failure probability of the bounds. Those of the
    last octave and AES are added to it.
    """
    if not 1.0 <= cap < math.inf:
        raise ArgumentError("cap", cap, "must be at least 1", "Pass the value at which estimates are cut off")
    if not 0.0 < failure < 1.0:
        raise ArgumentError("failure", failure, "must be between 0 and 1", "Pass 1e-13, for example")
    law = norm_law(p, size)
    error, large = _error_of_two(law, failure) if p == 2.0 else _error_below_two(law, failure)
    return Precision(error + _ARITHMETIC, failure + large + _by_keys(p, size, keys), cap / sensitivity, grid)


def _by_keys(p: float, size: int, keys: float) -> float:
    """The failure probabilities that grow with the number of keys: the last octave and AES."""
    last = 3.0 * (keys * _LAST_OCTAVE) ** 2 if p == 2.0 else keys * _LAST_DEEP_OCTAVE
    return size * last + switching(size, keys)


def _one(p: float) -> float:
    """e."""
    return (_TABLE_NEAR_TWO if _NEAR_TWO < p < 2.0 else _TABLE) + _BITS + _RESOLUTION


def _error_of_two(law: NormLaw, failure: float) -> tuple[float, float]:
    """η, and an additional failure probability: the part of the last octave that does not depend on the keys."""
    z = math.sqrt(2.0 * math.log(12.0 * law.size / failure))
    least = math.exp(law.log_quantile(0.5 * failure))
    error = (1.0 + math.sqrt(2.0)) * z * _one(2.0) / (math.sqrt(2.0) * math.exp(law.log_constant) * least)
    return error, 4.0 * law.size * _LAST_OCTAVE


def _error_below_two(law: NormLaw, failure: float) -> tuple[float, float]:
    """η, and an additional failure probability: that two terms beyond all bounds cancel."""
    p, size, one, part = law.p, law.size, _one(law.p), 0.1 * failure  # nine things can fail
    constant = math.exp(law.log_constant)
    w = 3.0 * constant * math.exp(law.log_quantile_above(part))
    limit = _ABOVE_LIMIT * (2.0 / math.pi) * math.gamma(p) * math.sin(0.5 * math.pi * (2.0 - p))
    rate = 2.0 * limit * (_ABOVE_LIMIT * 0.5 * p * limit) * (8.0 / 7.0) ** p
    z_1 = math.sqrt(2.0 * math.log(4.0 * size / part))

    def bounded(length: float, least: float) -> float:
        """A, for intervals of this total length and a z of at least `least`."""
        z: float = max((rate * length / part) ** (1.0 / (2.0 * p + 1.0)), least)
        spread = (1.0 + 2.0 * (_FAR ** (2.0 - p) - 1.0) / (2.0 - p)) / z**2 + 2.0 * limit * z**-p / (2.0 - p)
        m, wanted = 1.0, math.log(4.0 * size / part)
        while m * (math.log(m / spread) - 1.0) < wanted:
            m *= 1.01
        return one * (z_1 + m * z)

    least = 8.0 * max(w, _FAR / 7.0)  # z - w must be at least 7z/8 and 50
    most = bounded(size * w, max(least, (size * limit**3 / (6.0 * part)) ** (1.0 / (3.0 * p))))
    near = min(bounded(_GAP * law.gap(w) + 4.0 * size * most, least), most)
    large = size * limit**2 * 2.0**p * (8.0 * one / w) ** (2.0 * p)
    if most > w / 6.0:  # no entry is known well enough; real tables are far better
        return 1.0, large
    return near / (constant * math.exp(law.log_quantile(part))), large


def most_keys(p: float, size: int, delta: float, outputs: int = 1) -> float:
    """The largest number of keys, a power of two up to 2^40, for which their failures take at most 1/128 of δ."""
    keys = MOST_KEYS
    while keys > 1.0 and 2.0 * outputs * _by_keys(p, size, keys) > 0.5 * SHARE_OF_DELTA * delta:
        keys *= 0.5
    return keys


def usual_norm_cap(p: float, size: int, failure: float, outputs: int = 1) -> float:
    """The largest power of two up to 2^37, in units of Δ, at which errors raise the noise by less than 1%; at least
    2^33. At order 2 it is always 2^37, which costs little.

    With fewer than 25 entries the norm can come out very small, and errors can be large relative to it. Those caps are
    below 2^33, so that errors at most double the noise, which is about what ξ exceeds with probability `failure`.
    """
    if p == 2.0:
        return _LARGEST_CAP
    shift = norm_precision(p, size, 1.0, grid=0.0, failure=failure).shift(1.0) * outputs
    cap, least = _power_below(SHARE_OF_NOISE / shift), _LEAST_CAP
    if size < _FEW:
        least = min(least, _power_below(math.exp(norm_law(p, size).log_quantile_above(failure)) / shift))
    return min(max(cap, least, 1.0), _LARGEST_CAP)


def _power_below(value: float) -> float:
    return math.ldexp(1.0, math.floor(math.log2(value)))
