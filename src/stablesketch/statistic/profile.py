"""`Profile`: the Hill numbers of several orders from one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ArgumentError, ArgumentTypeError
from .diversity import Hill
from .known import Known
from .moment import Total
from .statistic import ANY, Array, Derived, Statistic

if TYPE_CHECKING:
    from ..privacy import Privacy

__all__ = ["Profile"]

_MOST = 16


@dataclass(frozen=True)
class Profile(Derived):
    """D_q at several orders q in [0, 2]: a falling curve, flat if all keys are equally common.

    By default the orders are 0, 1 and 2: how many keys there are, how many count, and how many dominate. The price is
    that of all orders together. `error` is asked of every order, so that none is starved. The value of a profile is
    that at its first order; all of them are in `Release.points`, each with limits of its own and with those of a band
    that holds all orders at once.
    """

    orders: tuple[float, ...]

    name: ClassVar[str] = "profile"
    default_error: ClassVar[float] = 0.1

    def __init__(self, orders: Sequence[float] = (0.0, 1.0, 2.0)) -> None:
        if isinstance(orders, str) or not isinstance(orders, Sequence):
            raise ArgumentTypeError("orders", orders, "not a list of orders", "Pass [0, 0.5, 1, 2], for example")
        if not 1 <= len(orders) <= _MOST:
            raise ArgumentError(
                "orders", orders, f"a profile has 1 to {_MOST} orders", "Pass [0, 0.5, 1, 2], for example"
            )
        found = tuple(Hill(order).order for order in orders)
        if list(found) != sorted(set(found)):
            raise ArgumentError("orders", orders, "they do not rise", "List each once, from low to high")
        object.__setattr__(self, "orders", found)

    @property
    def p(self) -> float:
        """The first order, whose value is that of the profile."""
        return self.orders[0]

    @property
    def points(self) -> tuple[Hill, ...]:
        """The Hill number of each order."""
        return tuple(Hill(order) for order in self.orders)

    def needs(self, privacy: Privacy) -> tuple[Statistic, ...]:
        parts = [part for point in self.points for part in point.needs(privacy)]
        return tuple(dict.fromkeys(parts))

    def factor(self, measured: Statistic) -> float:
        factors = [point.factor(measured) for point in self.points if _uses(point, measured)]
        return max(factors)

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return self.points[0].of(found, pairs)

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return self.points[0].range(known)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "orders": list(self.orders)}

    def __str__(self) -> str:
        return f"Hill numbers of orders {', '.join(f'{order:g}' for order in self.orders)}"


def _uses(point: Hill, measured: Statistic) -> bool:
    """Whether the Hill number is computed from it; N is part of all but the number of keys and the entropy."""
    return point.order not in (0.0, 1.0) if isinstance(measured, Total) else measured.p == point.order
