"""Private numbers from an endless stream, window by window: a `Watch` is what to release, a `Monitor` runs it."""

from .monitor import Monitor
from .watch import Watch

__all__ = ["Monitor", "Watch"]
