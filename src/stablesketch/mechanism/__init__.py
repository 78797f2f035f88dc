"""Ways to measure: the plan, state, cost and description of each. This is the complete list.

F_p, p < 1, by sketch       stable.py    with noisy.py, noisy_plan.py, noisy_measure.py, layout.py
F_p, p > 1, by sketch       norm.py      with the same
entropy by sketch           sketch_entropy.py   with entropy.py, measured_entropy.py, layout.py
distinct keys by sketch     registers.py   with counts_keys.py
exact F_p, distinct keys    exact_moment.py   with exact.py, histogram.py, laplace_noise.py, counts_keys.py
exact entropy               exact_entropy.py   with entropy.py, histogram.py
the total                   counter.py
bare entries                bare.py      with bare_plan.py, floor.py; bare_entropy.py
bare, from a sample         sampled_moment.py   with sampled_state.py, privacy/sampling.py
computed from others        derived.py   with derived_plan.py, derived_state.py, profile_points.py
for all                     state.py, belief.py; moments.py says what F_p is expected to be
"""

from ..plan.mechanism import Mechanism
from .bare import BareMoment
from .bare_entropy import BareEntropy
from .counter import Counter
from .derived import FromBare, FromExact, FromSketches
from .exact_entropy import ExactEntropy
from .exact_moment import ExactCount, ExactMoment
from .norm import Norm
from .registers import Registers
from .sampled_moment import SampledMoment
from .sketch_entropy import SketchEntropy
from .stable import Stable

MECHANISMS: tuple[Mechanism, ...] = (
    FromBare(), FromExact(), FromSketches(),
    SampledMoment(), BareEntropy(), BareMoment(),
    Counter(), ExactEntropy(), ExactCount(), ExactMoment(),
    Registers(), SketchEntropy(), Norm(), Stable(),
)  # fmt: skip
"""The first mechanism that serves a statistic measures it."""
