"""The command line run in this process, in a folder of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from stablesketch.cli.app import run

PRIVATE = ["--p", "0.5", "--epsilon", "2", "--delta", "1e-6"]
SMALL = [*PRIVATE, "--size", "50"]


@dataclass(frozen=True)
class Shown:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Shell:
    """Runs commands as a user would type them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Shown:
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = self._capsys.readouterr()
        return Shown(code, out, err)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path
