"""Privacy: what is protected, how much streams can differ, and what the entries of a sketch reveal."""

from .advice import delta_advice, epsilon_advice
from .distinct import PhantomNumber, distinct_deviation, distinct_limits, phantoms_for
from .entries.curve import PrivacyCurve
from .neighbours import WorstNeighbours, log_sensitivity, sensitivity, worst_neighbours
from .privacy import Privacy, Relation, Unit
from .sampling import Sampling

__all__ = [
    "PhantomNumber",
    "Privacy",
    "PrivacyCurve",
    "Relation",
    "Sampling",
    "Unit",
    "WorstNeighbours",
    "delta_advice",
    "distinct_deviation",
    "distinct_limits",
    "epsilon_advice",
    "log_sensitivity",
    "phantoms_for",
    "sensitivity",
    "worst_neighbours",
]
