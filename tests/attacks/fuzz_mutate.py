"""Mutants that get past the first check: bytes, numbers and JSON changed, and the checksums put right afterwards.

A decoder that only ever sees random bytes refuses them all at the checksum, and nothing behind it is tried.
"""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from random import Random
from typing import Any

# What breaks decoders: ends of ranges, numbers that no float or 64 bits hold, values of another type.
NUMBERS: list[Any] = [
    0, 1, -1, 2, 5, 64, 255, 256, 10_000, 10_001, 2**16, 2**20, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63,
    2**64, -(2**63), 10**18, 10**400, -(10**400), 0.0, -0.0, 0.5, 0.05, 0.049, 1.0, 1.5, 1e-308, 5e-324, 1e300,
    1.7e308, -1e300, 1e-9, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, False, "", "x", "é\u2028\x00", "\ud800", "replace", "add_remove", "key", "exact", "sketch", "pair",
    "entry", "1", "NaN", [], {}, [[]], [{}], {"": {}}, [1, 2, 3], "a" * 100_000,
]  # fmt: skip
STATISTICS = ["moment", "hill", "renyi", "tsallis", "shannon", "distinct", "atkinson", "profile", "total", "nothing"]
_WORDS = [0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def sealed(body: bytes) -> bytes:
    """The blob of this body: with the checksum that it must have."""
    return body + hashlib.sha256(body).digest()[:8]


def unsealed(blob: bytes) -> bytes:
    """The body of a blob."""
    return blob[:-8]


def bytes_mutant(rng: Random, raw: bytes) -> bytes:
    """The bytes after one to three small changes."""
    held = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change_bytes(rng, held)
    return bytes(held)


def _change_bytes(rng: Random, held: bytearray) -> None:
    at = rng.randrange(len(held) + 1)
    kind = rng.randrange(8)
    if kind == 0 and at < len(held):
        held[at] ^= 1 << rng.randrange(8)
    elif kind == 1 and at < len(held):
        held[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF, rng.randrange(256)))
    elif kind == 2:
        del held[at : at + rng.choice((1, 2, 4, 8, 64, 100_000))]
    elif kind == 3:
        held[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 32)))
    elif kind == 4:
        form = rng.choice(("<H", "<I", "<Q"))
        width = struct.calcsize(form)
        held[at : at + width] = struct.pack(form, rng.choice(_WORDS) & ((1 << 8 * width) - 1))
    elif kind == 5:
        held[at : at + 8] = struct.pack("<d", rng.choice([n for n in NUMBERS if type(n) is float] + [rng.random()]))
    elif kind == 6:
        other = rng.randrange(len(held) + 1)
        held[at:at] = held[other : other + rng.choice((1, 8, 40))]
    else:
        length = rng.randrange(256)
        held[at:at] = bytes((length,)) + rng.randbytes(rng.choice((length, rng.randrange(256))))


def json_mutant(rng: Random, text: str) -> str:
    """JSON after one or two changes to its tree, or to its text."""
    if rng.random() < 0.1:
        return bytes_mutant(rng, text.encode()).decode("utf-8", "surrogateescape")
    if rng.random() < 0.02:
        return rng.choice(("[" * 100_000, '{"a":' * 5_000, "9" * 5_000, "-" + "9" * 5_000, "1e999999", "null", '""'))
    tree = json.loads(text)
    for _ in range(rng.choice((1, 1, 2))):
        tree = _changed_tree(rng, tree)
    canonical = rng.random() < 0.8
    changed = json.dumps(tree, sort_keys=True, separators=(",", ":")) if canonical else json.dumps(tree, indent=1)
    if rng.random() < 0.03:
        changed = changed.replace("{", '{"format":1,', 1)  # a name twice
    if rng.random() < 0.02:
        changed = changed.replace(":", ":" + "9" * 5_000, 1)
    return changed


def _changed_tree(rng: Random, tree: Any) -> Any:
    tree = copy.deepcopy(tree)
    places = list(_places(tree))
    if not places:
        return rng.choice(NUMBERS + OTHERS)
    holder, key = rng.choice(places)
    kind = rng.randrange(12)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(("odd", "", "x" * 1000, "format", "parts", "sampled", "points"))] = holder[key]
    elif kind == 2:
        other_holder, other_key = rng.choice(places)
        holder[key] = copy.deepcopy(other_holder[other_key])
    elif kind == 3:
        deep: Any = holder[key]
        for _ in range(rng.choice((1, 3, 400))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        holder[key] = deep
    elif kind == 4 and key == "name":
        holder[key] = rng.choice(STATISTICS)
    elif kind == 5 and isinstance(holder[key], int | float) and abs(holder[key]) < 1e300:
        holder[key] *= rng.choice((0.5, 2, 1e6, -1))
    elif kind == 6:
        holder[key] = rng.choice(OTHERS)
    elif kind == 7 and isinstance(holder[key], float):
        holder[key] = rng.random() * 10.0 ** rng.randrange(-300, 300)
    else:
        holder[key] = rng.choice(NUMBERS)
    return tree


def _places(tree: Any) -> Any:
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _places(tree[key])
