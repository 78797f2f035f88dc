"""The sketch, in the order data flows: columns → fingerprints → projection → entries → wire, estimators."""

from .distinct import DistinctRegisters
from .estimators import Estimate
from .sketch import Sketch, entry_bytes

__all__ = ["DistinctRegisters", "Estimate", "Sketch", "entry_bytes"]
