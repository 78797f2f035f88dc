"""A certificate of the table behind the law of ξ (privacy/noisy_estimate.py): how far ln P(Y <= y) is off at most.

In a cell of `LogBelow` ln P(Y <= e^t) is a polynomial of degree 5 in the place of t. Y = X^{λp} and λ < 0, so P(Y <=
e^t) = P(X >= x), x = e^{t/(λp)}. A model of that tail (ball_laws.py) is a polynomial in x with a bound of what it
lacks. With x as a function of t it becomes a power series in the place of t; what its first terms lack is by Lagrange
at most the next coefficient, enclosed for all t of the piece by a series about a ball. The difference to the table is
bounded in Chebyshev's basis, for all t, as in table_certificate.py.

    python tests/law/xi_certificate.py 0.25 0.5
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ball_laws import UPPER, Tails, ball
from flint import arb, arb_poly, arb_series
from table_certificate import ULP, above, by_order, largest

from stablesketch.sketch.estimators import power_lattice
from stablesketch.sketch.estimators.power_lattice import LogBelow
from stablesketch.sketch.estimators.power_sum import best_one_sided_power

TERMS = 10
PARTS = 4  # of each cell, at first
ENOUGH = 1e-10


@dataclass(frozen=True)
class Piece:
    """Part of a cell: Σ coefficients[k] s^k for -1/2 <= s <= 1/2, where t, or far out ln(-t), is middle + width s."""

    coefficients: list[arb]
    middle: arb
    width: arb
    far: bool

    def halves(self) -> list[Piece]:
        poly = arb_poly(self.coefficients)
        return [
            Piece(poly(arb_poly([arb(at), arb(0.5)])).coeffs(), self.middle + self.width * at, self.width / 2, self.far)
            for at in (-0.25, 0.25)
        ]

    def log_x(self, place: arb, rate: arb, terms: int) -> arb_series:
        """ln x = t/(λp) about a place of the piece, in s."""
        t = arb_series([place, self.width], prec=terms)
        return (-t.exp() if self.far else t) * rate


def pieces(table: LogBelow) -> Iterator[Piece]:
    near = (table._powers, power_lattice._LOW, power_lattice._WIDTH, table._cells, False)
    beyond = (table._far_powers, math.log(-power_lattice._LOW), power_lattice._FAR_WIDTH, table._far_cells, True)
    for powers, low, width, cells, far in (near, beyond):
        for cell in range(cells):
            whole = arb_poly([arb(float(c)) for c in powers[:, cell]])
            for part in range(PARTS):
                inside = (arb(part) + 0.5) / PARTS
                shifted = whole(arb_poly([inside, arb(1) / PARTS])).coeffs()
                yield Piece(shifted, arb(low) + arb(width) * (cell + inside), arb(width) / PARTS, far)


def off_in(tails: Tails, p: float, rate: arb, piece: Piece) -> arb:
    """How far the table is off on a piece, rounding of its evaluation included."""
    everywhere = piece.middle + ball(piece.width / 2)
    rounding = 16 * ULP * sum((abs(c) for c in piece.coefficients), arb(0))
    missing = lower_tail(p, piece.log_x(everywhere, rate, 1).coeffs()[0].exp())
    if missing < 1e-13:  # P(Y <= e^t) is 1 to within that
        return largest(piece.coefficients) + 2 * missing.abs_upper() + rounding
    centre = piece.log_x(piece.middle, rate, 1).coeffs()[0].exp()
    reach = (piece.log_x(everywhere, rate, 1).coeffs()[0].exp() - centre).abs_upper()
    model = tails.model(UPPER, centre, reach)

    def logarithm(place: arb, terms: int) -> list[arb]:
        """ln of the model as a series in s."""
        moved = piece.log_x(place, rate, terms).exp() - arb_series([centre], prec=terms)
        value = arb_series([model.coefficients[-1]], prec=terms)
        for each in reversed(model.coefficients[:-1]):
            value = value * moved + each
        return value.log().coeffs()

    known = logarithm(piece.middle, TERMS)
    following = logarithm(everywhere, TERMS + 1)
    if len(following) <= TERMS:
        following += [arb(0)] * (TERMS + 1 - len(following))
    least = following[0].exp().abs_lower() - model.lacks
    if not least > 0:
        raise ArithmeticError("nothing is certified")
    difference = arb_poly(known) - arb_poly(piece.coefficients)
    return largest(difference.coeffs()) + abs(following[TERMS]) / 2**TERMS + model.lacks / least + rounding


def certified_in(tails: Tails, p: float, rate: arb, piece: Piece, enough: float, depth: int = 8) -> float:
    """A bound for the piece; where it is not good enough, the larger of those of its halves."""
    try:
        found = above(off_in(tails, p, rate, piece))
    except ArithmeticError:
        found = math.inf
    if found <= enough or not depth:
        return found
    return max(certified_in(tails, p, rate, half, enough, depth - 1) for half in piece.halves())


def lower_tail(p: float, x: arb) -> arb:
    """A bound of P(X <= x): exp(-a(0) x^{-c}), c = p/(1-p), a(0) = (1-p) p^c (law/one_sided.py)."""
    c = arb(p) / (1 - arb(p))
    return (-(1 - arb(p)) * (arb(p) / x) ** c).exp()


def certified_below(p: float, every: int = 1) -> float:
    """|table - ln P(Y <= e^t)| is at most this, for every t down to where P is e^-46; or of every so-many-th piece."""
    power = best_one_sided_power(p)
    tails, rate = by_order(p, one_sided=True), 1 / (arb(power) * arb(p))
    found = list(pieces(LogBelow(p, power)))
    worst = max(certified_in(tails, p, rate, piece, ENOUGH) for piece in [*found[::every], found[-1]])
    end = (arb(power_lattice._HIGH) * rate).exp()  # beyond, the table is constant
    return max(worst, above(2 * lower_tail(p, end)))


def main() -> int:
    for word in sys.argv[1:]:
        start = time.monotonic()
        print(f"{word:<8}{certified_below(float(word)):>12.3g}{time.monotonic() - start:>9.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
