"""Statistics by their names in JSON and on the command line. A new one is registered here and found everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from ..errors import ArgumentError, ArgumentTypeError
from .concentration import HHI, Simpson
from .diversity import Hill, Renyi, Tsallis
from .inequality import Atkinson, GeneralisedEntropy
from .measured import Distinct, Moment, Shannon, Total
from .profile import Profile
from .statistic import Statistic

ClassOfStatistic = TypeVar("ClassOfStatistic", bound=type[Statistic])

_KINDS: dict[str, type[Statistic]] = {}
STATISTICS: Mapping[str, type[Statistic]] = MappingProxyType(_KINDS)
"""All statistics, in the order in which they are offered."""


def register(kind: ClassOfStatistic) -> ClassOfStatistic:
    """Makes a statistic known to plans, the command line and reports. Use it as a decorator, `@register`.

    The class must be a frozen dataclass and a `Measured` or a `Derived`. A second class of the same name is refused.
    """
    if not isinstance(kind, type) or not issubclass(kind, Statistic) or not isinstance(getattr(kind, "name", 0), str):
        raise ArgumentTypeError("kind", kind, "must be a class of statistics with a name", "Derive it from Statistic")
    if _KINDS.setdefault(kind.name, kind) is not kind:
        raise ArgumentError(
            "name", kind.name, "must be a new name", "A statistic of this name already exists: choose another"
        )
    return kind


for _each in (
    Moment, Hill, Renyi, Tsallis, Shannon, Distinct, Profile, Simpson, HHI, Atkinson, GeneralisedEntropy, Total,
):  # fmt: skip
    register(_each)


def usual() -> Statistic:
    """The default statistic."""
    return next(kind for kind in STATISTICS.values() if kind.usual)()


def from_dict(data: Mapping[str, Any]) -> Statistic:
    """Reads the result of `Statistic.to_dict`; an unknown name raises KeyError, wrong fields TypeError."""
    fields = dict(data)
    return STATISTICS[fields.pop("name")](**fields)
