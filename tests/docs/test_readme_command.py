"""The command of the README runs on the files that its picture is made of, and prints what the README shows."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from page_runner import shape
from test_snippets import ROOT, blocks, shell_commands

from stablesketch.cli.app import run

sys.path.insert(0, str(ROOT / "benchmarks"))

from readme_picture import COMMAND, write_words


def test_the_command_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = [line for line in shell_commands("README.md") if line.startswith("stablesketch ")]
    (shown,) = [block.text for block in blocks(ROOT / "README.md") if block.language == "text"]
    assert f"{command} -o words.json" == COMMAND
    monkeypatch.chdir(tmp_path)
    write_words(tmp_path)
    assert run(shlex.split(command)[1:]) == 0
    assert shape(capsys.readouterr().out) == shape(shown)
