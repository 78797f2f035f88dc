"""x86-64 processors that lack what this one has: the package as it is installed, run on emulated ones.

A tier that is compiled for instructions which the processor lacks must not run there, not even when it is loaded. Slow,
because emulation is.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys

import pytest

EMULATOR = "qemu-x86_64"
# The OpenBLAS of numpy 2.4.6 has AVX in its kernels for Westmere, and ends the import of numpy. What is tested is ours.
WITHOUT_AVX = {"OPENBLAS_CORETYPE": "Prescott"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the installed package is not one for x86-64"),
    pytest.mark.skipif(
        shutil.which(EMULATOR) is None,
        reason=f"older x86-64 processors NOT TESTED, no {EMULATOR}: apt-get install qemu-user",
    ),
]

PROGRAM = """
from stablesketch import Secret, Sketch
from stablesketch.sketch.workers import TIER

print(TIER)
for p in (0.05, 0.3, 0.5, 0.95, 1.0):
    sketch = Sketch(p, 7, Secret.from_bytes(bytes(range(32))))
    sketch.update(list(range(700)), [3**(i % 33) for i in range(700)])
    sketch.delete([f"page {i % 70}" for i in range(300)])
    print(sketch.to_bytes().hex())
"""


def output(*emulator: str) -> list[str]:
    command = [*emulator, sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **WITHOUT_AVX})
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    return done.stdout.split()


@pytest.mark.parametrize(
    ("processor", "tier"),
    [
        ("Westmere", "plain"),  # AES, but no AVX of any kind
        ("SandyBridge", "plain"),  # AVX and AES, but neither AVX2 nor FMA
        ("Haswell", "avx2"),
    ],
)
def test_the_same_bytes_on_older_processors(processor: str, tier: str) -> None:
    used, *blobs = output(EMULATOR, "-cpu", processor)
    assert used == tier
    assert blobs == output()[1:]
