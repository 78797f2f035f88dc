"""Oracles that other folders of tests have: the integrator of tests/privacy, the stable law of tests/sketch."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("privacy", "sketch"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
