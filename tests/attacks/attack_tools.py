"""What the attacks share: forked processes that say how it went, mounts, and file attributes.

Everything is real: processes, mounts, links and attributes of files. What needs rights that the process lacks is
skipped, and the skip says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stablesketch as ss

NOBODY = 65534


class Forked:
    """A child that does some work and tells what came of it: {"done": ...}, {"refused": name, "says": ...}."""

    def __init__(self, work: Callable[[], object], *, gate: int | None = None, user: int | None = None) -> None:
        self._reading, writing = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(self._reading)
            try:
                if user is not None:
                    os.setgid(user)
                    os.setuid(user)
                if gate is not None:
                    os.read(gate, 1)
                said: dict[str, Any] = {"done": work()}
            except ss.StablesketchError as error:
                said = {"refused": type(error).__name__, "says": str(error)}
            except BaseException:
                said = {"broken": traceback.format_exc()}
            os.write(writing, json.dumps(said).encode())
            os._exit(0)
        os.close(writing)

    def says(self) -> dict[str, Any]:
        """What it said before it was gone; nothing if it was killed. An error nobody meant fails the test."""
        found = b""
        while more := os.read(self._reading, 65536):
            found += more
        os.close(self._reading)
        os.waitpid(self.process, 0)
        said: dict[str, Any] = json.loads(found) if found else {}
        assert "broken" not in said, said["broken"]
        return said


def race(*works: Callable[[], object]) -> list[dict[str, Any]]:
    """All of them at once, each in a process of its own: they wait at a gate until all are there."""
    gate_out, gate_in = os.pipe()
    children = [Forked(work, gate=gate_out) for work in works]
    os.write(gate_in, b"x" * len(works))
    said = [child.says() for child in children]
    os.close(gate_in)
    os.close(gate_out)
    return said


def filled(plan: ss.Plan, secret: ss.Secret | None = None, shard: str | None = None) -> ss.Collector:
    """A collector with some pairs in it."""
    collector = plan.open(secret, shard)
    collector.update(range(30))
    return collector


def releases_until_refused(plan: ss.Plan, path: Path, *, most: int = 60) -> int:
    """How many releases, each under a secret of its own, the ledger at this path lets one process make."""
    done = 0
    try:
        ledger = ss.Ledger(path)
        while done < most:
            filled(plan).release(ledger=ledger)
            done += 1
    except ss.BudgetExceeded:
        pass
    except ss.LedgerError as error:
        if "names (hard links)" not in str(error) and "mounted as a single file" not in str(error):
            raise
    return done


@contextlib.contextmanager
def mounted(*what: str | Path) -> Iterator[None]:
    """`mount` with these arguments, the last of which is the place; undone at the end."""
    done = subprocess.run(["mount", *map(str, what)], capture_output=True) if os.geteuid() == 0 else None
    if done is None or done.returncode:
        pytest.skip("SKIPPED ATTACK: mounting takes rights that this process lacks")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(what[-1])], check=True, capture_output=True)


@contextlib.contextmanager
def attribute(flag: str, path: Path) -> Iterator[None]:
    """chattr +i or +a, where the file system knows it and the process may."""
    if os.geteuid() != 0 or subprocess.run(["chattr", f"+{flag}", str(path)], capture_output=True).returncode:
        pytest.skip(f"SKIPPED ATTACK: chattr +{flag} takes rights or a file system that are not there")
    try:
        yield
    finally:
        subprocess.run(["chattr", f"-{flag}", str(path)], check=True, capture_output=True)


def hand_over(folder: Path) -> None:
    """All of a folder to an ordinary user, who can also reach it."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    for parent in folder.parents:
        if parent.stat().st_uid == 0 and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o011)
