"""A followed file of which a test takes what has come."""

from __future__ import annotations

from pathlib import Path

from monitor_tools import Time

from stablesketch.monitor.input.blocks import Block
from stablesketch.monitor.input.followed import followed


class Following:
    """A followed file, of which a test takes what has come; from its start, unless a position is given."""

    def __init__(self, path: Path, position: object = None) -> None:
        self.clock = Time()
        self._blocks = followed(path, self.clock, follow=True, position=position or start_of(path))
        self.position: object = position
        self.notes: list[str] = []

    def more(self) -> bytes:
        """All up to the next empty block."""
        found = b""
        while True:
            block: Block = next(self._blocks)
            self.position = block.position
            self.notes += [block.note] if block.note else []
            found += block.lines
            if not block.lines:
                return found


def start_of(path: Path) -> dict[str, object]:
    return {"inode": path.stat().st_ino, "offset": 0, "mark": 0, "before": ""}


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)
