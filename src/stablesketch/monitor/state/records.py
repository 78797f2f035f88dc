"""The records of a monitor, as JSON lines: the releases of a window, or a note about the input.

Every record has a number, one more than the previous record's, and the random identity of the state it comes from. All
of it is publishable: the releases are the only part computed from rows. No record contains the number of rows, or of
late rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...errors import StablesketchError
from ...format.checked_json import Fields, JsonError, parsed
from ...plan import Plan
from ...statistic.published import Release
from ..watch import Watch
from ..windows import SECOND, second_of, shown

WINDOW, NOTE = "stablesketch-window/1", "stablesketch-note/1"

_LONGEST_NOTE = 100_000  # characters


def window_record(
    monitor: str, number: int, watch: Watch, window: int, releases: Sequence[Release], left: float | None = None
) -> str:
    """The releases of a window, their total cost, what is left of a ledger's budget, and whether there may be too few
    rows to say anything."""
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
        "few_rows": has_few_rows(watch.plans, releases),
        "releases": [json.loads(one.to_json()) for one in releases],
    }
    return json.dumps(content)


def has_few_rows(plans: Sequence[Plan], releases: Sequence[Release]) -> bool:
    """Whether a window may have no rows, judged by its first release with a total, or else by its first release.

    If a statistic is computed from a noisy total, the total is part of the release and is paid for with it. Looking at
    it costs nothing, and reveals nothing that was not released. A window has few rows if its total cannot be
    distinguished from 0; the limits of its release then say no more than that (mechanism/shared/state.py). Other
    statistics (keys, moments) have their smallest value without rows: a window has few rows if its interval reaches
    that value, so few rows and few keys look the same.
    """
    for release in releases:
        if release.total is not None:
            return release.total.may_be_zero
    return releases[0].low <= plans[0].statistic.range()[0]


def note_record(monitor: str, number: int, clock: int, note: str) -> str:
    """Something that happened, in words."""
    return json.dumps(
        {"format": NOTE, "monitor": monitor, "number": number, "time": shown(clock // SECOND), "note": note}
    )


def is_record(number: int, text: object, monitor: str) -> bool:
    """Whether a stored text is the record of this number and this monitor, as the functions above write it."""
    try:
        with Fields(parsed(text), "the record") as fields:
            is_window = fields.choice("format", WINDOW, NOTE) == WINDOW
            if (fields.text("monitor"), fields.whole("number")) != (monitor, number):
                return False
            if is_window:
                second_of("start", fields.text("start")), second_of("end", fields.text("end"))
                fields.text("protects"), fields.number("epsilon", 0.0), fields.number("delta", 0.0, 1.0)
                if fields.has("epsilon_left"):
                    fields.number("epsilon_left")
                few, releases = fields.any("few_rows", False), fields.any("releases")
                if type(few) is not bool or not isinstance(releases, list) or not releases:
                    return False
                for each in releases:
                    Release.from_json(json.dumps(each))
            else:
                second_of("time", fields.text("time")), fields.text("note", _LONGEST_NOTE)
    except (JsonError, StablesketchError):
        return False
    return True
