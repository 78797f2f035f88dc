"""Mutants of everything that is read, checksums repaired: a typed error or a sound object, never anything else.

The mutants are the same in every run. More of them: `python tests/attacks/fuzz_decoders.py --inputs 1000000`, or
STABLESKETCH_FUZZ_INPUTS=1000000 with the slow tests.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz_decoders import corpus, judged
from fuzz_seeds import collectors, plans
from fuzz_targets import BY_NAME, TARGETS, Target

from stablesketch.collector import wire

SCRIPT = Path(__file__).with_name("fuzz_decoders.py")
MADE = ("row", "arrow")  # without a seed


def run(inputs: int, seed: int) -> None:
    """In a process of its own, whose memory is limited: a crash or a gigabyte is a finding, not the end."""
    command = [sys.executable, str(SCRIPT), "--inputs", str(inputs), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    whole = sum(inputs // len(TARGETS) // target.slow for target in TARGETS)
    assert f"{whole:,} inputs, 0 kinds of untyped errors" in done.stdout


def test_some_mutants() -> None:
    """A hundred of each decoder, fewer of slow ones; thousands in the slow tests."""
    run(100 * len(TARGETS), seed=1)


@pytest.mark.slow
def test_many_mutants() -> None:
    run(int(os.environ.get("STABLESKETCH_FUZZ_INPUTS", "100000")), seed=2)


@pytest.mark.parametrize(("target", "raw"), [pytest.param(*each, id=each[0].name) for each in corpus()])
def test_what_broke_a_decoder_once_does_not_again(target: Target, raw: bytes) -> None:
    assert judged(target, raw) in (None, "accepted")


@pytest.mark.parametrize(
    "target", [pytest.param(target, id=target.name) for target in TARGETS if target.name not in MADE]
)
def test_the_seeds_themselves_are_read(target: Target) -> None:
    """Or the mutants would all be refused for one reason. Some states lack the pairs that their plans promise."""
    found = [judged(target, seed) for seed in target.seeds()]
    assert "accepted" in found
    assert all(each in (None, "accepted") for each in found)


ENDS = (5e-324, 1e-200, 1e200, 1.7e308)
ONCE_BROKEN = {("F_0.5", "bare", 1), ("F_0.5", "sketch", 4), ("Hill number of order 0.5", "sketch", 1)}


def test_numbers_of_a_plan_at_the_ends_of_what_floats_hold() -> None:
    """Noise of 1e225 once overflowed when the plan was printed, or released from buckets; a bare grid of 5e-324 too."""
    chosen = {(str(plan.statistic), plan.mechanism, plan.buckets): number for number, plan in enumerate(plans())}
    assert chosen.keys() >= ONCE_BROKEN
    check_ends([chosen[each] for each in ONCE_BROKEN])


@pytest.mark.slow
def test_every_number_of_every_plan_at_the_ends_of_what_floats_hold() -> None:
    check_ends(range(len(plans())))


def check_ends(chosen: Iterable[int]) -> None:
    """Plans of fuzz_targets.py with one number changed are refused with a typed error, or printed and released."""
    for number in chosen:
        text = plans()[number].to_json()
        _, shards, expected, state = wire.decode(collectors()[number])
        for place, end in itertools.product(_floats(json.loads(text)), ENDS):
            changed = _with(text, place, end)
            blob = wire.encode(changed, shards, expected, state)
            for target, raw in (("plan", changed.encode()), ("released", blob)):
                assert judged(BY_NAME[target], raw) in (None, "accepted"), (plans()[number].statistic, place, end)


def _floats(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each float of a tree of JSON."""
    if isinstance(tree, float):
        yield at
    elif isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from _floats(tree[key], (*at, key))


def _with(text: str, place: tuple[Any, ...], number: float) -> str:
    tree = json.loads(text)
    holder = tree
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = number
    return json.dumps(tree, sort_keys=True, separators=(",", ":"))
