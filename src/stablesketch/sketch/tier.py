"""The tier of the kernel: the best this processor has, or the one that STABLESKETCH_TIER names.

All tiers give the same bytes; the variable exists for measuring and testing them.
"""

from __future__ import annotations

import os

from .._native import tier_names
from ..errors import ArgumentError


def _choose() -> str:
    available = tier_names()
    wanted = os.environ.get("STABLESKETCH_TIER", "")
    if wanted and wanted not in available:
        must = f"must be one of {', '.join(available)} on this machine"
        raise ArgumentError("STABLESKETCH_TIER", wanted, must, "Unset it, or set it to one of these")
    return wanted or available[0]


TIER = _choose()
