"""What every test of columns needs: a fingerprinter under the reference's key material."""

from __future__ import annotations

import pytest
from key_reference import MATERIAL, Fingerprints

from stablesketch.sketch.columns import Fingerprinter


@pytest.fixture(scope="session")
def fingerprinter() -> Fingerprinter:
    return Fingerprinter(MATERIAL)


@pytest.fixture(scope="session")
def fingerprints(fingerprinter: Fingerprinter) -> Fingerprints:
    """All fingerprints of a column, read in two slices so that rows are never taken for offsets."""

    def read(keys: object) -> list[int]:
        column = fingerprinter.column(keys)
        middle = len(column) // 3
        first, second = column.fingerprints(0, middle), column.fingerprints(middle, len(column))
        assert first.dtype == second.dtype == "uint64"
        return [int(f) for f in [*first, *second]]

    return read
