"""`Profile`: the Hill numbers of several orders from one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ArgumentError, ArgumentTypeError
from ..numbers.arrays import Array
from ..text.spoken import with_limits
from .arguments import ORDER, Argument, read_orders
from .diversity import NEAR_ENTROPY, Hill
from .known import Known
from .measured import Shannon
from .statistic import ANY, Derived, Measured, Statistic
from .words import VARIETY, Subject, follows_rare_keys, rows, sure

if TYPE_CHECKING:
    from ..privacy import Privacy
    from .published import Release

_MOST = 16


@dataclass(frozen=True)
class Profile(Derived):
    """D_q at several orders q: a falling curve, flat if all keys are equally common.

    By default the orders are 0, 1 and 2: how many keys there are, how many are common, and how many dominate. The price
    covers all orders together. `error` applies to every order, so that none is starved. The value of a profile is that
    of its first order. `Release.points` has all of them, each with its own limits and with those of a band that holds
    for all orders at once.
    """

    orders: tuple[float, ...]

    name: ClassVar[str] = "profile"
    several: ClassVar[bool] = True
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument("orders", ORDER, read_orders, lambda found: ",".join(map(repr, found)), default="0,1,2"),
    )
    point_name: ClassVar[str] = "Hill number"
    order_axis: ClassVar[str] = "order: 0 counts every key alike; a higher order gives common keys more weight"
    default_error: ClassVar[float] = 0.1
    topic = VARIETY

    def __init__(self, orders: Sequence[float] = (0.0, 1.0, 2.0)) -> None:
        if isinstance(orders, str) or not isinstance(orders, Sequence):
            raise ArgumentTypeError("orders", orders, "must be a list of orders", "Pass [0, 0.5, 1, 2], for example")
        if not 1 <= len(orders) <= _MOST:
            raise ArgumentError(
                "orders", orders, f"must have between 1 and {_MOST} orders", "Pass [0, 0.5, 1, 2], for example"
            )
        found = tuple(Hill(order).order for order in orders)
        if list(found) != sorted(set(found)):
            raise ArgumentError(
                "orders", orders, "must be in increasing order", "List each order once, from low to high"
            )
        object.__setattr__(self, "orders", found)

    @property
    def p(self) -> float:
        """The first order: its value is the value of the profile."""
        return self.orders[0]

    @property
    def points(self) -> tuple[Hill, ...]:
        """The Hill number of each order."""
        return tuple(Hill(order) for order in self.orders)

    @property
    def point_names(self) -> tuple[str, ...]:
        return tuple(f"order {order:g}" for order in self.orders)

    def check_released(self) -> None:
        for point in self.points:
            point.check_released()

    @property
    def inputs(self) -> tuple[Measured, ...]:
        return tuple(dict.fromkeys(each for point in self.points for each in point.inputs))

    def factor(self, measured: Statistic) -> float:
        return max(point.factor(measured) for point in self.points if measured in point.inputs)

    def combined(self, errors: Mapping[Statistic, float], privacy: Privacy) -> float:
        return max(point.combined(errors, privacy) for point in self.points)

    def without(self, measured: Statistic) -> Statistic | None:
        """The other orders; if there are none, an order near 1."""
        left = [order for order in self.orders if order != measured.p]
        return Profile(left) if left else Profile([NEAR_ENTROPY]) if measured == Shannon() else None

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        return self.points[0].of(found, pairs)

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return self.points[0].range(known)

    def definition(self) -> str:
        return (
            "at each order q, (the sum over all keys of s^q)^(1/(1-q)), where s is the key's share of the total; at "
            "order 1, e^entropy"
        )

    @classmethod
    def point_axis(cls, subject: Subject) -> str:
        """What its numbers measure: effective numbers of keys, whatever the order."""
        return f"effective number of {subject.noun or 'keys'}"

    @property
    def caution_between_groups(self) -> str:
        low = [f"{order:g}" for order in self.orders if order < 1.0]
        if not low:
            return ""
        return follows_rare_keys(f"The Hill number of order {' or '.join(low)} grows")

    @property
    def comparable(self) -> Statistic:
        """Itself, if groups can be compared by one of its orders."""
        return self if self.orders[-1] >= 1.0 else Hill(1.0)

    def headline(self, release: Release, subject: Subject) -> str:
        first, last = release.points[0], release.points[-1]
        value, low, high = with_limits(first.value, first.low, first.high)
        said = f"about {value} effectively different {subject.keys} at order {first.order:g} ({low} to {high})"
        if len(release.points) == 1:
            return f"{rows(release, subject)} have {said} at {sure(release)} confidence."
        value, low, high = with_limits(last.value, last.low, last.high)
        return (
            f"{rows(release, subject)} have {said}, and about {value} at order {last.order:g} ({low} to {high}), "
            f"where common ones weigh more; each at {sure(release)} confidence."
        )

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "orders": list(self.orders)}

    def __str__(self) -> str:
        return f"Hill numbers of orders {', '.join(f'{order:g}' for order in self.orders)}"
