"""A page with sliders, served on this machine only. It shows what a plan would reach, computed by the library."""

from .server import PlannerServer

__all__ = ["PlannerServer"]
