"""What is protected, by how much streams can differ, and what the entries of a sketch give away."""

from .curve import PrivacyCurve
from .privacy import Privacy, Relation
from .sensitivity import WorstNeighbours, log_sensitivity, sensitivity, worst_neighbours

__all__ = [
    "Privacy",
    "PrivacyCurve",
    "Relation",
    "WorstNeighbours",
    "log_sensitivity",
    "sensitivity",
    "worst_neighbours",
]
