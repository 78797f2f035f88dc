"""Shannon's entropy by a sketch: noise on N where it is private, then on N times the estimate; H is their ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.entropy_plan import entropy_noise
from ..plan.in_words import both_errors
from ..plan.plan import Plan
from ..sketch.entropy_sketch import EntropySketch
from ..sketch.estimators.entropy_mean import entropy_mean_deviation
from ..sketch.sketch import Sketch
from ..statistic import Shannon, Statistic
from .entropy import Entropy
from .laplace_noise import noise_of
from .measured import Measured
from .measured_entropy import measured_entropy
from .sketch_state import SketchState
from .stable import in_one_bucket
from .state import check_promise

if TYPE_CHECKING:
    from ..secret import Secret

__all__ = ["EntropyState", "Shift"]


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


class Shift(Entropy):
    """Entries in buckets or flat; the noise depends on the length of the stream and comes on top of the error."""

    state = EntropyState

    def serves(self, statistic: Statistic, name: str, *, sampled: bool) -> bool:
        return isinstance(statistic, Shannon) and name == "sketch"

    def noise_at(self, plan: Plan, pairs: float) -> float:
        return 0.0 if self.includes_noise(plan) else entropy_noise(plan).noise_deviation(pairs)

    def worst_error(self, plan: Plan) -> float:
        return in_one_bucket(plan, entropy_mean_deviation(plan.entries_per_key))

    def error_beside_noise(self, plan: Plan) -> str:
        noise = f"the noise adds less in streams of {self.more_than(plan, plan.error)}"
        return f"{both_errors(plan)}; {noise}"

    def exact_beside_noise(self, plan: Plan) -> str:
        return "the noise alone"
