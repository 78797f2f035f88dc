"""Mutants of everything that is read, checksums repaired: a typed error or a sound object, never anything else.

The mutants are the same in every run. More of them: `python tests/attacks/fuzz_decoders.py --inputs 1000000`, or
STABLESKETCH_FUZZ_INPUTS=1000000 with the slow tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_decoders import corpus, judged
from fuzz_targets import TARGETS, Target

SCRIPT = Path(__file__).with_name("fuzz_decoders.py")


def run(inputs: int, seed: int) -> None:
    """In a process of its own, whose memory is limited: a crash or a gigabyte is a finding, not the end."""
    command = [sys.executable, str(SCRIPT), "--inputs", str(inputs), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert f"{inputs // len(TARGETS) * len(TARGETS):,} inputs, 0 kinds of untyped errors" in done.stdout


def test_some_mutants() -> None:
    run(4_200, seed=1)


@pytest.mark.slow
def test_many_mutants() -> None:
    run(int(os.environ.get("STABLESKETCH_FUZZ_INPUTS", "100000")), seed=2)


@pytest.mark.parametrize(("target", "raw"), [pytest.param(*each, id=each[0].name) for each in corpus()])
def test_what_broke_a_decoder_once_does_not_again(target: Target, raw: bytes) -> None:
    assert judged(target, raw) in (None, "accepted")


@pytest.mark.parametrize("target", [pytest.param(target, id=target.name) for target in TARGETS if target.name != "row"])
def test_the_seeds_themselves_are_read(target: Target) -> None:
    """Or the mutants would all be refused for one reason. Some states lack the pairs that their plans promise."""
    found = [judged(target, seed) for seed in target.seeds()]
    assert "accepted" in found
    assert all(each in (None, "accepted") for each in found)
