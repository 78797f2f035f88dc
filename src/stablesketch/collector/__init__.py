"""Collectors: from pairs to one release."""

from .blobs import merge_blobs
from .collector import Collector
from .releasing import release_all

__all__ = ["Collector", "merge_blobs", "release_all"]
