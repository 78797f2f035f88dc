"""Collectors: from pairs to one release."""

from .collector import Collector

__all__ = ["Collector"]
