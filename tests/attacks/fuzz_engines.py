"""What engines send between workers, and tables of stored collectors: Beam's accumulators, Spark's rows, `ss.merge`."""

from __future__ import annotations

import functools
import json
from random import Random
from typing import Any

import pyarrow as pa
from fuzz_mutate import NUMBERS, OTHERS, bytes_mutant, json_mutant
from fuzz_seeds import collector_mutant, collectors, plans, same, secret, shown

import stablesketch as ss
from stablesketch.bounding.groups import group_secret
from stablesketch.engines import failure
from stablesketch.engines.beam.travelled import Travelled
from stablesketch.engines.secret_from import SecretFrom, TheSecret
from stablesketch.engines.spark.work import Recipe
from stablesketch.format.checked_json import MOST_WHOLE

NAMES = (("eu",), ("us",))


# --- Beam ---


@functools.cache
def accumulators() -> list[bytes]:
    heads = [((), 0, []), (("eu", "é"), 17, ["text"]), (("2026-11-16T00:00:00Z",), 2**40, ["whole number", "UUID"])]
    return [Travelled(*head, blob).to_bytes() for head in heads for blob in collectors()[::3]]


def accumulator_mutant(rng: Random, raw: bytes) -> bytes:
    head, _, blob = raw.partition(b"\n")
    if rng.random() < 0.2:
        return bytes_mutant(rng, raw)
    if rng.random() < 0.5:
        return json_mutant(rng, head.decode()).encode("utf-8", "surrogatepass") + b"\n" + blob
    return head + b"\n" + collector_mutant(rng, blob)


def read_accumulator(raw: bytes) -> None:
    """As a worker reads it: the head, and then the collector within."""
    found = Travelled.from_bytes(raw)
    assert all(type(part) is str for part in (*found.name, *found.sorts))
    assert 0 <= found.people <= MOST_WHOLE
    same(Travelled.from_bytes(found.to_bytes()), found)
    shown(ss.Collector.from_bytes(found.state, secret()))


# --- Spark ---


@functools.cache
def rows() -> list[bytes]:
    """Rows of one group, as JSON: which kind of job, then name, states and failures."""
    plan, found = plans()[0], []
    for listed, name in ((False, "null"), (True, "1"), (False, json.dumps(["eu"]))):
        own = group_secret(secret(), NAMES[1]) if listed else secret()
        states = []
        for part in range(2):
            collector = plan.open(own, f"s/{part}")
            collector.update([*"abracadabra"])
            states.append(collector.to_bytes().hex())
        found.append(json.dumps({"listed": listed, "name": name, "state": states, "failure": [None] * 2}))
    return [text.encode() for text in found]


def row_mutant(rng: Random, raw: bytes) -> bytes:
    held = json.loads(raw)
    if rng.random() < 0.5:
        held["name"] = json_mutant(rng, held["name"] if rng.random() < 0.9 else "[]")
    else:
        column = held[rng.choice(("state", "failure"))]
        at = rng.randrange(2)
        if column is held["state"]:
            column[at] = rng.choice((None, column[1 - at], collector_mutant(rng, bytes.fromhex(column[at])).hex()))
        else:
            column[at] = rng.choice(("", "{}", failure.to_text(ss.MergeError("no"))))
    return json.dumps(held).encode("utf-8", "surrogatepass")


def merge_rows(raw: bytes) -> None:
    """As a worker merges them: whatever is wrong becomes a row with a typed error."""
    held = json.loads(raw)
    if any(0xD800 <= ord(each) < 0xE000 for each in held["name"]):
        return  # Arrow holds no such text
    recipe = Recipe(
        TheSecret(SecretFrom.callable(secret)), ("site",), names=NAMES if held["listed"] else None, shard="s"
    )
    states = [None if each is None else bytes.fromhex(each) for each in held["state"]]
    table = pa.table(
        {
            "name": pa.array([held["name"]] * 2, pa.string()), "state": pa.array(states, pa.binary()),
            "failure": pa.array(held["failure"], pa.string()),
        }
    )  # fmt: skip
    merged = recipe.merge(table).to_pylist()[0]
    if merged["failure"] is not None:
        raise failure.from_text(merged["failure"])
    assert merged["state"] is not None


@functools.cache
def failures() -> list[bytes]:
    errors = [ss.MergeError("two plans"), ss.DataError("file", "is odd", "Correct it", row=3), ss.BlobError("é" * 200)]
    return [failure.to_text(error).encode() for error in errors]


def read_failure(text: str) -> None:
    error = failure.from_text(text)
    assert isinstance(error, ss.StablesketchError)
    str(error)


# --- tables of stored collectors ---


@functools.cache
def tables() -> list[bytes]:
    """Rows of collectors, as a list of JSON: bytes in hexadecimal, or anything else."""
    found = []
    for plan in plans()[::4]:
        parts = []
        for part in ("mon", "tue"):
            collector = plan.open(secret(), part, shards=["mon", "tue"] if plan.deletes else None)
            collector.update([*"abracadabra"])
            parts.append(collector.to_bytes().hex())
        found.append(json.dumps(parts).encode())
    return found


def table_mutant(rng: Random, raw: bytes) -> bytes:
    parts: list[Any] = json.loads(raw)
    at = rng.randrange(len(parts))
    if rng.random() < 0.2:
        parts[at] = rng.choice([*NUMBERS, *OTHERS])
    elif rng.random() < 0.2:
        parts = rng.choice(([], [parts[0]] * 2, parts * 40))
    else:
        parts[at] = collector_mutant(rng, bytes.fromhex(parts[at])).hex()
    return json.dumps(parts).encode("utf-8", "surrogatepass")


def merge_table(raw: bytes) -> None:
    try:
        parts = [bytes.fromhex(each) if isinstance(each, str) else each for each in json.loads(raw)]
        column = pa.array(parts)
    except (ValueError, OverflowError, pa.ArrowException, TypeError):
        return  # no Arrow column holds it
    merged = ss.merge(pa.table({"collector": column}), secret=secret())
    shown(merged)
    same(ss.Collector.from_bytes(merged.to_bytes(), secret()).to_bytes(), merged.to_bytes())
