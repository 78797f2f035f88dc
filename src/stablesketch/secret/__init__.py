"""The secret of a sketch: its bits, the keys derived from them, its file, and the one release that it has."""

from .secret import Secret

__all__ = ["Secret"]
