"""Ways to measure, one file each: its plan, its state, what it costs and what is said of it. They register here."""

from ..plan.mechanism import register
from .bare import BareMoment
from .bare_entropy import BareEntropy
from .counter import Counter
from .derived import FromBare, FromExact, FromSketches
from .exact_entropy import ExactEntropy
from .laplace import ExactCount, ExactMoment
from .norm import Norm
from .registers import Registers
from .sampled import SampledMoment
from .shift import Shift
from .stable import Stable

for _each in (
    Stable, Norm, Shift, Registers,
    ExactMoment, ExactCount, ExactEntropy, Counter,
    BareMoment, BareEntropy, SampledMoment,
    FromSketches, FromExact, FromBare,
):  # fmt: skip
    register(_each())
