"""Arguments that are numbers, checked."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentTypeError

__all__ = ["checked_real"]


def checked_real(name: str, value: object) -> float:
    """A number of Python or numpy as a float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(name, value, "a real number is needed", "Pass a float")
    return float(value)
