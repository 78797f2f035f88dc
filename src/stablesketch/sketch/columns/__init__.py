"""Columns: how keys and values come in, whatever holds them, as 64-bit fingerprints and integer weights.

The story in the order data flows: `sources` recognises what holds the data, `canonical` says what a single Python
object is, `keys` (with `numpy_keys`) turns a column into fingerprints, `values` turns one into weights, and `refusals`
words every way in which that fails.
"""

from .keys import Fingerprinter, KeyColumn
from .values import MAX_WEIGHT, ValueColumn, value_column

__all__ = ["MAX_WEIGHT", "Fingerprinter", "KeyColumn", "ValueColumn", "value_column"]
