"""The records of a monitor, as JSON lines: the releases of a window, or a note about the input.

Every record has a number, one more than the previous record's, and the random identity of the state it comes from. All
of it is publishable: the releases are the only part computed from rows. No record contains the number of rows, or of
late rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..statistic.published import Release
from .few_rows import has_few_rows, of_few_rows
from .watch import Watch
from .windows import SECOND, shown

WINDOW, NOTE = "stablesketch-window/1", "stablesketch-note/1"


def window_record(
    monitor: str, number: int, watch: Watch, window: int, releases: Sequence[Release], left: float | None = None
) -> str:
    """The releases of a window, their total cost, what is left of a ledger's budget, and whether there may be too few
    rows to say anything, judged by the releases alone."""
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
