"""Plans: from what is asked to a mechanism that reaches it, before any data are seen."""

from .phantoms import Phantoms
from .plan import Mechanism, Plan
from .planner import plan

__all__ = ["Mechanism", "Phantoms", "Plan", "plan"]
