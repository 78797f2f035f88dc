"""The cost of computing the estimate of a one-sided sketch: η, π and the rest of `Precision`, for streams of any
length.

docs/math-noisy-estimate.md ("What computing costs") proves what is computed here. In a stream with F <= F_max/x, where
x is a low quantile of ξ, the number of keys n is at most F; the estimate of a longer stream is cut at F_max. Then

- except with probability n r 2^-96, no X is smaller than the table allows (native/stable_table.hpp: its deep octaves);
- except with probability (n r 2^-72)^(m+1)/(m+1)!, at most m of the r entries have an X larger than the table allows.
  Such an entry comes out too small, and yet so large that it hardly counts: with T = 2^71/Γ(1-p) the estimate is too
  small by at most

        F_max ((1 - ρ)^{-θ} - 1),      ρ = (m/r) (F_max c/T)^{|λ|},

    for any stream (λ, θ and c as in sketch/estimators/power_sum.py);

- the pseudorandom bits are independent except for (blocks)²/2^129, because AES is a permutation;
- everything else is correct to a relative η = 2^-43.

With B buckets (docs/math-buckets.md, "What computing costs") all of this holds for the sum of the estimates and for
their norm at once, whatever number of buckets changes: errors are relative to the sum or to the norm. Three things
differ. The norm may be √B times smaller than the sum, so if both are cut at F_max, n is at most √B F_max/x; none of the
B ξ may be below x; and a key needs one more block, for its bucket.
"""

from __future__ import annotations

import math

from ..errors import ArgumentError
from ..sketch.estimators.power_sum import one_sided_log_moment, one_sided_variance, power_sum
from .noisy_estimate import Precision

ERROR = 2.0**-43
"""η: the relative error of an estimate, apart from X beyond the table."""

_LARGEST_SIZE = 1 << 20
_LARGEST_MOMENT = 2.0**60
# Bits of probability: of an X beyond the table on either side, and of T.
_SMALLEST_X, _LARGEST_X, _CUT = 96, 72, 71
# How rare ξ < x, and more than m cut entries, are made; this costs little.
_RARE, _CROWDED = 2.0**-64, 2.0**-56
# How much larger than F_max/x a stream must be to be cut there for sure. Less than 0.4% of F_max can be missing,
# because it is at most 2^60 and T is at least 2^61.
_MARGIN = 1.02

# The part of the noise that rounding errors may take, and of δ that failures may take: together less than 1% of the
# noise, from eight entries on, where 1% of δ is an eighth of 1% of the noise.
SHARE_OF_NOISE, SHARE_OF_DELTA = 0.0075, 1.0 / 64.0


def precision_of(
    p: float,
    size: int,
    cap: float,
    grid: float,
    sensitivity: float = 1.0,
    outputs: int = 1,
    buckets: int = 1,
    norm_share: float = 1.0,
) -> Precision:
    """η, π and the shortfall of an estimate of `size` entries that is cut at `cap` and rounded to a grid.

    With several buckets they are those of the released pair, Σ F_hat_b and ‖F_hat‖_2. Both are cut, rounded to their
    grids and given their own noise; b is the joint scale, 1/b = 1/b_T + 1/b_2. Finite precision then adds to Δ ξ/b at
    most

        (2 η F_max/(1 - η) + κ) (1/b_T + 1/b_2) + 2 h_T/b_T + 2 h_2/b_2.

    Args:
        size: entries of the sketch; with buckets, of each bucket.
        cap: F_max, in units of Δ.
        grid: the step of the grid, in units of the noise of the same output; the larger of the two.
        sensitivity: Δ = c M^p. Totals are integers, so Δ >= 1 and F is at least the number of keys.
        outputs: the number of sketches that one person can change: 1, except for groups of a table. The number of
            buckets that change does not matter here; `copies` of the law accounts for it.
        buckets: of one sketch. The returned `grid` is twice the given one, for the two outputs.
        norm_share: the norm is cut at this part of the cap. Below 1/√B the norm is cut whenever the sum is, and fewer
            keys need be allowed for.

    Raises:
        ArgumentError: the cap is above 2^60/Δ, beyond what is proved.
    """
    if buckets < 1:
        raise ArgumentError("buckets", buckets, "must be at least 1", "Pass the number of buckets")
    if not 0.0 < norm_share <= 1.0:
        raise ArgumentError(
            "norm_share", norm_share, "must be above 0 and at most 1", "Pass the norm as a share of the sum"
        )
    if not 2 <= size <= _LARGEST_SIZE:
        raise ArgumentError("size", size, f"must be between 2 and {_LARGEST_SIZE}", "Choose another size")
    if not 1.0 <= sensitivity < math.inf:
        raise ArgumentError("sensitivity", sensitivity, "must be at least 1", "Pass c M^p")
    moment = cap * sensitivity
    if not 1.0 <= moment <= _LARGEST_MOMENT:
        raise ArgumentError("cap", cap, f"must make Δ times itself lie between 1 and 2^60, not {moment:g}", "Lower it")
    uncut = moment * max(1.0, math.sqrt(buckets) * norm_share)
    keys = _MARGIN * uncut * math.exp(-log_least_share(p, size, _RARE / buckets)) + 1.0
    cut, crowded = most_cut(size, keys)
    missing = share_missing(p, size, math.log(moment), cut, _CUT * math.log(2.0) - math.lgamma(1.0 - p))
    failure = keys * size * 2.0**-_SMALLEST_X + crowded + switching(size, keys, buckets) + 2.0 * _RARE
    published = 1 if buckets == 1 else 2
    return Precision(ERROR, failure, cap, published * grid, short=cap * missing, outputs=outputs)


