"""Tails of stable laws by an integral along a ray, in ball arithmetic: for orders above 0.75, where series are slow.

**The integral.** Let s = e^{τ + i(π/2 + α)}. With ω s^p = s^p for the one-sided law (p < 1, E e^{-sX} = e^{-s^p}) and
ω s^p = (s/i)^p for the symmetric one (0 < p < 2), and c = 1 and 2,

    P(|X| > x) = (c/π) Im ∫ e^{xs} (1 - e^{-ω s^p}) dτ,      0 < α < W,

W the angle up to which Re ω s^p >= 0: π/(2p) - π/2, or the lesser of π/(2p) and π. *Proof.* The symmetric law has
P(|X| > x) = (2/π) ∫ (1 - e^{-u^p}) sin(ux)/u du, the one-sided one the inverse of (1 - e^{-s^p})/s, the transform of
P(X > x), on both rays. In between |1 - e^{-ω s^p}| <= min(|s|^p, 2) and e^{xs} falls, so the ray may be turned. ∎
Derivatives over j! have a factor of s^j/j!.

**Bounds.** Along an angle α, with k = sin α and real or complex x' of which |arg x'| < α, k = sin(α - |arg x'|),

    ∫ |s|^j/j! e^{-k|x'||s|} min(|s|^p, 2) dτ <= the lesser of Γ(j+p)/j! (k|x'|)^{-(j+p)} and 2/j (k|x'|)^{-j};

for j = 0 in place of the latter 2/p + 2 ln(1 + 1/(k |x'| 2^{1/p})), as ∫_y^∞ e^{-v} dv/v <= ln(1 + 1/y). So the
trapezoid rule of step h, f being analytic for |Im τ| <= b, errs by at most the sum of the bounds on both edges over
e^{2πb/h} - 1. Nodes left out on the left, below y_0/x, come to at most (y_0/x)^{j+p}/((j+p) j!), those on the right of
y_1/x to at most 2 (kx)^{-j} Γ(j, ky_1)/j! <= 4 (kx)^{-j} (ky_1)^{j-1} e^{-ky_1}/j!, if j < ky_1/2. With y = x|s| the
nodes and all but one factor are the same for every x. What a Taylor polynomial lacks is by Cauchy, on the disc of
radius ρx, where |arg x'| <= asin ρ.

**Near 0** P(|X| <= x) = (2/πp) Σ (-1)^k Γ((2k+1)/p)/(2k+1)! x^{2k+1} for the symmetric law, and partial sums enclose
it, as those of the sine do under the integral; those of the cosine enclose the slope.
"""

from __future__ import annotations

import contextlib
import math
from functools import cache

from ball_laws import LOWER, Model, Stable, ball, cauchy
from flint import acb, acb_mat, arb, arb_poly


class Ray:
    """P(|X| > x) about places of a lattice of ln x, as Taylor polynomials."""

    def __init__(self, p: float, *, one_sided: bool, bits: int, terms: int, kept: int, least: float) -> None:
        """To 2^-bits, relative to x^{-p} and for x < 1 to 1; for x of `least` and more."""
        self.p, self.c = arb(p), 1 if one_sided else 2
        widest = arb.pi() / 2 * (1 / self.p - 1) if one_sided else (arb.pi() / 2 / self.p).min(arb.pi())
        self.alpha, self.b = widest / 2, widest * 2 / 5
        self.psi = self.alpha + (arb.pi() / 2 if one_sided else 0)
        self.rho = (widest * arb(0.35)).sin().mid()
        self.ratio = 1 + float(self.rho) / 3
        self.terms, self.kept = terms, kept
        need = (bits + 12) * math.log(2.0) + 2.0 * p * math.log(10.0 / float(widest))
        self.h = arb(2 * math.pi * float(self.b) / need)
        k = self.alpha.sin()
        self.low = -need / p + min(0.0, math.log(least))
        self.high = math.log((need + 8 * terms) / float(k))
        count = math.ceil((self.high - self.low) / float(self.h))
        self.places = [arb(self.low) + self.h * i for i in range(count + 1)]
        turn = acb(-self.alpha.sin(), self.alpha.cos())  # e^{i(π/2 + α)}
        rows = []
        for place in self.places:
            s = turn * place.exp()
            row = [s.exp() * self.h]
            for j in range(1, terms):
                row.append(row[-1] * s / j)
            rows.append(row)
        self.weights = acb_mat(rows)

    @cache  # noqa: B019
    def about(self, piece: int) -> tuple[arb, list[arb]]:
        """x, and P(|X| > x) there with its derivatives over j!."""
        x = arb(self.ratio) ** piece * arb((1 + self.ratio) / 2)
        log_x, turn = x.log(), self.p * self.psi
        values = acb_mat(1, len(self.places), [1 - (-acb(self.p * (t - log_x), turn).exp()).exp() for t in self.places])
        sums = values * self.weights
        scale = self.c / arb.pi()
        found = [(sums[0, j].imag + ball(self._errors(x, j))) * scale / x**j for j in range(self.terms)]
        return x, found

    def _errors(self, x: arb, j: int) -> arb:
        """Times x^j: of the rule and of the nodes left out."""
        edges = [self._absolute(x * (self.alpha + self.b * side).sin(), j) * x**j for side in (-1, 1)]
        rule = (edges[0] + edges[1]) / ((2 * arb.pi() * self.b / self.h).exp() - 1)
        below = self.places[0].exp()
        left = (below / x) ** self.p * below**j / ((j + self.p) * arb.fac_ui(j))
        k, end = self.alpha.sin(), self.alpha.sin() * self.places[-1].exp()
        if not end > 2 * j + 2:
            raise ArithmeticError("the nodes end too early")
        right = 4 * k ** (-j) * end ** (j - 1) * (-end).exp() / arb.fac_ui(j)
        return rule + left + right

    def _absolute(self, kx: arb, j: int) -> arb:
        """A bound of the integral of the size, k|x'| given."""
        by_power = (j + self.p).gamma() / arb.fac_ui(j) * kx ** (-(j + self.p))
        flat = 2 / self.p + 2 * (1 + 1 / (kx * arb(2) ** (1 / self.p))).log() if j == 0 else 2 / (j * kx**j)
        return by_power.min(flat)

    def model(self, side: int, x: arb, reach: arb) -> Model:
        centre, found = self.about(math.floor(math.log(float(x)) / math.log(self.ratio)))
        if side == LOWER:
            found = [1 - found[0], *(-each for each in found[1:])]
        kx = centre * (1 - self.rho) * (self.alpha - self.rho.asin()).sin()
        largest = self.c / arb.pi() * self._absolute(kx, 0) + (1 if side == LOWER else 0)
        whole = cauchy(centre, found, (x - centre).abs_upper() + reach, self.rho * centre, largest)
        return about(whole, x, reach, self.kept)


