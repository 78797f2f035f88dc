"""What bad calls say is held to catalogue.txt, which is read by people before it changes."""

from __future__ import annotations

import difflib

import catalogue
import pytest
from calls import COMMANDS, PYTHON

import stablesketch as ss


@pytest.fixture(scope="module")
def found() -> str:
    return catalogue.catalogue()


def test_what_bad_calls_say(found: str) -> None:
    written = catalogue.CATALOGUE.read_text(encoding="utf-8")
    changed = "\n".join(difflib.unified_diff(written.splitlines(), found.splitlines(), "catalogue.txt", "now", n=4))
    assert not changed, f"run python tests/messages/catalogue.py, and read what changed:\n{changed}"


def test_every_call_fails_with_an_error_of_ours(found: str) -> None:
    assert len(COMMANDS) + len(PYTHON) >= 150
    blocks = [block.split("\n") for block in found.split("\n\n")[1:]]
    assert len(blocks) == len(COMMANDS) + len(PYTHON)
    for call, outcome, *said in blocks:
        assert any(line.strip() for line in said), call
        if call.startswith("$"):
            assert outcome.startswith("exit code "), call
            assert int(outcome.removeprefix("exit code ")) in range(2, 7), call
            assert said[0].startswith("    Error: "), call
            assert len(said[0]) > 20, call
            assert len([line for line in said if line]) == 1, call  # one line, and nothing on standard output
        else:
            assert issubclass(getattr(ss, outcome), ss.StablesketchError), call


def test_no_call_is_there_twice() -> None:
    assert len(set(COMMANDS)) == len(COMMANDS)
    assert len(set(PYTHON)) == len(PYTHON)
