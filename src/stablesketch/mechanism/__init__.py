"""Ways to measure: the plan of each, its state, what it costs and what is said of it. All of them stand here.

F_p, p < 1, by sketch       stable.py    with noisy.py, noisy_plan.py, noisy_measure.py, layout.py, sketch_state.py
F_p, p > 1, by sketch       norm.py      with the same
entropy by sketch           shift.py     with entropy.py, measured_entropy.py, layout.py
distinct keys by sketch     registers.py
exact, with noise           laplace.py   with exact.py, histogram.py, laplace_noise.py
exact entropy               exact_entropy.py   with entropy.py, histogram.py
the total                   counter.py
bare entries                bare.py      with bare_plan.py, floor.py; bare_entropy.py
bare, of a sample           sampled_moment.py   with sampled_state.py, coins.py
computed from others        derived.py   with derived_plan.py, derived_state.py, together.py, profile_points.py
"""

from ..plan.mechanism import Mechanism
from .bare import BareMoment
from .bare_entropy import BareEntropy
from .counter import Counter
from .derived import FromBare, FromExact, FromSketches
from .exact_entropy import ExactEntropy
from .laplace import ExactCount, ExactMoment
from .norm import Norm
from .registers import Registers
from .sampled_moment import SampledMoment
from .shift import Shift
from .stable import Stable

MECHANISMS: tuple[Mechanism, ...] = (
    FromBare(), FromExact(), FromSketches(),
    SampledMoment(), BareEntropy(), BareMoment(),
    Counter(), ExactEntropy(), ExactCount(), ExactMoment(),
    Registers(), Shift(), Norm(), Stable(),
)  # fmt: skip
"""The first that serves a statistic measures it."""
