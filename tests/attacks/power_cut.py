"""Power cuts, simulated: what a release writes is recorded call by call (strace), and what was not synced is lost.

The calls of a real release to files (open, write, truncate, rename, link, unlink, sync) are replayed in a model of a
disk: a file has what was there at its last sync, and writes since then that may be on the disk or not, in any order;
a folder has the names of its last sync, and changes since then, of which the first so many are on the disk. A power cut
after any call then leaves one of many states: none of what was not synced, all of it, or some.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Call", "left_behind", "recorded_calls"]

_TRACED = "openat,write,pwrite64,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,fsync,fdatasync"
_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SECTOR = 512


@dataclass(frozen=True)
class Call:
    """One call that succeeded: its name, the handle, the names of files, data, and the number at the end."""

    name: str
    handle: int
    texts: tuple[bytes, ...]
    number: int
    flags: str
    result: int


def recorded_calls(script: str, folder: Path) -> list[Call]:
    """What this Python program does to files, in order. It runs in the folder."""
    log = folder.parent / "calls.log"
    command = ["strace", "-f", "-xx", "-s", "10000000", "-e", f"trace={_TRACED}", "-o", str(log), sys.executable, "-c"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, script], cwd=folder, check=True, env=environment, capture_output=True)
    calls = []
    for line in log.read_text().splitlines():
        found = _CALL.match(line)
        if found is None or int(found[3]) < 0:
            continue
        name, arguments, result = found[1], found[2], int(found[3])
        texts = tuple(bytes.fromhex(text.replace("\\x", "")) for text in _TEXT.findall(arguments))
        rest = _TEXT.sub("", arguments)
        numbers = re.findall(r"-?\d+", rest)
        handle = int(numbers[0]) if numbers and rest[:1].isdigit() else -1
        calls.append(Call(name, handle, texts, int(numbers[-1]) if numbers else 0, rest, result))
    return calls


@dataclass
class _File:
    synced: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)  # (place, data), or (length, None) for a cut

    def some(self, rng: random.Random | None, everything: bool) -> bytes:
        content = bytearray(self.synced)
        for at, data in self.since:
            if not everything and (rng is None or rng.random() < 0.5):
                continue
            if data is None:
                content = content[:at].ljust(at, b"\0")
                continue
            if rng is not None and len(data) > _SECTOR and rng.random() < 0.3:
                data = data[: _SECTOR * rng.randrange(1, len(data) // _SECTOR + 1)]  # torn
            content = content.ljust(at + len(data), b"\0")
            content[at : at + len(data)] = data
        return bytes(content)


class _Disk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.synced = {path.name: _File(path.read_bytes()) for path in folder.iterdir()}
        self.names = dict(self.synced)
        self.since: list[dict[str, _File]] = []  # the names after each change that was not synced
        self.open: dict[int, _File | None] = {}
        self.places: dict[int, int] = {}

    def _name(self, text: bytes) -> str | None:
        path = Path(os.fsdecode(text))
        return path.name if (self.folder / path).parent == self.folder else None

    def _renamed(self, names: dict[str, _File]) -> None:
        self.names = names
        self.since.append(names)

    def do(self, call: Call) -> None:
        file = self.open.get(call.handle)
        if call.name == "openat":
            self._open(call)
        elif call.name in ("write", "pwrite64") and file is not None:
            at = call.number if call.name == "pwrite64" else self.places[call.handle]
            file.since.append((at, call.texts[0][: call.result]))
            self.places[call.handle] = at + call.result
        elif call.name == "ftruncate" and file is not None:
            file.since.append((call.number, None))
        elif call.name in ("fsync", "fdatasync"):
            if file is not None:
                file.synced, file.since = file.some(None, True), []
            elif call.handle in self.open:  # the folder
                self.synced, self.since = dict(self.names), []
        elif call.name.startswith(("rename", "link", "unlink")):
            inside = [self._name(text) for text in call.texts]
            names = dict(self.names)
            if inside[0] is None or inside[0] not in names:
                return
            if not call.name.startswith("unlink") and inside[1] is not None:
                names[inside[1]] = names[inside[0]]
            if not call.name.startswith("link"):
                del names[inside[0]]
            self._renamed(names)

    def _open(self, call: Call) -> None:
        self.open.pop(call.result, None)
        name = self._name(call.texts[0])
        if Path(os.fsdecode(call.texts[0])) == self.folder:
            self.open[call.result] = None
        elif name is not None:
            if name not in self.names and "O_CREAT" in call.flags:
                self._renamed({**self.names, name: _File()})
            self.open[call.result] = self.names.get(name)
            self.places[call.result] = 0

    def cut(self, target: Path, rng: random.Random | None, everything: bool) -> None:
        """Writes into a new folder what is on the disk after a power cut now."""
        states = [self.synced, *self.since]
        names = states[-1] if everything else states[0] if rng is None else rng.choice(states)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for name, file in names.items():
            if not name.endswith("-shm"):  # shared memory: it does not survive, and is made anew
                (target / name).write_bytes(file.some(rng, everything))
                (target / name).chmod(0o600)


def left_behind(before: Path, calls: list[Call], count: int, target: Path, seed: int) -> bool:
    """A power cut after `count` calls: seed 0 loses all that was not synced, 1 nothing, others some. Was it printed?"""
    disk = _Disk(before)
    for call in calls[:count]:
        disk.do(call)
    disk.cut(target, random.Random(seed) if seed > 1 else None, seed == 1)
    return any(call.name == "write" and call.handle == 1 for call in calls[:count])