def usual_cap(
    p: float,
    size: int,
    sensitivity: float = 1.0,
    delta: float = 1e-9,
    outputs: int = 1,
    buckets: int = 1,
    norm_share: float = 1.0,
) -> float:
    """The largest power of two, in units of Δ, at which errors and failures raise the noise by less than 1%.

    The rule is the same for every ε, because ε b/Δ is at least 1, and for every size. It does not count the grid.

    Raises:
        ArgumentError: no cap makes failures as rare as this δ requires.
    """
    precision_of(p, size, 1.0, 0.0, sensitivity, outputs, buckets, norm_share)  # refuses what is wrong at any cap
    for doublings in range(math.floor(math.log2(_LARGEST_MOMENT / sensitivity)), -1, -1):
        cap = 2.0**doublings
        found = precision_of(p, size, cap, 0.0, sensitivity, outputs, buckets, norm_share)
        if found.shift(1.0) <= SHARE_OF_NOISE and found.failures <= SHARE_OF_DELTA * delta:
            return cap
    raise ArgumentError(
        "delta", delta, "must be above the probability that the computation fails", "Raise it, or use fewer entries"
    )


def log_least_share(p: float, size: int, probability: float) -> float:
    """ln x with P(ξ < x) <= probability: the better of two bounds.

    ξ is at least the least X^p over c, and P(Z <= z) <= exp(-a(0) e^{-z/q}). For many entries, Bernstein's inequality
    for the sum of min(Y, y), y such that half of the probability is enough for all Y to be below it.
    """
    law = power_sum(p, size)

    def lowest(share: float) -> float:
        """z with P(Z <= z) <= share for one entry: w_0 = a(0) e^{-z/q} is ln(1/share)."""
        log_a = p / (1.0 - p) * math.log(p) + math.log(1.0 - p)
        return (1.0 - p) * (log_a - math.log(-math.log(share)))

    smallest = lowest(probability / size)
    largest = math.exp(law.power * lowest(0.5 * probability / size))
    rate = math.log(2.0 / probability)
    variance = size * one_sided_variance(law.power, p) * (law.power * law.mean) ** 2
    third = rate * largest / 3.0
    above = third + math.sqrt(third**2 + 2.0 * rate * variance)
    by_sum = -law.theta * math.log(math.exp(one_sided_log_moment(law.power, p)) + above / size)
    return max(smallest, by_sum) - law.log_constant - 1e-6


def most_cut(size: int, keys: float) -> tuple[int, float]:
    """m, and the probability that more than m entries have an X beyond the table: at most 2^-56, or 0 for m = r."""
    log_each = math.log(keys * size) - _LARGEST_X * math.log(2.0)
    for cut in range(size):
        log_more = (cut + 1) * log_each - math.lgamma(cut + 2)
        if log_more <= math.log(_CROWDED):
            return cut, math.exp(log_more)
    return size, 0.0


def share_missing(p: float, size: int, log_moment: float, cut: int, log_end: float) -> float:
    """(1 - ρ)^{-θ} - 1: the part of F_max by which `cut` entries, whose p-th power is e^log_end or more, can make the
    estimate too small; ∞ if ρ reaches 1."""
    if cut == 0:
        return 0.0
    law = power_sum(p, size)
    log_rho = math.log(cut / size) - law.power * (log_moment + law.log_constant - log_end + 1e-6)
    if log_rho >= 0.0:
        return math.inf
    return math.expm1(-law.theta * math.log1p(-math.exp(log_rho)))


def switching(size: int, keys: float, buckets: int = 1) -> float:
    """The distance of the outputs of a random permutation of 128 bits from independent ones: blocks²/2^129.

    A block gives two entries, and one in 2^9 of them is continued by another block. With several buckets, one more
    block selects the bucket of the key.
    """
    blocks = keys * ((size + 1) // 2 + (buckets > 1)) * (1.0 + 2.0**-8)
    return min(blocks**2 * 2.0**-129, 1.0)
