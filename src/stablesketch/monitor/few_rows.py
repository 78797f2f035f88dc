"""Windows that may have no rows: which they are, judged by their releases.

If a statistic is computed from a noisy total, the total is part of the release and is paid for with it. Looking at it
costs nothing, and reveals nothing that was not released. A window has few rows if its total cannot be distinguished
from 0; the limits of its release then say no more than that (mechanism/shared/state.py). Other statistics (keys,
moments) have their smallest value without rows: a window has few rows if its interval reaches that value, so few rows
and few keys look the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..plan import Plan
from ..statistic.published import Release


def has_few_rows(plans: Sequence[Plan], releases: Sequence[Release]) -> bool:
    """Whether a window may have no rows, judged by its first release with a total, or else by its first release."""
    for release in releases:
        if release.total is not None:
            return release.total.may_be_zero
    return releases[0].low <= plans[0].statistic.range()[0]
