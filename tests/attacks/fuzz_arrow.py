"""Arrow columns that no honest library hands out, as a description in JSON, and what is done with them.

Buffers are exactly as long as the rows that are claimed, so that the address sanitizer sees one byte beyond
(ctypes keeps those of up to 16 bytes within its objects, where it does not); what the
interface cannot say (how long a buffer is, where the bytes of text end) is told truly, everything else may be a lie.
"""

from __future__ import annotations

import json
import struct
from random import Random
from typing import Any

import numpy as np
from arrow_producer import HandMade, extension_metadata

import stablesketch as ss
from stablesketch.sketch.columns import Fingerprinter

FINGERPRINTER = Fingerprinter.of(ss.Secret.from_bytes(bytes(range(32))))

_WIDTHS = {
    "c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "e": 2, "f": 4, "g": 8, "tdD": 4, "tdm": 8,
    "tts": 4, "ttm": 4, "ttu": 8, "ttn": 8, "tss:": 8, "tsm:": 8, "tsu:UTC": 8, "tsn:Europe/Oslo": 8, "tDs": 8,
    "tDn": 8, "tiM": 4, "tiD": 8, "tin": 16, "d:10,2": 16, "d:76,0,256": 32, "w:16": 16, "w:0": 0, "w:3": 3, "b": 1,
}  # fmt: skip
_OFFSETS = {"u": "i", "z": "i", "U": "q", "Z": "q"}
_ODD = [
    "",
    "n",
    "w:",
    "w:-1",
    "w:99999999999999999999",
    "d:",
    "d:1",
    "x",
    "tss",
    "td",
    "t",
    "é",
    "+l",
    "+s",
    "+w:3",
    "v",
]
_FORMATS = [*_WIDTHS, *_OFFSETS, "vu", "vz"]
_INTEGERS = [0, 1, -1, 127, -128, 255, 2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63), 0x7FF8 << 48]
_TEXTS = [b"", b"a", b"abc" * 5, "é日😀".encode(), b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", bytes(13)]


def arrow_mutant(rng: Random, seed: bytes) -> bytes:
    """A description, whatever the seed."""
    return json.dumps(_description(rng, rng.random() < 0.2)).encode()


def _description(rng: Random, dictionary: bool) -> dict[str, Any]:
    format = rng.choice("cCsSiIlL") if dictionary else rng.choice(_FORMATS if rng.random() < 0.9 else _ODD)
    length, offset = rng.randrange(20), rng.choice((0, 0, 1, 7, 8))
    held: dict[str, Any] = {"format": format, "length": length, "offset": offset, "null_count": 0}
    rows = offset + length
    bits = rng.randbytes((rows + 7) // 8)
    validity = rng.choice((None, None, b"\xff" * len(bits), bits))
    if validity is not None:
        held["null_count"] = rng.choice((-1, 0, 1, length))
    inner = _description(rng, False) if dictionary else None
    if inner is not None:
        inner["lied"] = {}
        held["dictionary"] = inner
    held["buffers"] = [_hex(validity), *map(_hex, _data(rng, format, rows, inner))]
    held["lied"] = {}
    if rng.random() < 0.15:
        name = rng.choice(("length", "offset", "null_count", "n_children", "n_buffers"))
        held["lied"][name] = rng.choice((-1, -(2**63), 2**62, 2**63 - 1) if name != "n_buffers" else (0, 1, -1, 2**62))
    if rng.random() < 0.05:
        held["buffers"][rng.randrange(len(held["buffers"]))] = None
    if rng.random() < 0.05:
        held["extension"] = rng.choice(("arrow.uuid", "arrow.json", "", "x" * 1000))
    return held


def _data(rng: Random, format: str, rows: int, inner: dict[str, Any] | None) -> list[bytes]:
    """The buffers behind the first, of so many rows."""
    if format in ("vu", "vz"):
        whole = b"".join(rng.choice(_TEXTS) for _ in range(4))
        return [b"".join(_view(rng, whole) for _ in range(rows)), whole, struct.pack("=q", len(whole))]
    if format in _OFFSETS:
        texts = [rng.choice(_TEXTS) for _ in range(rows)]
        ends = [0, *np.cumsum([len(text) for text in texts], dtype=int).tolist()]
        if rng.random() < 0.3:
            ends[rng.randrange(len(ends))] = rng.choice((-1, -(2**31), 0, ends[-1]))
        return [struct.pack(f"={len(ends)}{_OFFSETS[format]}", *ends), b"".join(texts)]
    width = _WIDTHS.get(format, 32)
    if format == "b":
        return [rng.randbytes((rows + 7) // 8)]
    integers = [*_INTEGERS, *range(inner["length"])] * (8 if inner is None else 1) if inner else _INTEGERS
    signed = [rng.choice(integers) & (1 << 8 * width) - 1 for _ in range(rows)]
    return [b"".join(each.to_bytes(width, "little") for each in signed)]


def _view(rng: Random, whole: bytes) -> bytes:
    """Sixteen bytes: length, then the text itself, or its beginning, buffer and place."""
    kind = rng.randrange(3)
    text = rng.choice(_TEXTS)[:12]
    if kind == 0:
        return struct.pack("=i12s", rng.choice((len(text), len(text), -1)), text)
    start = rng.choice((0, 1, len(whole) // 2, -1, 2**31 - 1))
    length = rng.choice((13, 14, len(whole), 2**31 - 1, -(2**31)))
    return struct.pack("=iIii", length, rng.getrandbits(32), rng.choice((0, 0, 0, 1, -1, 2**31 - 1)), start)


def _hex(raw: bytes | None) -> str | None:
    return None if raw is None else raw.hex()


def _made(held: dict[str, Any]) -> HandMade:
    buffers = [None if each is None else bytes.fromhex(each) for each in held["buffers"]]
    inner, extension = held.get("dictionary"), held.get("extension")
    made = HandMade(
        held["format"], held["length"], buffers, null_count=held["null_count"], offset=held["offset"],
        dictionary=None if inner is None else _made(inner),
        metadata=None if extension is None else extension_metadata(extension),
    )  # fmt: skip
    for name, value in held["lied"].items():
        setattr(made.array, name, value)
    return made


def read_arrow(raw: bytes) -> None:
    """As keys whole, as keys in pieces, and as values: each is released once at most, accepted or refused."""
    held = json.loads(raw)
    refused = []
    for use in (_as_keys, _as_values):
        made = _made(held)
        try:
            use(made)
        except ss.StablesketchError as error:
            refused.append(str(error))  # not the error, which holds the column by its traceback
        # What `update` refuses is held by the frames of its error, until they are collected.
        assert made.released == 1 or (use is _as_values and not made.released), f"released {made.released} times"
    if len(refused) == 2:
        raise ss.StablesketchError(max(refused, key=len))


def _as_keys(made: HandMade) -> None:
    column = FINGERPRINTER.column(made)
    rows = min(len(column), 64)
    whole = column.fingerprints(0, rows)
    parts = [column.fingerprints(start, min(start + 3, rows)) for start in range(0, rows, 3)]
    assert rows == 0 or np.array_equal(np.concatenate(parts), whole), "pieces differ from the whole"


def _as_values(made: HandMade) -> None:
    sketch = ss.Sketch(0.5, 1, ss.Secret.from_bytes(bytes(range(32))))
    empty = sketch.to_bytes()
    rows = max(0, min(made.array.length, 64))
    try:
        sketch.update(list(range(rows)), made)
    except ss.StablesketchError:
        assert sketch.to_bytes() == empty, "refused, and changed"
        raise
