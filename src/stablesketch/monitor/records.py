"""What a monitor says, as JSON lines: the releases of a window, or a note of something that happened to the input.

Every record has a number, one more than that of the record before, and the identity of the state that it comes from,
which is drawn at random. All of it may be published: no record has anything
in it that was computed from rows but releases. How many rows there were, or were late, is in none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..published import Release
from .watch import Watch
from .windows import SECOND, shown

WINDOW, NOTE = "stablesketch-window/1", "stablesketch-note/1"


def window_record(
    monitor: str, number: int, watch: Watch, window: int, releases: Sequence[Release], left: float | None = None
) -> str:
    """The releases of a window, what they cost together, and what is left of the budget of a ledger."""
    epsilon, delta = watch.price
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
        "releases": [json.loads(one.to_json()) for one in releases],
    }
    return json.dumps(content)


def note_record(monitor: str, number: int, clock: int, note: str) -> str:
    """Something that happened, in words."""
    return json.dumps(
        {"format": NOTE, "monitor": monitor, "number": number, "time": shown(clock // SECOND), "note": note}
    )
