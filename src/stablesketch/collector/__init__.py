"""Collectors: from pairs to one release."""

from .blobs import merge_blobs
from .collector import Collector, release_all

__all__ = ["Collector", "merge_blobs", "release_all"]
