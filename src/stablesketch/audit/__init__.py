"""Runs the real release path on neighbours of a plan, and tests the whole curve that the plan claims."""

from .plans import audit

__all__ = ["audit"]
