"""The floor as phantom keys: integer weights whose p-th powers add up to the mass Λ.

A phantom of weight w adds w X to every entry, X in a PRF domain of its own, so the entries become D_{p, F_p + Λ} with
Λ = sum of w^p: exactly the law of a stream that has these keys more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ArgumentError, PlanInfeasible
from ..wording import arg, subject

_HEAVIEST = 2**40  # heavier ones would be fewer, but a product of weight and X must stay far from the end of an entry
_MOST = 1 << 20  # more would make a release take minutes
_MOST_ANYWHERE = 1 << 24  # of a distinct count, whose phantoms cost less (privacy/distinct.py)


@dataclass(frozen=True)
class Phantoms:
    """`count` keys of weight `weight` each; together of mass `mass`."""

    count: int
    weight: int

    @classmethod
    def of_mass(cls, p: float, at_least: float) -> Phantoms:
        """The fewest equal keys, none heavier than 2^40, with a mass of at least `at_least`; none for 0."""
        if at_least <= 0.0:
            return cls(0, 1)
        wanted = at_least * (1.0 + 1e-9)  # so that rounding never leaves the mass below what was asked
        count = math.ceil(wanted / math.pow(_HEAVIEST, p))
        return cls(count, min(math.ceil(math.pow(wanted / count, 1.0 / p)), _HEAVIEST))

    @classmethod
    def affordable(cls, p: float, at_least: float) -> Phantoms:
        """As `of_mass`, for a plan.

        Raises:
            PlanInfeasible: they would be too many.
        """
        phantoms = cls.of_mass(p, at_least)
        if phantoms.count > _MOST:
            raise PlanInfeasible(
                f"a floor of {phantoms.mass(p):.3g} needs {phantoms.count:,} phantom keys, "
                f"more than {_MOST:,}. Pass {arg('mechanism', 'exact')}, or a larger ε, or a "
                f"smaller {subject('max_value')} or {subject('pairs_per_person')}."
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
