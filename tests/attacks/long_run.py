"""The attacks at length: `python tests/attacks/long_run.py --kills 5000 --races 1000`, by default within 15 minutes.

Prints how often each fault was made and what came of it, for the table in docs/operations.md; ends with status 1 if one
value was released twice, one release was not recorded, or one that was paid for has no value. With --sqlite the same
kills hit a table of SQLite alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "ledger"))

from attack_tools import race, releases_until_refused
from kill_benches import Table, Together
from test_crashes import Bench, child_of, killed_at_random, printed_by
from test_crashes import race as race_for_one
from test_forks_and_threads import saved_while_released

import stablesketch as ss


def plans() -> dict[str, ss.Plan]:
    """Small ones, whose releases are quick."""
    asked = ss.Privacy(0.5, 1e-9, 0, relation="replace")
    found = {
        "bare": ss.plan(ss.Moment(0.5), replace(asked, epsilon=1.0), size=20, mechanism="bare"),
        "sketch": ss.plan(ss.Moment(0.5), asked, size=32, entries_per_key=16),  # in buckets
        "exact": ss.plan(ss.Moment(0.5), replace(asked, epsilon=0.1), mechanism="exact"),
        "part": ss.plan(ss.Moment(0.5), replace(asked, epsilon=0.4), size=20),
    }
    for plan in found.values():
        plan.open().release()
    return found


def kills(folder: Path, known: dict[str, ss.Plan], wanted: int, until: float) -> dict[str, dict[str, int]]:
    """SIGKILL at random moments, of four kinds of releases in turn.

    `check` of a bench raises if a value is not recorded, a record has no value, or a secret is released twice.
    """
    benches = {
        "one release, sketch in buckets with noise": Bench(folder / "sketch", known["sketch"]),
        "one release, bare sketch": Bench(folder / "bare", known["bare"]),
        "three together": Together(folder / "together", known["part"]),
        "a table of groups": Table(folder / "table"),
    }
    counted = {name: dict.fromkeys(("killed", "printed", "refused"), 0) for name in benches}
    rounds = 0
    while sum(each["killed"] for each in counted.values()) < wanted and time.monotonic() < until:
        name, bench = list(benches.items())[rounds % len(benches)]
        for what, count in killed_at_random(bench, 50, seed=rounds).items():
            counted[name][what] += count
        rounds += 1
    return {name: {**counted[name], **bench.found} for name, bench in benches.items()}


def races(folder: Path, known: dict[str, ss.Plan], wanted: int, until: float) -> dict[str, int]:
    """Four processes with one secret file and one ledger: one wins, and the others are told that it is spent."""
    benches = [Bench(folder / f"races {name}", known[name]) for name in ("sketch", "bare")]
    seen = {"races": 0, "values": 0}
    while seen["races"] < wanted and time.monotonic() < until:
        bench = benches[seen["races"] % 2]
        said = race_for_one(bench, 4, bench.release)
        seen["races"] += 1
        seen["values"] += sum("value" in one for one in said)
        assert sorted(one.get("refused", "") for one in said) == ["", *["SecretSpent"] * 3], said
        for one in said:
            if "value" in one:
                bench.saw(one)
        bench.check()
    return seen


def saves(folder: Path, known: dict[str, ss.Plan], wanted: int, until: float) -> dict[str, int]:
    """A thread saves while another releases: no fresh file is left."""
    (folder / "saves").mkdir()
    seen, rng = {"none": 0, "spent": 0, "fresh": 0}, random.Random(7)
    for number in range(wanted):
        if time.monotonic() > until:
            break
        plan = known[("sketch", "bare")[number // 2 % 2]]
        later = rng.uniform(0.0, 0.003)  # about as long as a save takes
        seen[saved_while_released(plan, folder / "saves", number, twin=("", "merged")[number % 2], later=later)] += 1
    return seen


def names(folder: Path, exact: ss.Plan, wanted: int, until: float) -> dict[str, int]:
    """Four processes spend a budget for 25 releases, with a hard link that comes and goes."""
    seen = {"rounds": 0, "released": 0, "recorded": 0}
    for number in range(wanted):
        if time.monotonic() > until:
            break
        budget, link = folder / f"budget {number}.db", folder / f"link {number}.db"
        ss.Ledger(budget, epsilon=2.5, delta=1e-12)

        def flicker(budget: Path = budget, link: Path = link) -> int:
            for _ in range(20):
                os.link(budget, link)
                time.sleep(0.002)
                link.unlink()
                time.sleep(0.01)
            return 0

        work: list[Callable[[], object]] = [lambda b=budget: releases_until_refused(exact, b) for _ in range(3)]  # type: ignore[misc]
        work += [lambda k=link: _through(exact, k), flicker]  # type: ignore[misc]
        seen["released"] += sum(one["done"] for one in race(*work))
        seen["released"] += releases_until_refused(exact, budget)
        seen["recorded"] += len(ss.Ledger(budget))
        ss.Ledger(budget).verify()
        seen["rounds"] += 1
    return seen


def _through(exact: ss.Plan, link: Path) -> int:
    """Releases through the second name, whenever it is there."""
    done, end = 0, time.monotonic() + 0.4
    while time.monotonic() < end:
        try:
            exact.open().release(ledger=ss.Ledger(link))
            done += 1
        except ss.LedgerError:
            pass
    return done


def sqlite_alone(folder: Path, wanted: int, until: float) -> dict[str, int]:
    """The same kills on one INSERT of SQLite (write-ahead log, synchronous = FULL): is every row there that it told?"""
    path, rng = folder / "alone.db", random.Random(5)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)")
    connection.close()
    seen, length, said = {"killed": 0, "printed": 0, "rows not said": 0, "rows lost": 0}, 0.0, set()

    def insert(pipe: int, number: int) -> None:
        connection = sqlite3.connect(path, timeout=60.0)
        connection.execute("PRAGMA synchronous = FULL")
        with connection:
            connection.execute("INSERT INTO t VALUES (?)", (number,))
        connection.close()
        os.write(pipe, json.dumps({"n": number}).encode())

    number = 0
    while seen["killed"] < wanted and time.monotonic() < until:
        number += 1
        child, reading = child_of(lambda pipe, n=number: insert(pipe, n))  # type: ignore[misc]
        began = time.monotonic()
        select.select([reading], [], [], rng.uniform(0.0, 1.2 * length) if number > 5 else None)
        os.kill(child, signal.SIGKILL)
        took, answer = time.monotonic() - began, printed_by(child, reading)
        if "n" in answer:
            said.add(number)
            seen["printed"] += 1
            length += (0.1 if length else 1.0) * (took - length)
        else:
            seen["killed"] += 1
            length *= 1.005
    connection = sqlite3.connect(path)
    rows = {row[0] for row in connection.execute("SELECT n FROM t")}
    connection.close()
    seen["rows lost"], seen["rows not said"] = len(said - rows), len(rows - said)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=5000)
    parser.add_argument("--races", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--sqlite", action="store_true")
    asked = parser.parse_args()
    known = plans()
    with tempfile.TemporaryDirectory() as name:
        folder, end = Path(name), time.monotonic() + 60.0 * asked.minutes
        work: dict[str, Callable[[], dict[str, Any]]] = {
            "saves while another thread releases": lambda: saves(folder, known, asked.races // 2, end),
            "races for one secret": lambda: races(folder, known, asked.races // 2, end),
            "a ledger with a second name": lambda: names(folder, known["exact"], asked.races // 50, end),
            "SIGKILL": lambda: kills(folder, known, asked.kills, end),
        }
        if asked.sqlite:
            work = {"SIGKILL, SQLite alone": lambda: sqlite_alone(folder, asked.kills, end)}
        found = {}
        for what, run in work.items():
            began = time.monotonic()
            found[what] = run()
            shown = "; ".join(f"{name}: {count}" for name, count in found[what].items())
            print(f"{what}: {shown} ({time.monotonic() - began:.0f} s)", flush=True)
    if asked.sqlite:
        return 0
    doubles = (
        found["saves while another thread releases"]["fresh"]
        + found["races for one secret"]["values"] - found["races for one secret"]["races"]
        + max(0, found["a ledger with a second name"]["released"] - found["a ledger with a second name"]["recorded"])
    )  # fmt: skip
    print(f"doubles: {doubles}")
    return int(doubles != 0)


if __name__ == "__main__":
    sys.exit(main())
