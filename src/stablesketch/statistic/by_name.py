"""Statistics by the names they have in JSON and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .concentration import HHI, Simpson
from .diversity import Hill, Renyi, Tsallis
from .inequality import Atkinson, GeneralisedEntropy
from .measured import Distinct, Shannon
from .moment import Moment, Total
from .profile import Profile
from .statistic import Statistic

__all__ = ["STATISTICS", "from_dict"]

_ALL: tuple[type[Statistic], ...] = (
    Moment, Hill, Renyi, Tsallis, Shannon, Distinct, Atkinson, GeneralisedEntropy, Profile, Total, Simpson, HHI,
)  # fmt: skip
STATISTICS: Mapping[str, type[Statistic]] = {kind.name: kind for kind in _ALL}


def from_dict(data: Mapping[str, Any]) -> Statistic:
    """Reads what `Statistic.to_dict` gave; a name unknown is a KeyError, odd fields a TypeError."""
    fields = dict(data)
    return STATISTICS[fields.pop("name")](**fields)
