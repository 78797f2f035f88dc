"""What several fuzzed decoders begin with: plans of every kind of state, collectors of them, and their mutants."""

from __future__ import annotations

import functools
import struct
from random import Random

from fuzz_mutate import bytes_mutant, json_mutant, sealed, unsealed

import stablesketch as ss
from stablesketch.collector import wire
from stablesketch.format.framing import MAGIC, Kind, framed

LONGEST_REPR = 100_000


def secret() -> ss.Secret:
    """The same bits each time, and not yet spent."""
    return ss.Secret.from_bytes(bytes(range(32)))


@functools.cache
def plans() -> list[ss.Plan]:
    """One plan of every kind of state."""
    counts = ss.Privacy(1.0, 1e-6, 1000, relation="replace")
    values = ss.Privacy(2.0, 1e-6, 50, max_value=4, relation="replace")
    removed = ss.Privacy(4.0, 1e-6, 0, relation="add_remove")
    people = ss.Privacy(4.0, 1e-6, 100, max_value=9, unit="key", relation="replace")
    promised = ss.Privacy(1.0, 1e-6, 50, total=60, max_value=9, relation="replace")
    return [
        ss.plan(ss.Moment(0.5), removed, size=7),
        ss.plan(ss.Moment(0.9), values, size=5, deletes=True),
        ss.plan(ss.Moment(0.5), removed, size=7, mechanism="bare"),
        ss.plan(ss.Moment(0.5), counts, size=5, deletes=True, mechanism="bare"),
        ss.plan(ss.Moment(0.75), values, mechanism="exact"),
        ss.plan(ss.Total(), values, mechanism="bare"),
        ss.plan(ss.Shannon(), ss.Privacy(4.0, 1e-6, 300, relation="replace"), size=5, mechanism="bare"),
        ss.plan(ss.Distinct(), counts, size=64, mechanism="bare"),
        ss.plan(ss.Distinct(), counts, mechanism="exact"),
        ss.plan(ss.Hill(0.5), values, size=6, mechanism="bare"),
        ss.plan(ss.Profile([0, 0.5]), ss.Privacy(3.0, 1e-6, 100, relation="add_remove"), size=64, mechanism="bare"),
        ss.plan(ss.Atkinson(0.5), people, size=6, mechanism="bare"),
        ss.plan(ss.Moment(0.5), promised, size=5, mechanism="bare"),
        ss.plan(ss.Moment(0.5), counts, size=5, sampling=0.5, mechanism="bare"),
        ss.plan(ss.Moment(0.5), counts, size=5, sampling=ss.Sampling(0.5, per="entry"), mechanism="bare"),
        ss.plan(ss.Moment(1.5), values, size=5),
        ss.plan(ss.Moment(2.0), removed, size=5),
        ss.plan(ss.Shannon(), ss.Privacy(4.0, 1e-6, 300, relation="replace"), size=16),
        ss.plan(ss.Distinct(), removed),
        ss.plan(ss.Total(), values),
        ss.plan(ss.Hill(0.5), removed, size=6),
        ss.plan(ss.Profile([0, 0.5]), removed, size=64),
        ss.plan(ss.Atkinson(0.5), people, size=6),
        ss.plan(ss.Moment(0.5), removed, size=32, entries_per_key=8),
        ss.plan(ss.Moment(0.9), values, size=12, entries_per_key=6, deletes=True),
        ss.plan(ss.Shannon(), ss.Privacy(4.0, 1e-6, 300, relation="replace"), size=64, entries_per_key=16),
        ss.plan(ss.Profile([0, 0.5]), removed, size=64, entries_per_key=16),
    ]  # fmt: skip


@functools.cache
def collectors() -> list[bytes]:
    found = []
    for plan in plans():
        collector = plan.open(secret(), shard="eu-1", shards=["eu-1", "us-1"] if plan.deletes else None)
        collector.update([*"abracadabra"])
        found.append(collector.to_bytes())
    return found


def collector_mutant(rng: Random, blob: bytes) -> bytes:
    """One field changed and all lengths and checksums, those of the sketches within too, put right; or any bytes."""
    if rng.random() < 0.2:
        return sealed(bytes_mutant(rng, unsealed(blob)))
    plan, shards, expected, state = wire.decode(blob)
    which = rng.randrange(4)
    if which == 0:
        plan = json_mutant(rng, plan)
    elif which == 1:
        shards = rng.choice(([], ["a", "a"], ["b", "a"], [""], ["é" * 30_000], [*"abc"], shards * 2))
    else:
        state = _state_mutant(rng, state)
    raw, names = plan.encode("utf-8", "surrogatepass"), [wire.encode_names(shards)]
    if expected is not None:
        names.append(wire.encode_names(expected))
    kind = Kind.COLLECTOR if expected is None else Kind.COLLECTOR_OF_LISTED
    length = struct.pack("<Q", len(state))
    return framed(kind, struct.pack("<I", len(raw)), raw, *names, length, state)


def _state_mutant(rng: Random, state: bytes) -> bytes:
    """Of a state that has blobs within, one of them changed as a blob."""
    at = state.find(MAGIC)
    if at < 0 or rng.random() < 0.3:
        return bytes_mutant(rng, state)
    inner = rng.choice([i for i in range(len(state)) if state.startswith(MAGIC, i)])
    end = state.find(MAGIC, inner + 1)
    framed = inner >= 8 and int.from_bytes(state[inner - 8 : inner], "little") <= len(state) - inner
    length = int.from_bytes(state[inner - 8 : inner], "little") if framed else (end if end > 0 else len(state)) - inner
    changed = sealed(bytes_mutant(rng, unsealed(state[inner : inner + length])))
    before = state[: inner - 8] + struct.pack("<Q", len(changed)) if framed else state[:inner]
    return before + changed + state[inner + length :]


def shown(*objects: object) -> None:
    for each in objects:
        for text in (repr(each), str(each)):
            assert len(text) <= LONGEST_REPR, f"{type(each).__name__} prints {len(text):,} characters"


def same(again: object, before: object) -> None:
    assert again == before, "accepted, and written again as something else"
