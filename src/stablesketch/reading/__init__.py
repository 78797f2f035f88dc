"""Reading: files, streams, queries and data frames to Arrow batches of checked columns, and nothing else."""

from .columns import Columns, checked_columns
from .found import Input

__all__ = ["Columns", "Input", "checked_columns"]
