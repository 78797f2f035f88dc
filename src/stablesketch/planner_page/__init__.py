"""A page with sliders, on this machine alone: what a plan would reach, computed by the library as they move."""

from .server import PlannerServer

__all__ = ["PlannerServer"]
