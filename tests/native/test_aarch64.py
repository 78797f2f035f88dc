"""The same bits on aarch64: the compiled core, built by a cross compiler and run by an emulator, against the one here.

The table of X is compared double by double, the entries digit by digit. Slow, because emulation is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stablesketch import _native
from stablesketch.numbers import elementary
from stablesketch.sketch.entry_law import ENTROPY, EntryLaw

ROOT = Path(__file__).parents[2]
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
MISSING = [program for program in (COMPILER, EMULATOR) if shutil.which(program) is None]
KEY, DOMAIN, ROWS = bytes(range(16)), 7, 9_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING),
        reason=f"aarch64 NOT TESTED, no {' and no '.join(MISSING)}: apt-get install g++-aarch64-linux-gnu qemu-user",
    ),
    pytest.mark.skipif(sys.byteorder != "little", reason="the answer of the emulated program is little-endian"),
]

Step = tuple[int, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources that know nothing of Python."""
    sources = [source for source in (ROOT / "native").glob("*.cpp") if not source.name.startswith("bind_")]
    return compiled([*sources, Path(__file__).with_name("aarch64_main.cpp")], tmp_path_factory.mktemp("aarch64"))


def compiled(sources: list[Path], folder: Path) -> Path:
    """With the options of CMakeLists.txt, warnings being errors."""
    options = "-O3 -ffp-contract=off -fno-fast-math -Wall -Wextra"
    assert options in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    built = folder / "program"
    command = [COMPILER, "-std=c++20", *options.split(), "-Werror", "-static", "-pthread", f"-I{ROOT / 'native'}"]
    subprocess.run([*command, *sources, "-o", built], check=True)
    return built


def test_the_same_logarithms_and_exponentials(tmp_path: Path) -> None:
    """docs/math-elementary.md says that IEEE arithmetic fixes them to the bit."""
    rng = np.random.default_rng(6)
    numbers = np.concatenate([np.exp(rng.uniform(-700.0, 6.0, 5_000)), rng.uniform(-20.0, 20.0, 5_000), [0.0, 709.5]])
    program = compiled([Path(__file__).with_name("elementary_main.cpp")], tmp_path)
    done = subprocess.run([EMULATOR, program], input=numbers.tobytes(), capture_output=True, check=True)
    own = np.stack([elementary.log(numbers, 3.0), elementary.exp(numbers)], axis=1).tobytes()
    own += b"".join(each.tobytes() for each in elementary.exp_sums(numbers))
    assert done.stdout == own


def steps() -> list[Step]:
    """Updates and deletes: repeated and distinct keys, the extreme ones, weights of every length in bits."""
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 2**64, ROWS, dtype=np.uint64, endpoint=False)
    keys[::3] = rng.integers(0, 20, len(keys[::3]), dtype=np.uint64)
    keys[:2] = 0, 2**64 - 1
    weights = rng.integers(1, 2 ** rng.integers(1, 54, ROWS))
    heavy = np.full(1_100, 2**53)  # one key past 2^63: the fold has to let it go on the way
    return [(1, keys, weights), (-1, keys[500:2_500], weights[500:2_500]), (1, np.full(1_100, 3, np.uint64), heavy)]


LAWS = [
    *(EntryLaw("symmetric", p) for p in (0.05, 0.0512, 0.1, 0.2, 1 / 3, 0.5, 0.75, 0.9, 0.95, 1.0)),
    *(EntryLaw("one-sided", p) for p in (0.05, 0.5, 0.9, 0.999)),
]
IN_BUCKETS = [(EntryLaw("one-sided", 0.5), 3), (EntryLaw("one-sided", 0.9), 50), (ENTROPY, 7)]


@pytest.mark.parametrize(("law", "buckets"), [*((law, 1) for law in LAWS), *IN_BUCKETS])
def test_the_same_bits(program: Path, law: EntryLaw, buckets: int) -> None:
    size, expected_rows = 5 if buckets == 1 else 4 * buckets, 4_000
    accumulator = _native.Accumulator(law, size, KEY, DOMAIN, expected_rows, _native.tier_names()[0], buckets)
    given = b""
    for sign, keys, weights in steps():
        accumulator.add(keys, weights, sign < 0)
        given += np.int64(sign).tobytes() + np.uint64(len(keys)).tobytes() + keys.tobytes() + weights.tobytes()
    entries = _native.Entries(law, size, buckets)
    entries.absorb([accumulator])
    rows, *numbers = _native.table(law)

    words = [law.kind, law.p.hex(), str(size), KEY.hex(), str(DOMAIN), str(expected_rows), str(buckets)]
    ran = subprocess.run([EMULATOR, program, *words], input=given, capture_output=True, check=True)
    assert ran.stderr == b"plain\n"
    table = rows.tobytes() + _native.deep_rows(law).tobytes()
    middle = 12 + len(table)
    assert np.frombuffer(ran.stdout[:12], np.int32).tolist() == numbers
    assert ran.stdout[12:middle] == table, "the table of X differs"
    assert ran.stdout[middle:] == entries.state(), "the entries differ"
