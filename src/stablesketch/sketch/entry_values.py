"""The entries of a sketch as Python integers, logarithms or floats."""

from __future__ import annotations

import math

import numpy as np

from .._native import Entries
from ..numbers.arrays import Array
from ..numbers.elementary import log
from .entry_law import SketchLaw, checked_law


def entry_bytes(p: float, moment: float, law: SketchLaw | None = None) -> float:
    """The approximate number of bytes per entry in `to_bytes` for a stream with F_p = `moment`: docs/wire-format.md.

    Both laws have E ln|X| = γ (1/p - 1), but one-sided entries have a finer resolution: 12 bits more at p = 0.25, 3 at
    0.5.
    """
    scale = max(0.0, math.log2(moment)) / p
    return 1.6 + (Entries(checked_law(p, law), 1).resolution + scale + 0.83 * (1.0 / p - 1.0)) / 8.0


def log_magnitudes(entries: Entries) -> tuple[list[float], list[float]]:
    """ln|a_j| and the signs. An entry that is exactly zero is read as half the resolution."""
    log_unit = -entries.resolution * math.log(2.0)
    values = integer_entries(entries)
    logs = [math.log(abs(value) or 0.5) + log_unit for value in values]
    return logs, [-1.0 if value < 0 else 1.0 for value in values]


def integer_entries(entries: Entries) -> list[int]:
    """The entries as integers in units of 2^-resolution."""
    state, width = entries.state(), 4 * entries.digits
    if entries.digits < 2:
        return [int.from_bytes(state[i : i + width], "little", signed=True) for i in range(0, len(state), width)]
    digits = np.frombuffer(state, "<i4").reshape(-1, entries.digits)
    low = np.ascontiguousarray(digits[:, :2]).view("<i8").ravel()
    values: list[int] = low.tolist()
    # Entries that need more than 64 bits: the bits above these are not just the sign.
    for i in np.flatnonzero((digits[:, 2:] != (low >> 63)[:, np.newaxis]).any(axis=1)).tolist():
        values[i] = int.from_bytes(state[i * width : (i + 1) * width], "little", signed=True)
    return values


def logs_of(entries: Entries) -> Array:
    """ln|a_j| of all entries at once, -∞ for an entry of 0, with each entry first rounded to the nearest float: to
    within u (|ln a_j| + 2), u = 2^-53 (docs/math-elementary.md)."""
    fraction, exponent = entries.split()
    return log(np.abs(fraction), exponent)


def quotients(entries: Entries, divisors: Array) -> Array:
    """a_j divided by its divisor, with two roundings: of a_j to the nearest float, and of the quotient."""
    fraction, exponent = entries.split()
    return np.ldexp(fraction / divisors, exponent.astype(np.int32))
