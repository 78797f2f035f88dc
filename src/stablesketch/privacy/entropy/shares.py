"""Entropy with noise: the share of ε and δ of each released number.

The release has N if it is private, the mass N H, and with buckets ‖N‖ (noise.py). Their ε add up to that of the
plan. δ covers two kinds of failures: the bound T from the noisy N is too small in a group that changes (δ_T each), or ζ
of a sketch or bucket that changes is beyond z⁺ or -z⁻ (δ_z each). Both kinds get the same part of δ.

A sketch has a third kind, `mishap`, which concerns the weights R themselves and not ζ: t of a draw is below the end of
the table, and that matters; or it shows that AES, unlike a random function, repeats no block. It is charged by itself,
as a release of ε = 0, with no factor e^ε. *Proof.* Take the two computations with the same ζ, as the proof for G does.
Except with the probability π that such an event happens in either of them, the released integers are as close as
claimed. So for any set A of outcomes and α = e^ε, P(A) - α Q(A) is at most the mean of what it is given both integers:
at most 1 where the event happens, and at most the ideal curve H(α) elsewhere: π + (1 - π) H(α) in all. That is the
curve of the ideal pair beside a release that tells everything with probability π. ∎
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...errors import ArgumentError
from ...sketch.estimators.entropy_mean import entropy_mean_law
from ...text.wording import arg, subject
from ..estimate_precision import switching
from ..privacy import Privacy
from .mass import failure

# The share of ε for N, if it is private. To first order the error of H is (noise of G + |H - β| noise of N)/N, so the
# best share rises with |H - β|/β, from a quarter at 0.2 to a half at 1. Three eighths of a round ε are on the lattice
# of privacy/loss_law.py.
_TOTAL_SHARE = 0.375
NORM_SHARE = 0.0625
"""The share of ε for ‖N‖ of buckets: a sixteenth of a round ε is on that lattice too."""
_FARTHEST = 500.0
# The probability, for each entry, that a t below the end of the table matters on either stream
# (docs/math-noisy-estimate.md, "R beyond the table").
_BEYOND_TABLE = 2.0**-89
_MOST_TOTAL = 2**53  # of `largest_total`
# Of `most_keys`. If every pair counts 1, the total shows that there are no more keys. If values vary nothing does, so
# the number must be one that streams do not reach, as at orders above 1 (mechanism/noisy/measure.py).
_FEWEST_KEYS, _FEWEST_KEYS_OF_VALUES = 2**20, 2**32
_REPEATED_SHARE = 1.0 / 32.0  # of δ, for blocks that do not repeat


@dataclass(frozen=True)
class EntropyShares:
    """The shares for entropy from `size` entries in `buckets` buckets; `size` is 0 for exact totals. `copies` is the
    number of groups that a person's pairs may be in, each with its own release."""

    privacy: Privacy
    size: int
    copies: int = 1
    buckets: int = 1

    def __post_init__(self) -> None:
        if self.copies < 1:
            raise ArgumentError("copies", self.copies, "must be at least 1", "Pass the number of groups")
        if self.copies > 1 and self.privacy.relation == "replace":
            raise ArgumentError(
                "copies", self.copies, "must be 1 under replace",
                f"Use {arg('relation', 'add_remove')} with twice the {subject('pairs_per_person')}",
                because="a replaced pair may change its group, which changes two groups",
            )  # fmt: skip
        if self.size < 0:
            raise ArgumentError("size", self.size, "must not be negative", "Pass 16 or more, or 0 for exact totals")
        if self.buckets < 1 or self.size % self.buckets or (self.buckets > 1 and not self.size):
            raise ArgumentError(
                "buckets", self.buckets, f"must divide the size, {self.size}", "Pass a divisor of the size"
            )
        if self.reach > _FARTHEST:
            raise ArgumentError(
                "size", self.size, f"must be larger at δ = {self.privacy.delta:.3g}",
                f"Use {16 * self.buckets:,} entries or more",
                because=f"with so few entries the error can be {self.reach:.3g} nats",
            )  # fmt: skip
        fewest = _FEWEST_KEYS if self.privacy.max_value == 1 else _FEWEST_KEYS_OF_VALUES
        if self.size and self.most_keys < fewest:
            raise ArgumentError(
                "delta", self.privacy.delta, f"must be larger for {self.entries:,} entries per key",
                f"Pass a larger {subject('delta')}, or {arg('mechanism', 'exact')} and leave out {arg('size')} and "
                f"{arg('memory')}",
                because=f"it would cover streams of up to {self.most_keys:,} keys",
            )  # fmt: skip

    @property
    def total_is_public(self) -> bool:
        return self.total_distance == 0

    @property
    def total_distance(self) -> int:
        """How much N can differ between neighbours: c M, or c (M - 1) under replace."""
        privacy = self.privacy
        return privacy.pairs_per_person * (privacy.max_value - (privacy.relation == "replace"))

    @property
    def total_epsilon(self) -> float:
        return 0.0 if self.total_is_public else _TOTAL_SHARE * self.privacy.epsilon

    @property
    def norm_epsilon(self) -> float:
        return NORM_SHARE * self.privacy.epsilon if self.buckets > 1 else 0.0

    @property
    def mass_epsilon(self) -> float:
        """The remaining ε, rounded down: all three add up to at most ε."""
        whole, others = self.privacy.epsilon, (self.total_epsilon, self.norm_epsilon)
        rest = whole - others[0] - others[1]
        while Fraction(rest) + sum(map(Fraction, others)) > Fraction(whole):
            rest = math.nextafter(rest, 0.0)
        return rest

    @property
    def lost(self) -> float:
        """The probability that the outcome is not the ideal one: δ_T for every group and δ_z for every bucket that
        changes; 0 if there is neither. The composition in privacy/charge.py multiplies it by (1 + e^ε), or slightly
        more if ε is not on its lattice."""
        return 0.9 * failure(self.mass_epsilon, self.privacy.delta) if self._failures else 0.0

    @property
    def _failures(self) -> int:
        """The number of kinds of failures: ζ of a sketch, and T if N is private. Each gets the same part of δ."""
        return (self.size > 0) + (not self.total_is_public)

    @property
    def changed_buckets(self) -> int:
        """The number of buckets that a neighbour can change, in all groups: an added or removed pair changes one."""
        sides = 2 if self.privacy.relation == "replace" else 1
        return min(sides * self.privacy.pairs_per_person, self.copies * self.buckets)

    def _each(self, count: int) -> float:
        """δ_T or δ_z, if any of this many may fail."""
        return self.lost / (count * self._failures) * (1.0 - 1e-9)

    @property
    def entries(self) -> int:
        """g, the number of entries of a bucket."""
        return self.size // self.buckets

    def _repeated(self, keys: int) -> float:
        """The probability that AES shows, on either stream, in all groups."""
        return 2.0 * self.copies * switching(self.entries, float(keys), self.buckets)

    @cached_property
    def most_keys(self) -> int:
        """The number of keys that the guarantee covers: the last power of two, up to 2^53, at which AES takes no more
        than a 32nd of δ."""
        keys = _MOST_TOTAL
        while keys > 1 and self._repeated(keys) > _REPEATED_SHARE * self.privacy.delta:
            keys //= 2
        return keys

    @property
    def largest_total(self) -> int:
        """The largest T for which G is released from a sketch. If every pair counts 1, it proves that there are no more
        than `most_keys` keys."""
        return min(self.most_keys * self.privacy.max_value, _MOST_TOTAL)

    @property
    def mishap(self) -> float:
        """The probability, on either stream and in all groups, that the weights change the outcome: see the top of this
        file."""
        return self._repeated(self.most_keys) + self.copies * self.entries * _BEYOND_TABLE if self.size else 0.0

    @cached_property
    def reaches(self) -> tuple[float, float]:
        """z⁺ and z⁻: ζ lies between -z⁻ and z⁺ except with probability δ_z."""
        return entropy_mean_law(self.entries).reaches(self._each(self.changed_buckets)) if self.size else (0.0, 0.0)

    @property
    def reach(self) -> float:
        """The larger of z⁺ and z⁻."""
        return max(self.reaches)
