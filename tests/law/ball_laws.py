"""The tails of the laws that entries are drawn from, in ball arithmetic: enclosures with proof, in the form of models.

A `Model` of a tail T near a place is a polynomial in x - centre with ball coefficients and a bound of what it lacks.
Every number here is a ball of Arb (python-flint): it holds the true value, whatever was rounded.

**Stable laws, p < 1** (X one-sided, or |X| of the symmetric law). Both have, with c = p/(1-p) and a random a > 0,

    P(|X| <= x) = E e^{-av} = Q(v),      v = x^{-c}

(Kanter; Chambers, Mallows and Stuck: native/one_sided_law.hpp and symmetric_tails.hpp). So Q continues to Re v > 0, and
there |Q(v)| <= Q(Re v) and |1 - Q(v)| <= E min(2, a|v|) <= k (1 - Q(|v|)), k = 2/(1 - 1/e) < 3.165. On the disc
|x' - x| <= ρx we have |arg x'| <= asin ρ and (1-ρ)x <= |x'| <= (1+ρ)x, which bounds Re v from below and |v| from above.
By Cauchy what a Taylor polynomial of n terms lacks at a distance d is at most B q^n/(1-q), q = d/(ρx), B that bound.
The coefficients come from a series that converges everywhere, ζ = x^{-p},

    P(|X| > x) = Σ c_k ζ^k,      |c_k| <= (2/π) Γ(pk)/k!,

whose terms fall by a factor of at most (pk)^p ζ/(k+1-j) in the j-th derivative (Γ(y+p) <= y^p Γ(y) for 0 < p < 1).
It cancels for small x. For the symmetric law, P(|X| <= x) = (2/π) ∫ e^{-u^p} sin(ux)/u du, and the partial sums of the
sine and of its derivatives enclose them: what is left out is at most the first term that is, for |X| near 0.

**p = 1 and 2**: arctangent and error function. |atan w| <= |w| for |arg w| <= π/6; |erfc z| <= e^{(Im z)²} erfc(Re z)
and |erf z| <= (2/√π) |z| e^{|z|²}, by their integrals.

**Entropy**, X = -R. On the upper side, with g(w) = w^{-w} sin(πw)/(πw) and z = e^τ,

    P(X > x) = ∫_0^∞ e^{-sx} g(s) ds,      |P^{(j)}(x)|/j! <= e^{1/e}/x^{j+1},
    x^{j+1} P^{(j)}(x) (-1)^j/j! = ∫ z^{j+1} e^{-z} g(z/x)/j! dτ,

by the trapezoid rule in τ: analytic for |Im τ| <= b = 1/2, where |g(w e^{ib})| <= exp(w ((π + b) sin b - cos b ln w))
<= K, so that the rule errs by at most 2 K (cos b)^{-(j+1)}/(e^{2πb/h} - 1). On the lower side, for any κ > 0,

    P(X <= x) = (1/2π) ∫ t^{t-1} e^{tx} du,      t = κ + iu,

by the trapezoid rule in u, analytic for κ/2 < Re t < 3κ/2. With κ' = Re t, r = u/κ', |t^t| = κ'^κ' e^{κ'φ(r)}, φ' =
-atan r; and |t|^j/j! <= 2^j e^{|t|/2}. As φ(r) + r/2 <= 0.131, and <= 0.062 - 0.285 (r-1) from r = 1 on, the integral
of the j-th coefficient along Re t = κ' is at most κ'^κ' e^{κ'(x + 0.631)} 2^j (1 + 3.51/κ')/π. P(X <= x) = E e^{-av}
with v = e^{-x}, so it is at most 1 within |Im x| < π/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from flint import acb, acb_mat, arb, arb_mat, arb_poly, arb_series, ctx

UPPER, LOWER = 0, 1
BITS = 420
ctx.prec = BITS
ctx.cap = 80  # terms of a series


@dataclass(frozen=True)
class Model:
    """T(centre + h) = Σ coefficients[j] h^j, to within `lacks`, and T' to within `slope_lacks`, for the x asked for."""

    centre: arb
    coefficients: list[arb]
    lacks: arb
    slope_lacks: arb


