"""This machine as an engine: DuckDB reads and bounds, this process fingerprints and collects."""

from .collect import collect
from .release import release, run

__all__ = ["collect", "release", "run"]
