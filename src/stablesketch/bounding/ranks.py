"""The rank of a row among the rows of its person. `persons.py` and `in_one_pass.py` keep the smallest ranks.

The rank of a group is the fingerprint (docs/keys.md) of the person and the group as one composite key, under a secret
derived for this purpose: 64 bits, SipHash. The rank of a row takes two steps, each under its own secret. The first is a
fingerprint of the person and all columns of the row. The second is a fingerprint of the first and of the row's number,
0, 1, 2, ..., among identical rows of the person; number 0, which most rows have, keeps the first. Without the number,
identical rows would be kept or dropped together: the draw would be among keys instead of rows, and favour rare keys.

Which of several identical rows has which number does not matter. The ranks of a person's rows are a function of the
secret and of how often the person has each row, the same in any batch, thread, order or engine. To anyone who does not
know the secret they look random, so no row and no group is favoured. Privacy rests on the first property alone: under
any such function, what is kept of a person depends on nobody else (persons.py). One in 2^64 pairs of rows has equal
ranks; their columns break the tie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..secret import Secret
from ..sketch.columns import Fingerprinter

_BLOCK = 1 << 16


class Ranks:
    """The ranks under one secret. It holds keys derived from the secret, so create it where it is used."""

    __slots__ = ("_copies", "_groups", "_pairs")

    def __init__(self, secret: Secret) -> None:
        self._groups, self._pairs, self._copies = (
            Fingerprinter.of(secret.derive_secret(f"bounding persons/{purpose}"))
            for purpose in ("groups", "pairs", "copies")
        )

    def of_groups(self, person: object, *names: object) -> NDArray[np.uint64]:
        """The ranks of groups, from columns of people and of the groups they are in."""
        return self._groups.fingerprint((person, *names))

    def of_pairs(self, person: object, *columns: object) -> NDArray[np.uint64]:
        """The first fingerprint, which identical rows of a person share: of people and of all columns of their rows."""
        return self._pairs.fingerprint((person, *columns))

    def of_copies(self, of_pairs: NDArray[np.uint64], numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The ranks of rows, from the first fingerprint and their numbers among identical rows."""
        return np.where(numbers == 0, of_pairs, self._copies.fingerprint((of_pairs, numbers)))

    def smallest(self, of_pair: int, copies: int, most: int) -> list[int]:
        """The smallest ranks, at most `most`, of `copies` identical rows, computed block by block."""
        found = np.empty(0, np.uint64)
        for start in range(0, copies, _BLOCK):
            numbers = np.arange(start, min(start + _BLOCK, copies), dtype=np.int64)
            ranks = self.of_copies(np.full(len(numbers), of_pair, np.uint64), numbers)
            found = np.sort(np.concatenate([found, ranks]))[:most]
        return [int(rank) for rank in found]
