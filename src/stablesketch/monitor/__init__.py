"""Private numbers of a stream that does not end, window by window: a `Watch` is what to release, `Monitor` runs it."""

from .monitor import Monitor
from .watch import Watch

__all__ = ["Monitor", "Watch"]
