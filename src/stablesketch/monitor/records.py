"""The records of a monitor, as JSON lines: the releases of a window, or a note about the input.

Every record has a number, one more than the record before, and the random identity of the state that it comes from.
Everything in it may be published: releases are all that a record has that was computed from rows. The number of rows,
or of late ones, is in none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..published import Release
from .few_rows import has_few_rows, of_few_rows
from .watch import Watch
from .windows import SECOND, shown

WINDOW, NOTE = "stablesketch-window/1", "stablesketch-note/1"


def window_record(
    monitor: str, number: int, watch: Watch, window: int, releases: Sequence[Release], left: float | None = None
) -> str:
    """The releases of a window, what they cost together, what is left of the budget of a ledger; and whether there may
    have been too few rows to say anything, by the releases alone."""
    epsilon, delta = watch.price
    few = has_few_rows(watch.plans, releases)
    if few:
        releases = [of_few_rows(plan, one) for plan, one in zip(watch.plans, releases, strict=True)]
    content = {
        "format": WINDOW,
        "monitor": monitor,
        "number": number,
        "start": shown(watch.windows.start(window)),
        "end": shown(watch.windows.start(window + 1)),
        "protects": watch.protect,
        "epsilon": epsilon,
        "delta": delta,
        **({} if left is None else {"epsilon_left": left}),
        "few_rows": few,
        "releases": [json.loads(one.to_json()) for one in releases],
    }
    return json.dumps(content)


def note_record(monitor: str, number: int, clock: int, note: str) -> str:
    """Something that happened, in words."""
    return json.dumps(
        {"format": NOTE, "monitor": monitor, "number": number, "time": shown(clock // SECOND), "note": note}
    )
