"""What is computed in decimals does not depend on the caller's decimal context: its digits, roundings and traps.

An application may set them, and threads of a free-threaded Python share one context.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, FloatOperation, Inexact, getcontext, localcontext
from fractions import Fraction

import pytest

import stablesketch as ss
from stablesketch.privacy.discrete_laplace import _log_inverse
from stablesketch.privacy.entropy.mass import exact_mass, mass_change
from stablesketch.privacy.entropy.neighbours import entropy_sensitivity
from stablesketch.privacy.exact_moment import _Powers, norm_units
from stablesketch.text.spoken import at_least, at_most

PEOPLE = ss.Privacy(1.0, 1e-9, relation="replace", pairs_per_person=3, max_value=7)
COMPUTED: dict[str, Callable[[], object]] = {
    "change of an entropy": lambda: mass_change.__wrapped__(PEOPLE, 10_007),
    "exact entropy": lambda: exact_mass([3, 5, 10_007]),
    "change of a sketched entropy": lambda: entropy_sensitivity(PEOPLE),
    "powers": lambda: _Powers(0.3, 80)._rounded(7),
    "norm": lambda: norm_units([3, 5, 8], 1.3, Fraction(1, 1000)),
    "logarithm of a tail": lambda: _log_inverse(Fraction(1, 3), Fraction(5, 7), 30),
    "digits shown": lambda: (at_most(0.123412341234), at_least(0.987698769876)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_the_callers_context_changes_nothing_and_is_not_changed(name: str) -> None:
    """With two digits, rounded down, Δ of an exact entropy was 0.8% too small, and so was the ε that was reported."""
    expected = COMPUTED[name]()
    odd = Context(prec=2, rounding=ROUND_FLOOR, traps=[Inexact, FloatOperation])
    with localcontext(odd):
        assert COMPUTED[name]() == expected
        assert not any(getcontext().flags.values())
