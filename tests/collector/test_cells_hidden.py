"""Errors about pairs name the row and the type. The content is data, and is never shown."""

from __future__ import annotations

import decimal
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import stablesketch as ss

PRIVATE = "PRIVATE-77777"
PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, max_value=5), size=20)


def folded(collector: ss.Collector, total: int, pairs: int) -> None:
    collector.add_folded(collector.fingerprint(["a"]), np.array([total]), pairs)


CALLS: dict[str, Callable[[ss.Collector], object]] = {
    "value above max_value": lambda c: c.update(["a"], [77777]),
    "value above 2^53": lambda c: c.update(["a"], [77777 * 10**15]),
    "value in an array": lambda c: c.update(["a"], np.array([77777])),
    "value in Arrow": lambda c: c.update(["a"], pa.array([77777 * 10**14], pa.uint64())),
    "value negative": lambda c: c.update(["a"], [-77777]),
    "value fraction": lambda c: c.update(["a"], [77777.5]),
    "value fraction in an array": lambda c: c.update(["a"], np.array([77777.5])),
    "value text": lambda c: c.update(["a"], [PRIVATE]),
    "one value": lambda c: c.update(["a"], 77777),
    "key tuple": lambda c: c.update([(PRIVATE, {"x": 1})]),
    "key float": lambda c: c.update([77777.25]),
    "key Decimal": lambda c: c.update([decimal.Decimal("77777.5")]),
    "key beyond 64 bits": lambda c: c.update([77777 * 10**30]),
    "key surrogate": lambda c: c.update([f"{PRIVATE}\ud800"]),
    "key float among text": lambda c: c.update(pd.Series([PRIVATE, 77777.5])),
    "keys one text": lambda c: c.update(PRIVATE),
    "keys a tuple of text": lambda c: c.update((PRIVATE, "b")),
    "folded negative": lambda c: folded(c, -77777, 1),
    "folded too many pairs": lambda c: folded(c, 1, 77777 * 10**15),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_error_shows_a_cell(name: str) -> None:
    with pytest.raises(ss.ArgumentError) as refused:
        CALLS[name](PLAN.open())
    assert "77777" not in f"{refused.value} {refused.value.value!r}"
