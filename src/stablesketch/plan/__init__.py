"""Plans: from the question to a mechanism that answers it, before any data are seen."""

from .asked import Asked, MechanismName
from .phantoms import Phantoms
from .plan import Plan
from .planner import plan

__all__ = ["Asked", "MechanismName", "Phantoms", "Plan", "plan"]
