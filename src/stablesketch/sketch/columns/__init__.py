"""Columns: keys and values from any container, as 64-bit fingerprints and integer weights.

In the order in which data flow: `containers` recognises the container, `canonical` gives the form of a single Python
object, `keys` turns a column into fingerprints, `values` turns one into weights, and `refusals` has the wording of
every error.
"""

from .keys import Fingerprinter, KeyColumn
from .values import MAX_WEIGHT, ValueColumn, value_column

__all__ = ["MAX_WEIGHT", "Fingerprinter", "KeyColumn", "ValueColumn", "value_column"]
