"""The sketch, in the order in which data flow: columns → fingerprints → projection → entries → wire, estimators."""

from .distinct import DistinctRegisters
from .entropy_sketch import EntropySketch
from .entry_values import entry_bytes
from .estimators import Estimate
from .sketch import Sketch

__all__ = ["DistinctRegisters", "EntropySketch", "Estimate", "Sketch", "entry_bytes"]
