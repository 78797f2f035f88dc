"""`Known`: what is public about a stream before anyone looks at it. Statistics derive their range from it.

n pairs with values from 1 to M have at most n keys and add up to between n and nM. Under replace, n is public. Under
add_remove, only the promised minimum number and the promised minimum total are, if the release checks them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..privacy import Privacy


@dataclass(frozen=True)
class Known:
    """The least and the greatest number of pairs, the least total, the largest value; by default, of any stream.

    With `whole_keys`, every pair is the only one of its key.
    """

    least_pairs: int = 0
    most_pairs: float = math.inf
    promised_total: int = 0
    max_value: float = math.inf
    whole_keys: bool = False

    @classmethod
    def of(cls, privacy: Privacy, pairs: int, *, promised: bool) -> Known:
        """What `privacy` makes public about a stream of this many pairs: the number itself only under replace.

        `promised`: whether the release checks the promises of `privacy`, so that they hold.
        """
        public = privacy.relation == "replace"
        return cls(
            least_pairs=pairs if public else privacy.pairs if promised else 0,
            most_pairs=float(pairs) if public else math.inf,
            promised_total=privacy.total if promised else 0,
            max_value=float(privacy.max_value),
            whole_keys=privacy.unit == "key",
        )

    @property
    def least_keys(self) -> float:
        """The least number of distinct keys: all pairs can have the same key."""
        return float(self.least_pairs if self.whole_keys else min(self.least_pairs, 1))

    @property
    def most_keys(self) -> float:
        """The greatest number of distinct keys: every pair can have its own."""
        return self.most_pairs

    @property
    def least_total(self) -> float:
        """The least total: no value is below 1."""
        return float(max(self.least_pairs, self.promised_total))

    @property
    def most_total(self) -> float:
        """The greatest total: no value is above the largest; 0 if there are no pairs."""
        return self.most_sum(1.0)

    def most_sum(self, p: float) -> float:
        """The greatest sum of the p-th powers of all values: n M^p."""
        return self.most_pairs * self.max_value**p if self.most_pairs else 0.0
