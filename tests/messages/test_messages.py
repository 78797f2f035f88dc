"""Wrong calls say what the transcripts next to this file say, word for word; and every one of them was read.

A message that changes on purpose is written anew by `python tests/messages/transcript.py`: see there.
"""

from __future__ import annotations

import pytest
from transcript import Entry, played, read, transcripts

ENTRIES = {f"{path.stem}: {entry.title}": entry for path in transcripts() for entry in read(path)}


def test_there_are_enough_of_both_kinds_and_no_title_twice() -> None:
    python = sum(entry.lines[-1].startswith(">>> ") for entry in ENTRIES.values())
    assert len(ENTRIES) >= 150
    assert min(python, len(ENTRIES) - python) >= 50
    assert len(ENTRIES) == sum(len(read(path)) for path in transcripts())


@pytest.mark.parametrize("name", ENTRIES)
def test_a_wrong_call_says_what_was_read_and_leaves_no_file(name: str) -> None:
    entry: Entry = ENTRIES[name]
    ran = played(entry)
    assert ran.printed == entry.printed
    assert ran.out == "", "errors go to standard error"
    assert ran.left == set()
    _, said = ran.printed.split("\n", 1) if entry.lines[-1].startswith("$ ") else ("", ran.printed)
    assert "\n" not in said, "one line"
    assert said.split(": ", 1)[-1].strip(), "something is said"


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.lines[-1].startswith(">>> ")])
def test_errors_of_python_are_typed(name: str) -> None:
    import stablesketch as ss

    kind = ENTRIES[name].printed.split(":")[0]
    assert issubclass(getattr(ss, kind), ss.StablesketchError)
