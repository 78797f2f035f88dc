"""This machine as an engine: DuckDB reads and bounds, this process fingerprints and collects."""

from .release import release, run

__all__ = ["release", "run"]
