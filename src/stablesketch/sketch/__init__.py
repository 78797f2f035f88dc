"""The sketch, in the order data flows: columns → fingerprints → projection → entries → wire, estimators."""

from .estimators import Estimate
from .sketch import Sketch, entry_bytes

__all__ = ["Estimate", "Sketch", "entry_bytes"]
