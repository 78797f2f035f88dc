"""What the tests of the sketch share: secrets that never change, and the entries of a sketch as integers and logs."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from stablesketch import Secret, Sketch
from stablesketch._native import Accumulator, Entries
from stablesketch.format.framing import unpacked_integers
from stablesketch.sketch import wire
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.workers import TIER

# Nobody may use these outside tests: a secret that is written down protects nobody.
SECRET = Secret.from_bytes(bytes(range(32)))


def numbered_secret(number: int) -> Secret:
    """Independent secrets, the same in every run."""
    return Secret.from_bytes(hashlib.sha256(b"test secret %d" % number).digest())


def entries_of(sketch: Sketch) -> list[int]:
    """The entries as the wire carries them: integers in units of 2^-resolution."""
    return unpacked_integers(wire.decode(sketch.to_bytes()).entries)


def logs_and_signs(sketch: Sketch) -> tuple[list[float], list[float]]:
    """ln|a_j| and the sign of a_j. Entries may be far beyond the floats, so the logarithm is taken of the integer."""
    entries, unit = entries_of(sketch), wire.decode(sketch.to_bytes()).resolution * math.log(2.0)
    return [math.log(abs(a)) - unit for a in entries], [math.copysign(1.0, a) for a in entries]


def native_sums(entries: Entries) -> list[int]:
    """The state of compiled entries as integers."""
    state, width = entries.state(), 4 * entries.digits
    return [int.from_bytes(state[i : i + width], "little", signed=True) for i in range(0, len(state), width)]


def compiled(
    law: EntryLaw,
    size: int,
    key: bytes,
    fingerprints: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    domain: int = 0,
    tier: str = TIER,
) -> list[int]:
    """What a tier of the compiled core makes of signed weights (None for 1 each): those below 0 are subtracted."""
    entries = Entries(law, size)
    accumulator = Accumulator(law, size, key, domain, len(fingerprints), tier)
    if weights is None:
        accumulator.add(fingerprints, None, False)
    else:
        for negative, chosen in ((False, weights > 0), (True, weights < 0)):
            accumulator.add(fingerprints[chosen], np.abs(weights[chosen]), negative)
    entries.absorb([accumulator])
    return native_sums(entries)
