"""From a question about data to releases: decided before anything is read, published afterwards."""

from .arguments import question
from .decide import Decision, decide
from .outcome import GroupRelease, Outcome
from .publish import publish
from .question import Question
from .run import run_source

__all__ = ["Decision", "GroupRelease", "Outcome", "Question", "decide", "publish", "question", "run_source"]
