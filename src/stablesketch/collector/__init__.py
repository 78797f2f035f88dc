"""Collectors: from pairs to one release."""

from .collector import Collector
from .releasing import release_all
from .wire import merge_blobs

__all__ = ["Collector", "merge_blobs", "release_all"]
