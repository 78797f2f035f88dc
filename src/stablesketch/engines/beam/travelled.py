"""The bytes of an accumulator between workers: the group, people and sorts of keys as JSON, a newline, then the state.

Needs no Beam, so that what is read from a shuffle can be tested without it (tests/attacks/fuzz_engines.py).
"""

from __future__ import annotations

import json
from typing import NamedTuple

from ...bounding.groups import Name
from ...errors import BlobError
from ...format.checked_json import JsonError, is_count, parsed


class Travelled(NamedTuple):
    """The group of an accumulator, how many people were seen, the sort of each part of a key, and the collector."""

    name: Name
    people: int
    sorts: list[str]
    state: bytes

    def to_bytes(self) -> bytes:
        return json.dumps([self.name, self.people, self.sorts]).encode() + b"\n" + self.state

    @classmethod
    def from_bytes(cls, raw: bytes) -> Travelled:
        """Reads the result of `to_bytes`. The state is checked when a collector is made from it."""
        head, newline, state = raw.partition(b"\n")
        try:
            content = parsed(head.decode())
        except (JsonError, UnicodeDecodeError):
            content = None
        if not newline or not _is_head(content):
            raise BlobError("unreadable accumulator of a pipeline: corrupt data.")
        name, people, sorts = content
        return cls(tuple(name), people, sorts, state)


def _is_head(content: object) -> bool:
    if not isinstance(content, list) or len(content) != 3:
        return False
    name, people, sorts = content
    texts = isinstance(name, list) and isinstance(sorts, list) and all(type(one) is str for one in (*name, *sorts))
    return texts and is_count(people)
