"""From a question about data to releases: what is decided before anything is read, and what is published after."""

from .outcome import GroupRelease, Outcome
from .run import run_source
from .sizing import Sizing
from .task import Task

__all__ = ["GroupRelease", "Outcome", "Sizing", "Task", "run_source"]
