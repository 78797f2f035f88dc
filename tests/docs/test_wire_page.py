"""docs/wire-format.md against the code: the annotated blob is regenerated, and the sizes are measured again."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import stablesketch as ss
from stablesketch._native import Entries
from stablesketch.format.framing import NAMES, Kind
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.entry_values import entry_bytes

PAGE = (Path(__file__).parents[2] / "docs" / "wire-format.md").read_text(encoding="utf-8")
ORDERS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def blob_of_the_page() -> bytes:
    sketch = ss.Sketch(p=0.5, size=3, secret=ss.Secret.from_bytes(bytes(range(32))), law="symmetric")
    sketch.update(["ape", "bee", "ape"])
    return sketch.to_bytes()


def annotated(blob: bytes) -> Iterator[str]:
    """One line for each field: offset, bytes, what they mean."""

    def line(start: int, stop: int, meaning: str) -> str:
        return f"{start:3d}  {blob[start:stop].hex(' '):<27} {meaning}"

    version, kind, p, size, resolution = struct.unpack_from("<HHdIH", blob, 8)
    yield line(0, 8, "magic")
    yield line(8, 10, f"version {version}")
    yield line(10, 12, f"kind {kind}: a sketch")
    yield line(12, 20, f"p = {p}")
    yield line(20, 24, f"size: {size} entries")
    yield line(24, 26, f"resolution q = {resolution}")
    yield line(26, 34, "fingerprint of the secret")
    position = 34
    for name in ("pairs", "total", *(f"a_{j}" for j in range(size))):
        length = blob[position]
        value = int.from_bytes(blob[position + 1 : position + 1 + length], "little", signed=True)
        real = f" · 2^-{resolution} = {value / 2**resolution:.6f}" if name.startswith("a_") else ""
        yield line(position, position + 1 + length, f"{name} = {value}{real}")
        position += 1 + length
    yield line(position, position + 8, "checksum")
    assert position + 8 == len(blob)


def test_the_annotated_blob_is_what_the_code_writes() -> None:
    match = re.search(r"<!-- made by tests/docs/test_wire_page.py -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert match is not None
    expected = "".join(f"{text}\n" for text in annotated(blob_of_the_page()))
    assert match.group(1) == expected, f"the block should read\n\n{expected}"


def test_the_page_has_every_kind() -> None:
    rows = re.findall(r"^\| (\d+) \| \[(.*?)\]\(.*?\|.*?\| `(.*?)` \|$", PAGE, re.MULTILINE)
    assert {Kind(int(number)): (what, read) for number, what, read in rows} == NAMES
    assert NAMES.keys() == set(Kind)


def table() -> dict[float, tuple[int, list[float]]]:
    """The table of sizes: p to (q, mean bytes at 1, 10^3, 10^6 and 10^9 keys)."""
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \|((?: [\d.]+ \|){4})$", PAGE, re.MULTILINE)
    return {float(p): (int(q), [float(cell) for cell in cells.split("|")[:-1]]) for p, q, cells in rows}


def test_the_table_has_every_order() -> None:
    assert tuple(table()) == ORDERS


@pytest.mark.parametrize("p", ORDERS)
def test_resolution(p: float) -> None:
    formula = 54 + math.floor((1.0 / p) * (-math.log(p) - 1.0) / math.log(2.0))
    assert table()[p][0] == Entries(EntryLaw("symmetric", p), 1).resolution == formula


@pytest.mark.parametrize("p", ORDERS)
def test_bytes_an_entry_by_the_law(p: float) -> None:
    """The page rounds to one decimal (by 0.05 at most), and the mean of 100,000 draws has a standard error below 0.02:
    the tolerance is five of them beyond the rounding. False alarms, were the seed another: below 1e-4 in all.
    """
    q, claimed = table()[p]
    logs, _ = ss.StableLaw(p).sample_logs(100_000, np.random.default_rng(20))
    for keys, mean in zip((1, 10**3, 10**6, 10**9), claimed, strict=True):
        bits = np.floor(logs / math.log(2.0) + math.log2(keys) / p + q) + 1.0
        measured = np.mean(np.where(bits < 1.0, 1.0, bits // 8.0 + 2.0))
        assert measured == pytest.approx(mean, abs=0.15)
        formula = 1.6 + (q + math.log2(keys) / p + 0.83 * (1.0 / p - 1.0)) / 8.0
        assert formula == pytest.approx(mean, abs=0.4)


@pytest.mark.parametrize("p", ORDERS)
def test_bytes_an_entry_of_real_keys(p: float) -> None:
    """A sketch of 1,000 keys under a fixed secret, 400 entries. Not random: it cannot fail by chance once it passes."""
    sketch = ss.Sketch(p=p, size=400, secret=ss.Secret.from_bytes(bytes(32)), law="symmetric")
    sketch.update(np.arange(1_000))
    overhead = 34 + 3 + 3 + 8
    assert (len(sketch.to_bytes()) - overhead) / 400 == pytest.approx(table()[p][1][1], abs=1.0)


@pytest.mark.parametrize("pairs", [10**3, 10**5, 10**7])
@pytest.mark.parametrize(("p", "q"), [(0.25, 68), (0.5, 56), (0.75, 52)])
def test_bytes_an_entry_that_is_one_sided(p: float, q: int, pairs: int) -> None:
    """The formula of the page and of plans, against sketches of a skewed stream. Not random: the secret is fixed."""
    assert f"{q}" in re.search(r"have more of them: ([\d, and]+) at p = 0.25, 0.5 and 0.75", PAGE)[1]  # type: ignore[index]
    assert Entries(EntryLaw("one-sided", p), 1).resolution == q
    shares = 1.0 / np.arange(1, int(pairs**0.7))
    totals = np.maximum(1, (pairs * shares / shares.sum()).astype(np.int64))
    sketch = ss.Sketch(p=p, size=200, secret=ss.Secret.from_bytes(bytes(32)), law="one-sided")
    sketch.update(np.arange(len(totals)), totals)
    moment = float(np.sum(totals.astype(np.float64) ** p))
    formula = 1.6 + (q + math.log2(moment) / p + 0.83 * (1.0 / p - 1.0)) / 8.0
    assert entry_bytes(p, moment) == pytest.approx(formula, rel=1e-12)
    assert (len(sketch.to_bytes()) - 34 - 6 - 8) / 200 == pytest.approx(formula, rel=0.03)