def about(model: Model, x: arb, reach: arb, kept: int) -> Model:
    """The same about x, with fewer terms: all others are small within `reach`."""
    found = arb_poly(model.coefficients)(arb_poly([x - model.centre, 1])).coeffs()
    rest = [(k, abs(found[k])) for k in range(kept, len(found))]
    lacks = sum((each * reach**k for k, each in rest), model.lacks)
    return Model(x, found[:kept], lacks, sum((k * each * reach ** (k - 1) for k, each in rest), model.slope_lacks))


class NearZero(Stable):
    """The symmetric law of small p: the series at 0 where it is good, the other one beyond.

    The one in ζ cancels near 0: at p = 0.1 and x = 1e-23 its terms reach e^250, and P(|X| <= x) is 3e-17.
    """

    def model(self, side: int, x: arb, reach: arb) -> Model:
        if side == LOWER:
            with contextlib.suppress(ArithmeticError):
                return near_zero(self, x, reach)
        return super().model(side, x, reach)


class BelowOne(Stable):
    """Either law of 0.75 < p < 1: the ray up to x = 1.25, the series beyond."""

    ends = 1.25

    def __init__(self, p: float, *, one_sided: bool) -> None:
        super().__init__(p, one_sided=one_sided)
        self.ray = Ray(p, one_sided=one_sided, bits=175, terms=64, kept=28, least=2.0**-9)

    def model(self, side: int, x: arb, reach: arb) -> Model:
        if side == LOWER and not self.one_sided and x < 2.0**-8:
            return near_zero(self, x, reach)
        return self.ray.model(side, x, reach) if x < self.ends else super().model(side, x, reach)

    def tail(self, side: int, x: arb) -> arb:
        return value_of(self.model(side, x, arb(0)), x) if x < self.ends else super().tail(side, x)


class AboveOne(Stable):
    """The symmetric law of 1 < p < 2: the series near 0, the ray beyond."""

    def __init__(self, p: float) -> None:
        super().__init__(p, one_sided=False)
        self.ray = Ray(p, one_sided=False, bits=90, terms=34, kept=18, least=0.25)

    def model(self, side: int, x: arb, reach: arb) -> Model:
        if side == LOWER and x + reach < 0.5:
            return near_zero(self, x, reach)
        return self.ray.model(side, x, reach)

    def tail(self, side: int, x: arb) -> arb:
        return value_of(self.model(side, x, arb(0)), x)


def value_of(model: Model, x: arb) -> arb:
    return arb_poly(model.coefficients)(x - model.centre) + ball(model.lacks)


def near_zero(law: Stable, x: arb, reach: arb) -> Model:
    """P(|X| <= x) by its series at 0."""
    most, scale = x + reach, 2 / (arb.pi() * law.p)
    terms: list[arb] = []
    while True:
        k = len(terms)
        size = law._power(k) * most ** (2 * k + 1)
        if k and size < arb(2) ** -90 * law._power(0) * x:
            break
        if k and size > law._power(k - 1) * most ** (2 * k - 1):
            raise ArithmeticError("the series at 0 does not reach as far as that")
        terms.append(law._power(k) * (-1) ** k)
    spread = arb_poly([each for term in terms for each in (arb(0), term * scale)])
    return Model(x, spread(arb_poly([x, 1])).coeffs(), scale * size, scale * size * (2 * len(terms) + 1) / most)