class Tails(Protocol):
    """P(X > x), side 0, and P(X <= x), side 1, of X or |X|."""

    def model(self, side: int, x: arb, reach: arb) -> Model:
        """A model that holds within `reach` of x."""

    def tail(self, side: int, x: arb) -> arb:
        """T(x)."""


def ball(radius: arb) -> arb:
    """Everything from -radius to radius."""
    return arb(0, radius.abs_upper())


def cauchy(centre: arb, coefficients: list[arb], reach: arb, radius: arb, largest: arb) -> Model:
    """The model of a function that is at most `largest` within `radius` of the centre."""
    n, q = len(coefficients), reach / radius
    if not q < 1:
        raise ArithmeticError("the model does not reach as far as that")
    lacks = largest * q**n / (1 - q)
    return Model(centre, coefficients, lacks, largest / radius * n * q ** (n - 1) / (1 - q) ** 2)


class Stable:
    """The one-sided or the symmetric law of p < 1."""

    def __init__(self, p: float, *, one_sided: bool, terms: int = 0) -> None:
        self.p, self.one_sided = arb(p), one_sided
        self.c = self.p / (1 - self.p)
        self.terms = terms or (28 if p >= 0.2 else 60)
        self._series: dict[int, list[arb_poly]] = {}

    def tail(self, side: int, x: arb) -> arb:
        return self._coefficients(side, x, 1)[0]

    def model(self, side: int, x: arb, reach: arb) -> Model:
        coefficients = self._coefficients(side, x, self.terms)
        widest = min(0.6, math.sin(min(1.2 / float(self.c), math.pi / 2)))
        steepness = abs(float(x * coefficients[1] / coefficients[0]))
        rho = arb(min(widest, 2.0 / steepness) if side == LOWER else widest)
        if side == UPPER:
            largest = arb(3.165) * self.tail(UPPER, x * (1 - rho))
        else:
            largest = self.tail(LOWER, x * (1 + rho) / (self.c * rho.asin()).cos() ** (1 / self.c))
        return cauchy(x, coefficients, reach, rho * x, largest)

    def _coefficients(self, side: int, x: arb, count: int) -> list[arb]:
        if side == LOWER and not self.one_sided:
            near = self._near_zero(x, count)
            if near is not None:
                return near
        zeta = x ** (-self.p)
        found = self._in_zeta(zeta, count)
        if count > 1:
            inner = (arb_series([x, 1], prec=count).log() * -self.p).exp()
            outer, inner = (arb_series(some, prec=count) for some in (found, [0, *inner.coeffs()[1:]]))
            found = outer(inner).coeffs()
        return found if side == UPPER else [1 - found[0], *(-each for each in found[1:])]

    def _in_zeta(self, zeta: arb, count: int) -> list[arb]:
        """P(|X| > x) and its derivatives over j!, as a function of ζ."""
        length = 64
        while not (left := self._left_out(length, zeta, count - 1)) < arb(2) ** (100 - BITS):
            length *= 2
        derivatives = self._derivatives(length, count)
        return [derivatives[j](zeta) + ball(left) for j in range(count)]

    def _left_out(self, length: int, zeta: arb, most: int) -> arb:
        """What the terms from `length` on come to, in any derivative up to `most`."""
        ratio = (self.p * length) ** self.p * zeta / (length + 1 - most)
        if not ratio < 0.5:
            return arb(1)
        size = (self.p * length).lgamma() - arb(length + 1).lgamma() + length * zeta.log()
        return 2 * size.exp() * (length / zeta).max(arb(1)) ** most

    def _derivatives(self, length: int, count: int) -> list[arb_poly]:
        known = self._series.setdefault(length, [arb_poly([0, *(self._term(k) for k in range(1, length))])])
        while len(known) < count:
            known.append(known[-1].derivative() * (1 / arb(len(known))))
        return known

    @cache  # noqa: B019
    def _term(self, k: int) -> arb:
        size = (self.p * k).gamma() / arb.fac_ui(k) / arb.pi()
        if self.one_sided:
            return size * ((1 - self.p) * k).sin_pi()
        return 2 * size * (self.p * k / 2).sin_pi() * (1 if k % 2 else -1)

    @cache  # noqa: B019
    def _power(self, k: int) -> arb:
        """Γ((2k+1)/p)/(2k+1)!"""
        return ((2 * k + 1) / self.p).gamma() / arb.fac_ui(2 * k + 1)

    def _near_zero(self, x: arb, count: int) -> list[arb] | None:
        """The series at 0, if it is good to 2^-110 there."""
        scale, square = 2 / (arb.pi() * self.p), x * x
        terms, size, k = [], arb(1), 0
        while 2 * k < count + 2 or not size < arb(2) ** -160 * self._power(0):
            size = self._power(k) * square**k
            terms.append(self._power(k) * (-1) ** k)
            if k and size > self._power(k - 1) * square ** (k - 1):
                return None
            k += 1
        last = len(terms) - 1  # left out, with all that follow
        if 2 * last + 1 < count:
            return None
        powers = arb_poly([each for term in terms[:last] for each in (arb(0), term)])
        left = self._power(last) * x ** (2 * last + 1)
        found = []
        for j in range(count):
            beyond = left * arb(2 * last + 1).bin(j) / x**j
            if beyond * (x / 16) ** j > arb(2) ** -110 * self._power(0) * x:
                return None
            found.append(scale * (powers(x) + ball(beyond)))
            powers = powers.derivative() * (1 / arb(j + 1))
        return found


