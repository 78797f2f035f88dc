"""The norm ‖f‖_p = F_p^{1/p} from exact totals, for orders above 1, as a whole number of grid units.

Why the norm and not F_p: a pair of value v raises one total, and by the triangle inequality the norm by at most v, so
neighbours that differ by c pairs of values up to M have norms at most c M apart; F_p itself can move by any amount. The
norm rises with every total, so that holds for replace too: both neighbours are the shared stream with up to c pairs
added, and both norms lie between its norm and that plus c M. In a table (bounding/groups.py) the moves of all groups
add up to c M, and every group is rounded by itself.

Powers are computed with enough decimals for the norm to be correct to a tiny part of a unit; squares are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .exact_moment import MARGIN, nearest, totals_by_size


def norm_units(totals: NDArray[np.integer] | Iterable[int], p: float, step: Fraction) -> int:
    """U with |U - ‖f‖_p/step| <= 1/2 + MARGIN, for 1 < p <= 2. Equal totals are computed once.

    With d digits every power, sum and root is correct to a relative 10^(2-d), and a few of them together to 10^(3-d).
    The norm is at most the total, and d makes 10^(4-d) of that less than MARGIN·step.
    """
    counts = totals_by_size(totals)
    total = sum(f * count for f, count in counts.items())
    if not total:
        return 0
    digits = 8 + math.ceil(math.log10(math.ceil(total / (MARGIN * step)) + 1)) + math.ceil(math.log10(len(counts) + 1))
    with localcontext(Context(prec=digits)) as context:
        exponent = Decimal(p)  # exactly
        moment = Decimal(0)
        for f, count in counts.items():
            power = Decimal(f * f) if p == 2.0 else context.power(Decimal(f), exponent)
            moment = context.add(moment, context.multiply(power, Decimal(count)))
        norm = context.sqrt(moment) if p == 2.0 else context.power(moment, context.divide(Decimal(1), exponent))
        return nearest(Fraction(norm) / step)


def norm_distance(max_value: int, pairs_per_person: int, step: Fraction, groups: int = 1) -> int:
    """The largest difference of `norm_units` between neighbours, in up to this many groups together: each U is within
    1/2 + MARGIN of its norm, and the norms move by at most c M in all."""
    changed = min(groups, pairs_per_person)
    return math.floor(pairs_per_person * max_value / step + changed * (1 + 2 * MARGIN))
