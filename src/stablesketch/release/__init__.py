"""From a question about data to releases: what is decided before anything is read, and what is published after."""

from .decide import Decision, decide
from .outcome import GroupRelease, Outcome
from .publish import publish
from .question import Question, question
from .run import run_source

__all__ = ["Decision", "GroupRelease", "Outcome", "Question", "decide", "publish", "question", "run_source"]
