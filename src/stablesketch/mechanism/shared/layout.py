"""The layout of entries: all for every key, or in buckets, with one bucket for each key.

A key touches the g entries of its bucket, out of g B in all. Let ξ come from g entries and have relative variance v.
The sum of the estimates of all buckets has the relative variance

    v (1/B + S (1 - 1/B)),      S = Σ f^{2p}/F_p²,

which is about v/B if no key dominates (S is one over the number of keys, if all are alike), and v if one key holds
everything: then only its own g entries count. Plans show both. Its cost in noise: privacy/noisy_estimate.py, for g
entries and for as many buckets as one person can change; docs/math-buckets.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import ArgumentError
from ...plan.arguments import LARGEST_SIZE
from ...plan.plan import Plan
from ...privacy import Privacy
from ...text.wording import arg

LARGEST_FLAT = 512
"""Up to this many entries, every key touches all of them: the error is then the same for every stream."""

FEW_PER_KEY = 16
"""The entries that a key touches if an error is requested: fewer would need several times the noise."""

USUAL_ENTRIES = 20_000
"""Entries in all, if nothing is requested: more hardly help, given the noise and the error from heavy keys."""

TYPICAL_MOMENT = 2.0**20
"""The F_p that decides the bytes of an entry, if no value is expected."""


@dataclass(frozen=True)
class Layout:
    """g entries in each of B buckets."""

    per_key: int
    buckets: int = 1

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.per_key * self.buckets

    @property
    def norm_share(self) -> float:
        """The cap of the norm of the estimates divided by the cap of their sum: a power of two of at most 1/√B, so that
        the norm is cut whenever the sum is (docs/math-buckets.md, "What computing costs")."""
        return 2.0 ** -math.ceil(0.5 * math.log2(self.buckets))

    def changed(self, privacy: Privacy) -> int:
        """The largest number of estimates that one person can change. An added pair changes one bucket; a replaced pair
        changes the bucket it leaves and the one it enters. Without buckets, it is one in every group of a table.
        """
        if self.buckets == 1:
            return privacy.copies
        moved = 2 if privacy.relation == "replace" else 1
        return min(moved * privacy.pairs_per_person, self.buckets * privacy.copies)


def laid_out(size: int, per_key: int | None, usual: int) -> Layout:
    """A layout of this many entries with this many per key, checked. By default a key touches all of them; if they are
    too many, the least number from `usual` to twice that which divides them.
    """
    if per_key is None:
        dividing = (each for each in range(usual, 2 * usual + 1, 2) if size % each == 0)
        per_key = size if size <= LARGEST_SIZE else next(dividing, usual)
    if per_key >= size:
        if per_key > size:
            raise ArgumentError(
                "entries_per_key", per_key, f"must be at most the size, {size:,}",
                f"Pass fewer, or a larger {arg('size')}",
            )  # fmt: skip
        return Layout(size)
    buckets, left = divmod(size, per_key)
    if left:
        near = f"{arg('size', buckets * per_key)} or {arg('size', (buckets + 1) * per_key)}"
        raise ArgumentError(
            "size", size, f"must be a multiple of {per_key}, the entries that a key touches", f"Pass {near}"
        )
    return Layout(per_key, buckets)


def in_one_bucket(plan: Plan, one: float) -> float:
    """`plan.error` if one key holds everything. If v = `one`² is the variance from the entries of one bucket, the
    variance is v (1 - 1/B) more than in B buckets."""
    return plan.error if plan.buckets == 1 else math.hypot(plan.error, one * math.sqrt(1.0 - 1.0 / plan.buckets))


def layout_of(plan: Plan) -> Layout:
    """The layout of a plan's entries."""
    return Layout(plan.entries_per_key, plan.buckets)
