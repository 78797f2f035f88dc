"""A page with sliders, on this machine alone: what a plan would reach, computed by the library as one moves them."""

from .server import PlannerServer

__all__ = ["PlannerServer"]
