"""Calendar periods in UTC: their names in a renewing budget, and when the next one begins.

Names of one kind sort in order of time: 2026-11-16, 2026-W47 (ISO 8601 weeks), 2026-11, 2026-Q4, 2026.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Literal, get_args

from ..errors import ArgumentError

Per = Literal["day", "week", "month", "quarter", "year"]


def check_per(per: object) -> None:
    if per is not None and per not in get_args(Per):
        raise ArgumentError("per", per, f"must be one of {', '.join(get_args(Per))}", "Choose one of these")


def period_of(per: str, time: datetime) -> str:
    """The period that contains this moment (in UTC)."""
    if per == "week":
        year, week, _ = time.isocalendar()
        return f"{year:04}-W{week:02}"
    if per == "quarter":
        return f"{time.year:04}-Q{(time.month + 2) // 3}"
    return time.strftime({"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[per])


def next_start(per: str, period: str) -> date:
    """The first day of the next period, on which the budget renews."""
    if per == "day":
        return date.fromisoformat(period) + timedelta(days=1)
    if per == "week":
        return date.fromisoformat(f"{period}-1") + timedelta(days=7)
    last = int(period[5:]) if per == "month" else 3 * int(period[6:]) if per == "quarter" else 12  # its last month
    return date(int(period[:4]) + last // 12, last % 12 + 1, 1)
