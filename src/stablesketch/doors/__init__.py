"""Doors: from files, queries, pipes and data frames to pairs, and from there to a release."""

from .collect import collect
from .columns import Columns, checked_columns
from .max_value import AutoMaxValue
from .outcome import GroupRelease, Outcome
from .release import release
from .run import run
from .sizing import Sizing
from .sources import Input
from .task import Task

__all__ = [
    "AutoMaxValue",
    "Columns",
    "GroupRelease",
    "Input",
    "Outcome",
    "Sizing",
    "Task",
    "checked_columns",
    "collect",
    "release",
    "run",
]
