"""Shannon's entropy by a sketch: noise on N where it is private, then on N times the estimate; H is their ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.entropy_plan import entropy_noise
from ..secret import Secret
from ..sketch.entropy_sketch import EntropySketch
from ..sketch.sketch import Sketch
from .measured import Measured
from .measured_entropy import measured_entropy
from .sketch_state import SketchState, check_promise
from .total_state import noise_of

if TYPE_CHECKING:
    from ..plan import Plan

__all__ = ["EntropyState"]


class EntropyState(SketchState):
    """What is released of the entries, and why it is private: privacy/noisy_entropy.py."""

    @staticmethod
    def _opened(plan: Plan, secret: Secret | None) -> Sketch:
        return EntropySketch(plan.size, secret, buckets=plan.buckets)

    @staticmethod
    def _read(blob: bytes, secret: Secret | None) -> Sketch:
        return EntropySketch.from_bytes(blob, secret)

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self.pairs, self.total)

    def measure(self, confidence: float) -> Measured:
        """H = (N H with noise)/(N with noise), from what `EntropyNoise` may publish."""
        assert isinstance(self._sketch, EntropySketch)
        noise, below = entropy_noise(self._plan), noise_of(self.secret, self._plan.statistic)
        sketch = self._sketch
        if noise.buckets > 1:
            found = noise.measure_buckets(
                self.total, lambda: (sketch.bucket_totals(), sketch.bucket_locations()), below
            )  # fmt: skip
        else:
            found = noise.measure(self.total, sketch.locations() if self.total > 0 else None, below)
        return measured_entropy(found, noise, confidence).within(*self._plan.range(self.pairs))
