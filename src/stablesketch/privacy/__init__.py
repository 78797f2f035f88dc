"""What is protected, by how much streams can differ, and what the entries of a sketch give away."""

from .curve import PrivacyCurve
from .neighbours import WorstNeighbours, log_sensitivity, sensitivity, worst_neighbours
from .privacy import Privacy, Relation
from .sampling import Sampling

__all__ = [
    "Privacy",
    "PrivacyCurve",
    "Relation",
    "Sampling",
    "WorstNeighbours",
    "log_sensitivity",
    "sensitivity",
    "worst_neighbours",
]
