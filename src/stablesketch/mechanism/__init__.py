"""Ways to measure: one file or folder each, with plan, state, cost and description. This is the complete list.

noisy/         F_p by a sketch
entropy/       entropy by a sketch
registers.py   distinct keys by a sketch
exact/         exact F_p, distinct keys and entropy
counter.py     the total
bare/          F_p and entropy by entries without noise
sampled/       the same, from a sample
derived/       what is computed from others
shared/        for all of them
"""

from ..plan.mechanism import Mechanism
from .bare.entropy import BareEntropy
from .bare.moment import BareMoment
from .counter import Counter
from .derived.from_inputs import FromBare, FromExact, FromSketches
from .entropy.sketch import SketchEntropy
from .exact.entropy import ExactEntropy
from .exact.moment import ExactCount, ExactMoment
from .noisy.moment import Norm, Stable
from .registers import Registers
from .sampled.moment import SampledMoment

MECHANISMS: tuple[Mechanism, ...] = (
    FromBare(), FromExact(), FromSketches(),
    SampledMoment(), BareEntropy(), BareMoment(),
    Counter(), ExactEntropy(), ExactCount(), ExactMoment(),
    Registers(), SketchEntropy(), Norm(), Stable(),
)  # fmt: skip
"""The first mechanism that serves a statistic measures it."""
