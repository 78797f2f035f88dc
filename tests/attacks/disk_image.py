"""Power cuts on a real file system: a release on a disk image is killed, and the image copied as it is at that moment.

The image is ext4 on a loop device. A copy of its file has what the file system had written to the device by then, and
lacks what was still in memory, as after a power cut. It is mounted elsewhere, which replays the journal, and must hold
what Bench.check of tests/ledger/test_crashes.py says. power_cut.py goes further in one thing: there the device may also
lose what it was given and not told to keep.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ledger"))

from attack_tools import mounted
from test_crashes import Bench, child_of, printed_by

import stablesketch as ss
from stablesketch.ledger import composition

_IMAGE_BYTES = 24 << 20


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[tuple[Path, Path]]:
    """(image, where it is mounted) of a fresh file system."""
    image, place = folder / "disk.img", folder / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("SKIPPED ATTACK: there is no mkfs.ext4")
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True, capture_output=True)
    with mounted("-o", "loop", image, place):
        yield image, place


def synced(place: Path) -> None:
    """Everything on the file system, and on no other, is written to its device."""
    handle = os.open(place, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(handle):
            raise OSError(ctypes.get_errno(), "syncfs failed")
    finally:
        os.close(handle)


def cut(folder: Path, plan: ss.Plan, times: int, seed: int, until: float = float("inf")) -> dict[str, int]:
    """So many releases, each cut off at a random moment; how often the disk had what afterwards."""
    rng, length = random.Random(seed), 0.0
    with disk(folder) as (image, place):
        bench = Bench(place / "bench", plan)
        found, printed = dict.fromkeys(bench.found, 0), 0
        for number in range(times):
            if time.monotonic() > until:
                break
            synced(place)
            child, reading = child_of(lambda pipe: os.write(pipe, bench.release().encode()) and None)
            began = time.monotonic()
            ready, _, _ = select.select([reading], [], [], rng.uniform(0.0, 1.2 * length) if number >= 3 else None)
            os.kill(child, signal.SIGKILL)
            shutil.copyfile(image, folder / "copy.img")
            if ready:
                length += (0.1 if length else 1.0) * (time.monotonic() - began - length)
            said = printed_by(child, reading)
            if "value" in said:
                bench.saw(said)
                printed += 1
            _check_copy(folder, bench, found)
            bench.check()
    return {**found, "printed": printed}


def _check_copy(folder: Path, bench: Bench, found: dict[str, int]) -> None:
    place = folder / "after"
    place.mkdir(exist_ok=True)
    with mounted("-o", "loop", folder / "copy.img", place):
        after = copy.copy(bench)
        after.folder = place / "bench"
        after.budget, after.secret, after.blob = (
            after.folder / one.name for one in (bench.budget, bench.secret, bench.blob)
        )
        after.printed, after.expected, after.found = dict(bench.printed), dict(bench.expected), found
        composition.forget()
        after.check()
