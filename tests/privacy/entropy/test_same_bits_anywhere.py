"""What is computed of a bucket does not depend on where it stands among others: bits, not only values.

The proof of entropy in buckets cancels the terms of buckets that hold the same in both streams
(privacy/entropy/mass.py). It does so only if a row of an array gives the same bits alone, first or last.
"""

from __future__ import annotations

import numpy as np
import pytest

from stablesketch.numbers.elementary import log
from stablesketch.sketch.estimators.entropy_mean import entropy_mean


@pytest.mark.parametrize("entries", [16, 18, 22, 64, 100, 510])
def test_the_estimate_of_a_row_has_the_same_bits_anywhere(entries: int) -> None:
    rng = np.random.default_rng(entries)
    for rows in (1, 2, 3, 5, 7, 16, 33, 320):
        locations = rng.normal(-8.0, 3.0, (rows, entries))
        whole = entropy_mean(locations)
        assert np.array_equal(whole[1:], entropy_mean(locations[1:]) if rows > 1 else whole[1:])
        assert all(entropy_mean(locations[i : i + 1])[0] == whole[i] for i in range(rows))


def test_the_logarithm_of_a_total_has_the_same_bits_anywhere() -> None:
    totals = np.random.default_rng(1).integers(1, 2**40, 2_001).astype(np.float64)
    logs = log(totals)
    assert all(np.array_equal(log(totals[start:]), logs[start:]) for start in range(1, 20))
    assert all(log(totals[i : i + 1])[0] == logs[i] for i in range(len(totals)))
