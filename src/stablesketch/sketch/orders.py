"""The law of a sketch, and the number that stands for p and law together.

That number, the order, is what the compiled core, the derived keys and the wire know a law by: p itself for the
symmetric law, which goes up to 2 (the normal law), -p for the one-sided one, and -1, its limit, for that of entropy
(entropy_sketch.py).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from .._native import SKEWED
from ..errors import ArgumentError, ArgumentTypeError
from ..law.one_sided import GREATEST_P, OneSidedLaw
from ..law.stable import LEAST_P

__all__ = ["GREATEST_INDEX", "Law", "checked_index", "checked_order", "index_of", "law_of", "order_of"]

Law = Literal["symmetric", "one-sided"]

GREATEST_INDEX = 2.0


def checked_index(p: object) -> float:
    """The p of a symmetric sketch, from 0.05 to 2."""
    if isinstance(p, bool | np.bool_) or not isinstance(p, int | float | np.integer | np.floating):
        raise ArgumentTypeError("p", p, "it must be a number from 0.05 to 2", "Pass p=0.5, for example")
    if LEAST_P <= p <= GREATEST_INDEX:
        return float(p)
    way_out = "Pass p=0.5, for example"
    if 0.0 <= p < LEAST_P:
        way_out += "; to count distinct keys, which is the limit p = 0, use ss.Distinct()"
    elif p > GREATEST_INDEX:
        way_out += "; F_2 is the highest moment that these sketches measure"
    raise ArgumentError("p", p, "it must lie between 0.05 and 2", way_out)


def default_law(p: float) -> Law:
    """What a sketch is made of if nobody says: of one-sided entries where there are such, which need fewer."""
    known = isinstance(p, int | float | np.integer | np.floating)
    return "one-sided" if known and LEAST_P <= p <= GREATEST_P else "symmetric"  # which refuses what is no order


def order_of(p: float, law: Law | None) -> float:
    """The order of this p and law, or an `ArgumentError` that says which of them cannot be."""
    chosen = default_law(p) if law is None else law
    if not isinstance(chosen, str) or chosen not in get_args(Law):
        raise ArgumentError("law", law, "there is no such law", f"Choose one of {', '.join(map(repr, get_args(Law)))}")
    return checked_index(p) if chosen == "symmetric" else -OneSidedLaw(p).p


def checked_order(order: float) -> float:
    """The order, if it is one of a symmetric or one-sided law; for what was read."""
    return order_of(order, "symmetric") if not order < 0.0 else order_of(-order, "one-sided")


def law_of(order: float) -> Law:
    """The law an order stands for."""
    return "symmetric" if order > 0.0 else "one-sided"


def index_of(order: float) -> float:
    """The p an order stands for; that of entropy has none and stays as it is."""
    return -order if SKEWED < order < 0.0 else order
