"""Shannon's entropy by a sketch: noise on N if it is private, then on N times the estimate; H is their ratio.

What is released, and why it is private for streams of any length, for people and for groups: privacy/entropy/noise.py.

**Entries in buckets** (mechanism/shared/layout.py). A key touches the g entries of its bucket. Let p_k be the share of
a key in N, and v the variance of an estimate from g entries. With B buckets, the error is nearly sqrt(v (1/B + Σ
p_k²)): sqrt(v/B) if no key dominates, sqrt(v) if one holds everything. More entries in all lower the first; only more
entries per key lower the second (g v is 3.1 at 64 entries, 3.4 at 16 and 3 in the limit). Heavy keys matter more in
entropy than in moments below order 1, and on real streams they decide. With 20,000 entries and 16, 32, 64 or 128 per
key, the error on the stream with the heaviest keys (Σ p² = 0.013, one key has 9% of all) is 0.055, 0.039, 0.028 or
0.022 nats; on streams without heavy keys it is 0.013 to 0.012. So a key touches 64.
"""

from __future__ import annotations

import math

from ...errors import ArgumentError, PlanInfeasible
from ...numbers.search import last_whole
from ...plan.arguments import LARGEST_IN_ALL, LEAST_SIZE
from ...plan.asked import HEADER_BYTES, Asked
from ...plan.in_words import a_larger_error, both_errors
from ...plan.plan import Plan
from ...privacy import Privacy
from ...sketch.entropy_sketch import EntropySketch
from ...sketch.entry_values import entry_bytes
from ...sketch.estimators.entropy_mean import entropy_mean_deviation, size_for
from ...statistic import Shannon, Statistic, total_is_public
from ...text.wording import arg, subject
from ..noisy.moment import why_private
from ..shared.belief import Belief
from ..shared.laplace_noise import noise_of
from ..shared.layout import LARGEST_FLAT, TYPICAL_MOMENT, USUAL_ENTRIES, Layout, in_one_bucket, laid_out
from ..shared.state import SketchState, check_promise
from .noise import Entropy, entropy_noise, exact_entropy_deviation, measured_entropy, noise_for

_FEWEST = 16  # with fewer entries the estimate has too heavy a tail
_PER_KEY = 64
_TOTAL_BYTES = 8  # for the total of a bucket


class EntropyState(SketchState):
    """What is released from the entries, and why it is private: privacy/entropy/noise.py."""

    law = "entropy"

    def check(self, confidence: float) -> None:
        check_promise(self._plan, self.pairs, self.total)

    def measure(self, confidence: float) -> Belief:
        """H = (N H with noise)/(N with noise), from what `EntropyNoise` publishes."""
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


class SketchEntropy(Entropy):
    """Entries in buckets or flat; the noise depends on the length of the stream and comes on top of the error."""

    name = "sketch"
    state = EntropyState
    in_buckets = True
    fewest = LEAST_SIZE
    measures = "entropy"

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Shannon) and name == "sketch"

    def plan(self, asked: Asked) -> Plan:
        """By the given size, memory or error. The error is that of the sketch if no key dominates; the noise comes on
        top."""
        privacy = asked.privacy
        layout = _layout(privacy, asked)
        noise, total = noise_for(privacy, layout.size, layout.buckets), max(privacy.pairs, privacy.total)
        bound = noise.bound(max(total, 1))
        if bound > noise.largest_total:
            raise PlanInfeasible(
                f"at δ = {privacy.delta:.3g} a sketch with {layout.per_key:,} entries per key covers totals of up to "
                f"{noise.largest_total:,}, and the total may be {bound:,}. Pass a larger {subject('delta')}, or "
                f"{arg('mechanism', 'exact')}."
            )
        error = noise.deviation(total) if total else noise.sketch_deviation
        entries = math.ceil(layout.buckets * _bucket_bytes(privacy, layout))
        return Plan(
            asked,
            "sketch",
            epsilon=privacy.epsilon,
            delta=privacy.delta,
            error=error,
            relative=False,
            exact_error=exact_entropy_deviation(privacy),
            size=layout.size,
            buckets=layout.buckets,
            step=float(noise.step(bound)),
            noise=noise.noise(bound),
            bytes=HEADER_BYTES + entries,
        )

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        return 0.0 if self.includes_noise(plan) else entropy_noise(plan).noise_deviation(pairs)

    def worst_error(self, plan: Plan) -> float:
        return in_one_bucket(plan, entropy_mean_deviation(plan.entries_per_key))

    def methods(self, plan: Plan) -> list[str]:
        grid = "was rounded to a public grid and given discrete Laplace noise"
        noise = f"Entropy times the total {grid}, and divided by the total, which is public."
        if not total_is_public(plan.privacy):
            noise = (
                "First the total was given discrete Laplace noise. Then a number computed from that was subtracted "
                f"from the entropy; the difference times the total {grid}. Entropy follows from both."
            )
        law = "with secret random weights of the skewed stable law of order 1"
        if plan.buckets > 1:
            return [
                f"The stream was folded into {plan.size:,} numbers in {plan.buckets:,} buckets. A secret hash gave "
                f"every key one bucket of {plan.entries_per_key:,} numbers, each a sum of the totals of its keys "
                f"{law}. Every bucket has its total. Entropy was estimated from them. No key was stored.",
                noise,
                "The interval depends on how evenly the buckets are filled. That number was given discrete Laplace "
                "noise too, for a sixteenth of ε.",
            ]
        return [
            f"The stream was folded into {plan.size:,} numbers, each a sum of the totals of all keys {law}, and into "
            "the total. Entropy was estimated from them. No key was stored.",
            noise,
        ]

    def reason(self, plan: Plan) -> str:
        return why_private("that", "entropy plus a random error")

    def error_beside_noise(self, plan: Plan) -> str:
        return f"{both_errors(plan)}; the noise {self.noise_decides(plan)}"

    def exact_beside_noise(self, plan: Plan) -> str:
        return "the noise alone"


