"""The floor as phantom keys: integer weights whose p-th powers add up to the mass Λ.

A phantom of weight w adds w X to every entry, with X from a PRF domain of its own. The entries then have the law
D_{p, F_p + Λ} with Λ = sum of w^p: exactly that of a stream with these additional keys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ArgumentError, PlanInfeasible
from ..text.wording import arg, subject

_HEAVIEST = 2**40  # heavier phantoms would be fewer, but weight times X must stay far below the limit of an entry
_MOST = 1 << 20  # with more, a release would take minutes
_MOST_ANYWHERE = 1 << 24  # in a distinct count, where phantoms cost less (privacy/distinct.py)


@dataclass(frozen=True)
class Phantoms:
    """`count` keys of weight `weight` each, with the mass `mass` in all."""

    count: int
    weight: int

    @classmethod
    def of_mass(cls, p: float, at_least: float) -> Phantoms:
        """The fewest equal keys, none heavier than 2^40, with a mass of at least `at_least`; none for 0."""
        if at_least <= 0.0:
            return cls(0, 1)
        wanted = at_least * (1.0 + 1e-9)  # rounding must never leave the mass below what was asked for
        count = math.ceil(wanted / math.pow(_HEAVIEST, p))
        return cls(count, min(math.ceil(math.pow(wanted / count, 1.0 / p)), _HEAVIEST))

    @classmethod
    def affordable(cls, p: float, at_least: float) -> Phantoms:
        """Like `of_mass`, for a plan.

        Raises:
            PlanInfeasible: there would be too many phantoms.
        """
        phantoms = cls.of_mass(p, at_least)
        if phantoms.count > _MOST:
            raise PlanInfeasible(
                f"a floor of {phantoms.mass(p):.3g} needs {phantoms.count:,} phantom keys, above the maximum of "
                f"{_MOST:,}. Pass {arg('mechanism', 'exact')}, or a larger ε, or a smaller {subject('max_value')} or "
                f"{subject('pairs_per_person')}."
            )
        return phantoms

    @classmethod
    def checked(cls, count: object, weight: object) -> Phantoms:
        """Phantoms from stored numbers: whole numbers that `of_mass` could have chosen."""
        for name, value, least, most in (("count", count, 0, _MOST_ANYWHERE), ("weight", weight, 1, _HEAVIEST)):
            if type(value) is not int or not least <= value <= most:
                raise ArgumentError(f"phantoms.{name}", value, "must be a whole number in range", "Make the plan again")
        return cls(count, weight)  # type: ignore[arg-type]  # just checked

    def mass(self, p: float) -> float:
        """Λ = count · weight^p."""
        return self.count * math.pow(self.weight, p)


NO_PHANTOMS = Phantoms(0, 1)
