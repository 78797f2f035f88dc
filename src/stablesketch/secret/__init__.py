"""The secret of a sketch: its bits, the keys derived from them, its file, and its one release."""

from .secret import Secret

__all__ = ["Secret"]
