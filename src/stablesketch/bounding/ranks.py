"""The rank of a row among those of its person, by which `persons.py` and `in_one_pass.py` choose: the smallest stay.

A rank is the fingerprint (docs/keys.md) of the person and the columns of the row as one composite key, under a secret
that is derived for this alone, and another for groups: 64 bits, SipHash. It is a function of the secret and of these
cells, the same wherever a row is met, in whatever batch, thread, order or engine. To anybody who does not know the
secret it looks random, so no key and no group is favoured. Privacy rests on the first property alone: under any
function of the secret and of the row, what is kept of a person depends on nobody else (persons.py). Rows of equal rank
are alike, except for one in 2^64 pairs of rows; between those their columns decide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..secret import Secret
from ..sketch.columns import Fingerprinter


class Ranks:
    """The ranks under one secret. It holds keys that are derived from it: make it where it is used."""

    __slots__ = ("_groups", "_pairs")

    def __init__(self, secret: Secret) -> None:
        self._groups, self._pairs = (
            Fingerprinter.of(secret.derive_secret(f"bounding persons/{purpose}")) for purpose in ("groups", "pairs")
        )

    def of_groups(self, person: object, *names: object) -> NDArray[np.uint64]:
        """The ranks of groups: of columns of people and of the groups they are in."""
        return self._groups.fingerprint((person, *names))

    def of_pairs(self, person: object, *columns: object) -> NDArray[np.uint64]:
        """The ranks of rows: of columns of people and of everything in their rows."""
        return self._pairs.fingerprint((person, *columns))
