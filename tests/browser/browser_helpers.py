"""A window of the browser that misses nothing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass
class Window:
    """A page that writes down every complaint, and every request beyond the page itself."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, where: Path | str) -> Any:
        self.page.goto(where.as_uri() if isinstance(where, Path) else where)
        return self.page


def brightness(colour: str) -> float:
    """0 to 1, from rgb(r, g, b)."""
    channels = [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    return sum(channels) / (3 * 255)