def _layout(privacy: Privacy, asked: Asked) -> Layout:
    per_key = asked.one_per_key or _PER_KEY
    if asked.one_size is not None:
        layout = laid_out(asked.one_size, asked.one_per_key, _PER_KEY)
    elif asked.memory is not None:
        layout = _within(privacy, asked, asked.memory, LARGEST_IN_ALL)
    elif asked.free_error:
        sharing = asked.measurement.sharing
        layout = _within(privacy, asked, asked.usual_memory // sharing, USUAL_ENTRIES // sharing)
    else:
        layout = _for_error(asked, asked.aim, per_key)
    if layout.per_key < _FEWEST:
        name, value = ("entries_per_key", layout.per_key) if asked.one_per_key else ("size", layout.size)
        must = f"must be at least {_FEWEST} to estimate entropy"
        raise ArgumentError(name, value, must, f"Pass {arg(name, _FEWEST)} or more")
    return layout


def _within(privacy: Privacy, asked: Asked, memory: int, most: int) -> Layout:
    """As many buckets as fit into the memory, with at most `most` entries; if these are few, one bucket."""
    room, per_key = memory - HEADER_BYTES, asked.one_per_key or _PER_KEY
    flat = math.floor(room / _bucket_bytes(privacy, Layout(1)))
    if asked.memory is not None:
        asked.size_within(_bucket_bytes(privacy, Layout(1)), asked.one_per_key or _FEWEST)  # refuses too little
    if asked.one_per_key is None and flat <= LARGEST_FLAT:
        return Layout(max(flat, _FEWEST))

    def fits(buckets: int) -> bool:
        return buckets * _bucket_bytes(privacy, Layout(per_key, buckets)) <= room

    return Layout(per_key, last_whole(fits, 1, most // per_key + 1))


def _for_error(asked: Asked, error: float, per_key: int) -> Layout:
    """The layout for this error of the sketch alone, if no key dominates."""
    flat = max(size_for(error), _FEWEST)
    if flat <= LARGEST_FLAT and asked.one_per_key is None:
        return Layout(flat)
    one, most = entropy_mean_deviation(per_key), LARGEST_IN_ALL // per_key
    buckets = max(math.ceil((one / error) ** 2), 1)
    if buckets > most:
        best = one / math.sqrt(most)
        raise PlanInfeasible(
            f"no sketch of up to {LARGEST_IN_ALL:,} entries has an error of {error:g} nats: the best is {best:.3g}. "
            f"{a_larger_error(best)}, or pass {arg('mechanism', 'exact')}."
        )
    return Layout(per_key, buckets)


def _bucket_bytes(privacy: Privacy, layout: Layout) -> float:
    """An entry is a sum of f R, about as large as the total of its bucket; several buckets also store their totals."""
    total = float(privacy.pairs or TYPICAL_MOMENT) * privacy.max_value
    beside = _TOTAL_BYTES if layout.buckets > 1 else 0
    return layout.per_key * entry_bytes(1.0, max(total / layout.buckets, 1.0)) + beside
