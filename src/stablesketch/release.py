"""`Release`: a number one may publish, its interval and its price."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from .errors import BlobError

__all__ = ["Point", "Release"]

_FORMAT = "stablesketch-release/1"


@dataclass(frozen=True)
class Point:
    """One order of a profile: a Hill number with limits of its own."""

    order: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Release:
    """A private value with limits that hold the truth with probability `confidence`, and what it cost.

    Everything here may be published. `pairs` is the number of pairs where that is public (relation "replace"), else
    None. `value` is unbiased (unless `mechanism` says that pairs were sampled): where the noise is large against F_p
    it can come out negative; what is computed from moments stays within its range. `p` is the order of the statistic.
    `points` are the orders of a profile, whose `value` is that of the first. `record` is the number that the release
    has in the ledger it was paid from, so that value and record can be matched; None without a ledger. `person` says
    that people are protected: all that one person did, of which at most `pairs_per_person` pairs were used.
    """

    value: float
    low: float
    high: float
    confidence: float
    statistic: str
    p: float
    epsilon: float
    delta: float
    relation: str
    pairs: int | None
    pairs_per_person: int
    max_value: int
    mechanism: str
    size: int
    floor: float
    points: tuple[Point, ...] = ()
    record: int | None = None
    person: bool = False

    def to_json(self) -> str:
        """The release as versioned JSON; `points` only of a profile, `record` and `person` only where there is one."""
        content = {"format": _FORMAT, **asdict(self)}
        if not self.points:
            del content["points"]
        if self.record is None:
            del content["record"]
        if not self.person:
            del content["person"]
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Reads what `to_json` wrote."""
        try:
            content = json.loads(text)
            if content.pop("format") != _FORMAT:
                raise BlobError("a release of a format this version does not read. Upgrade stablesketch.")
            points = tuple(Point(**point) for point in content.pop("points", ()))
            return cls(**content, points=points)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise BlobError(
                f"this is not the JSON of a release: {error!r}. Pass what Release.to_json() gave."
            ) from None

    def __str__(self) -> str:
        return (
            f"{self.statistic} = {self.value:,.6g}  ({100 * self.confidence:g}% between {self.low:,.6g} and "
            f"{self.high:,.6g}; ε = {self.epsilon:.4g}, δ = {self.delta:.3g}, {self.relation}"
            f"{', for all that one person did' if self.person else ''})"
        )