class Cauchy:
    """|X|, p = 1."""

    def tail(self, side: int, x: arb) -> arb:
        return 2 / arb.pi() * (1 / x if side == UPPER else x).atan()

    def model(self, side: int, x: arb, reach: arb) -> Model:
        count = 24
        place = arb_series([x, 1], prec=count)
        found = (place.inv() if side == UPPER else place).atan() * (2 / arb.pi())
        return cauchy(x, found.coeffs(), reach, x / 2, 2 / arb.pi() * (2 / x if side == UPPER else 2 * x))


class Normal:
    """|X|, p = 2: of variance 2."""

    def tail(self, side: int, x: arb) -> arb:
        return (x / 2).erfc() if side == UPPER else (x / 2).erf()

    def model(self, side: int, x: arb, reach: arb) -> Model:
        place, radius = arb_series([x / 2, arb(0.5)], prec=28), (x / 2).min(arb(1))
        if side == UPPER:
            largest = (radius**2 / 4).exp() * ((x - radius) / 2).erfc()
            return cauchy(x, place.erfc().coeffs(), reach, radius, largest)
        far = (x + radius) / 2
        return cauchy(x, place.erf().coeffs(), reach, radius, 2 / arb.pi().sqrt() * far * (far**2).exp())


class Entropy:
    """X = -R, of either sign."""

    upper_terms, lower_terms = 40, 42
    step_up, step_down = 0.04, 0.025  # of the trapezoid rules, the second one times κ

    def tail(self, side: int, x: arb) -> arb:
        model = self.model(side, x, arb(0))
        return arb_poly(model.coefficients)(x - model.centre) + ball(model.lacks)

    def model(self, side: int, x: arb, reach: arb) -> Model:
        if side == UPPER:
            centre, found = self._far(math.floor(math.log(float(x)) / math.log(1.25)))
            away, least, n = (x - centre).abs_upper() + reach, (x - reach).min(centre), len(found)
            largest = arb(1) / arb(1).exp()
            lacks = largest.exp() / least * (away / least) ** n
            return Model(centre, found, lacks, n * largest.exp() / least**2 * (away / least) ** (n - 1))
        centre, found = self._near(math.floor(16 * float(x)))
        return cauchy(centre, found, (x - centre).abs_upper() + reach, arb(1), arb(1))

    @cache  # noqa: B019
    def _far(self, piece: int) -> tuple[arb, list[arb]]:
        """P(X > x) about 1.125 · 1.25^piece."""
        places, weights = self._up()
        x = arb(1.125) * arb(1.25) ** piece
        values = arb_mat(1, len(places), [(-(z / x) * (z / x).log()).exp() * (z / x).sinc_pi() for z in places])
        sums = values * weights
        return x, [
            (-1) ** j * (sums[0, j] + ball(self._up_errors(j))) / x ** (j + 1) for j in range(self.upper_terms)
        ]  # fmt: skip

    @cache  # noqa: B019
    def _up(self) -> tuple[list[arb], arb_mat]:
        """z at the nodes from e^-70 to e^5.6, and h z^{j+1} e^{-z}/j!."""
        h = arb(self.step_up)
        places = [(h * i).exp() for i in range(-round(70 / self.step_up), round(5.6 / self.step_up) + 1)]
        rows = [[h * z ** (j + 1) * (-z).exp() / arb.fac_ui(j) for j in range(self.upper_terms)] for z in places]
        return places, arb_mat(rows)

    def _up_errors(self, j: int) -> arb:
        """Of the rule, and of the nodes left out on both sides, where g is at most e^{1/e} < 1.45."""
        b, h = arb(0.5), arb(self.step_up)
        k = (((arb.pi() + b) * b.tan() - 1).exp() * b.cos()).exp()
        rule = 2 * k * b.cos() ** -(j + 1) / ((2 * arb.pi() * b / h).exp() - 1)
        low = arb(1.45) * h * arb(-70 * (j + 1)).exp() / (1 - (-h * (j + 1)).exp()) / arb.fac_ui(j)
        z = arb(5.6).exp()  # 270: from here on terms fall by e^{(j+1)h - z(e^h - 1)} < 1/2
        return rule + low + 2 * arb(1.45) * h * z ** (j + 1) * (-z).exp() / arb.fac_ui(j)

    @cache  # noqa: B019
    def _near(self, piece: int) -> tuple[arb, list[arb]]:
        """P(X <= x) about (piece + 1/2)/16."""
        x = (arb(piece) + 0.5) / 16
        log_kappa = max(0, round((-float(x) - 1.0) / math.log(2.0)))
        kappa = 2**log_kappa
        nodes, weights, beyond = self._down(kappa)
        values = acb_mat(1, len(nodes), [(t * x).exp() for t in nodes])
        sums = values * weights
        h, a = arb(self.step_down) * kappa, arb(kappa) / 2
        path = [
            (k * k.log() + k * (x + arb(0.631))).exp() * (1 + arb(3.51) / a) / arb.pi() for k in (kappa - a, kappa + a)
        ]
        rule = 2 * path[0].max(path[1]) / ((2 * arb.pi() * a / h).exp() - 1)
        left = beyond * (x * kappa).exp()
        return x, [sums[0, j].real + ball(2**j * (rule + left)) for j in range(self.lower_terms)]

    @cache  # noqa: B019
    def _down(self, kappa: int) -> tuple[list[acb], acb_mat, arb]:
        """t at the nodes, h t^{t-1+j}/(π j!) there, the first one halved; and what those left out are at most, over
        2^j e^{κx}: from r on φ + r/2 falls by atan r - 1/2 > 1 at least."""
        h, r = arb(self.step_down) * kappa, 15.0
        while kappa * (0.5 * math.log1p(r * r) - r * math.atan(r) + 0.5 * r + 0.5 + math.log(kappa)) > -170.0:
            r *= 1.05
        count = math.ceil(r / self.step_down)
        nodes = [acb(kappa, h * i) for i in range(count + 1)]
        rows = []
        for i, t in enumerate(nodes):
            value = ((t - 1) * t.log()).exp() * h / arb.pi() / (2 if i == 0 else 1)
            row = [value]
            for j in range(1, self.lower_terms):
                row.append(row[-1] * t / j)
            rows.append(row)
        end = h * count / kappa  # the integral from there on, in r, of κ e^{κ(φ + r/2 + 1/2)} κ^{κ-1}
        log_bound = kappa * ((1 + end * end).log() / 2 - end * end.atan() + end / 2 + arb(0.5) + arb(kappa).log())
        return nodes, acb_mat(rows), log_bound.exp() / kappa / arb.pi()
