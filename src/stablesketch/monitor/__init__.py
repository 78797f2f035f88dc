"""Private numbers of a stream that does not end, window by window: `Watch` says what to know, `Monitor` runs it."""

from .monitor import Monitor
from .watch import Watch

__all__ = ["Monitor", "Watch"]
