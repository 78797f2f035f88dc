"""The real release path on neighbours of a plan, against the whole curve that it claims."""

from .plans import audit

__all__ = ["audit"]
