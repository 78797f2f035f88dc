"""Theorem 4 of the paper is false: a counterexample in closed form.

Let p = 1, with one entry. S is n pairs (1, 1); S' is the same with one pair replaced by (2, M). Each pair is kept with
probability q. The entry is 0 if nothing is kept, which is equally likely for both; otherwise it is Cauchy with the
scale F_1 of the sample, for which

    P(|a| > x) = (2/π) Σ_f P(F_1 = f) arctan(f/x) .

Far out arctan(f/x) is f/x, so the likelihood ratio goes to E F_1(S')/E F_1(S) = (n - 1 + M)/n = ρ: no ε below ln ρ
holds for any q. The paper claims q ln ρ.

The proof amplifies the privacy of a sketch of n pairs; what is sketched is a sample of about qn, and a single pair
changes its F_1 by a factor of up to 1 + M/(qn), not 1 + M/n.
"""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from ..numbers.arrays import Array
from ..pictures.style import COLOURS, GREY
from ..privacy import Privacy
from ..privacy.sampling import SampledCurve, Sampling
from .formulas import subsampled_epsilon
from .output import Output

PAIRS, MOST, RATE = 100, 100, 0.02


def scale_chances(pairs: int, most: int, rate: float, *, replaced: bool) -> tuple[Array, Array]:
    """The values that F_1 of the sample can take, except 0, and their probabilities."""
    common = pairs - 1
    k = np.arange(common + 1)
    logs = np.array([math.lgamma(common + 1) - math.lgamma(j + 1) - math.lgamma(common - j + 1) for j in k])
    chance = np.exp(logs + k * math.log(rate) + (common - k) * math.log1p(-rate))
    last = most if replaced else 1
    scales = np.concatenate([k[1:], k + last]).astype(np.float64)
    return scales, np.concatenate([(1.0 - rate) * chance[1:], rate * chance])


def beyond(x: Array, scales: Array, chances: Array) -> Array:
    """P(|a| > x)."""
    out: Array = (2.0 / math.pi) * (np.arctan(scales[None, :] / x[:, None]) @ chances)
    return out


def tail_ratio(pairs: int, most: int, rate: float, x: float) -> float:
    """P(|a'| > x)/P(|a| > x). It goes to ρ, and for δ = 0 e^ε cannot be less."""
    at = np.array([x])
    first, second = (scale_chances(pairs, most, rate, replaced=replaced) for replaced in (True, False))
    return float(beyond(at, *first)[0] / beyond(at, *second)[0])


def closed_form_delta(pairs: int, most: int, rate: float, epsilons: Array) -> Array:
    """A lower bound of δ(ε) of this pair of streams: Σ over cells of |a| of (P' - e^ε P)_+, in the worse order.

    Cutting the line into cells is post-processing, which can only hide a difference, never create one.
    """
    edges = np.geomspace(1e-6, 1e9, 4_001)
    masses = []
    for replaced in (True, False):
        scales, chances = scale_chances(pairs, most, rate, replaced=replaced)
        tails = np.concatenate([[chances.sum()], beyond(edges, scales, chances), [0.0]])
        masses.append(-np.diff(tails))
    grow = np.exp(epsilons)[:, None]
    orders = (np.maximum(one - grow * other, 0.0).sum(axis=1) for one, other in permutations(masses))
    out: Array = np.maximum(*orders)
    return out


def joint_tail_epsilon(pairs: int, most: int, rate: float, size: int) -> float:
    """ln of E F_1(S')^r/E F_1(S)^r: given the sample the entries are independent, and far out P(all |a_j| > x) is E (2
    F_1/πx)^r. The pure ε of r entries that share their coins is at least this."""
    logs = []
    for replaced in (True, False):
        scales, chances = scale_chances(pairs, most, rate, replaced=replaced)
        with np.errstate(divide="ignore"):
            terms = np.log(chances) + size * np.log(scales)
        logs.append(float(np.logaddexp.reduce(terms)))
    return logs[0] - logs[1]


def run(output: Output) -> None:
    """theorem-4: δ(ε) of the counterexample, the claim, and the sound bound."""
    rho = (PAIRS - 1 + MOST) / PAIRS
    claimed, least = RATE * math.log(rho), math.log(rho)
    epsilons = np.linspace(0.002, 0.72, 25 if output.quick else 73)
    true = closed_form_delta(PAIRS, MOST, RATE, epsilons)
    curve = SampledCurve(1.0, 1, Privacy(1.0, 1e-6, PAIRS, MOST, relation="replace"), Sampling(RATE))
    sound = [curve.delta(float(epsilon)) for epsilon in epsilons]
    rows = [tuple(float(v) for v in row) for row in zip(epsilons, true, sound, strict=True)]
    output.table("theorem-4", ("epsilon", "true_delta_from_below", "sound_delta"), rows)
    figure, axes = output.canvas()
    axes.semilogy(epsilons, np.where(true > 0, true, np.nan), color=COLOURS[0], label="true δ(ε), closed form")
    axes.semilogy(epsilons, sound, "--", color=COLOURS[2], label="sound accounting, never below it")
    axes.axvline(claimed, color=COLOURS[1], linewidth=2.0)
    axes.axvline(least, color=GREY, linewidth=1.5, linestyle=":")
    axes.text(claimed + 0.008, 2e-6, f"claimed: δ = 0 from\nε = {claimed:.4f} on", color=COLOURS[1])
    axes.text(least - 0.008, 2e-6, f"δ = 0 from\nln ρ = {least:.3f} on", color=GREY, ha="right")
    axes.set(xlim=(0, 0.72), ylim=(1e-6, 1.0), xlabel="ε", ylabel="δ")
    axes.set_title("Theorem 4: p = 1, one entry, n = M = 100, q = 0.02")
    axes.legend(loc="upper right")
    output.figure("theorem-4", figure)
    at_claim = float(closed_form_delta(PAIRS, MOST, RATE, np.array([claimed]))[0])
    output.claim(
        "Theorem 4", "sub-sampling at rate q gives ε = (qr/p) ln ρ", at_claim <= 0.0,
        f"n = M = 100, p = r = 1, q = 0.02: claimed {claimed:.4f}; there δ is {at_claim:.4f}, and no ε below "
        f"{math.log(tail_ratio(PAIRS, MOST, RATE, 1e12)):.4f} = ln ρ has δ = 0: no amplification at all",
    )  # fmt: skip
    size = round(1.0 / RATE)
    output.claim(
        "Section 3.5", "with q = 1/r the ε of Theorem 3 holds as it is",
        joint_tail_epsilon(PAIRS, MOST, RATE, size) <= least,
        f"the same with r = 1/q = {size} entries, all of them far out at once: claimed "
        f"{subsampled_epsilon(PAIRS, 2, MOST, 1.0, size, RATE):.3f}; true at least {size * least:.1f} with coins for "
        f"every entry, {joint_tail_epsilon(PAIRS, MOST, RATE, size):.1f} with coins for every pair",
    )  # fmt: skip
