"""Which file a name leads to, and whether it is the only name.

A file that is replaced by renaming, or that has other files beside it, must have exactly one name. Under a second one
(a hard link, or a mount of the single file, as containers get it) the files beside it are others, and a rename leaves
the second name where it was. Symbolic links, relative paths and mounts of whole folders are not second names: they lead
to the same entry of the same folder.
"""

from __future__ import annotations

import os
from pathlib import Path

Identity = tuple[int, int]  # device and inode
_MOUNTS = Path("/proc/self/mountinfo")


def identity_of(found: os.stat_result) -> Identity:
    """What tells files on one machine apart, whatever their names."""
    return found.st_dev, found.st_ino


def second_name(path: Path, found: os.stat_result) -> str | None:
    """What is wrong with the names of the file at this real path, and the way out; None if it has one name."""
    if found.st_nlink > 1:
        return (
            f"{path} has {found.st_nlink} names (hard links), and a change under one could leave the others as "
            "they were. "
            f"Find them with find -inum {found.st_ino}, and delete all but one"
        )
    if _is_mounted_alone(path, found):
        return f"{path} is mounted as a single file, apart from its folder. Mount its folder instead"
    return None


def leftovers(path: Path, found: os.stat_result) -> list[Path]:
    """Temporary names that a killed `durable.fill_new` left of this very file."""
    same = []
    try:
        for entry in os.scandir(path.parent):
            if entry.name.startswith(f".{path.name[:40]}-") and entry.inode() == found.st_ino:
                same.append(Path(entry.path))
    except OSError:
        pass
    return same


def _is_mounted_alone(path: Path, found: os.stat_result) -> bool:
    """Whether the system lists it as a mount point. Without a list, whether it is on another device than its folder.

    With a list the device says nothing: files and folders of one overlay may be on two.
    """
    try:
        with open(_MOUNTS, "rb") as mounts:
            return any(_unescaped(line.split(b" ")[4]) == os.fsencode(path) for line in mounts)
    except (OSError, IndexError):
        return os.stat(path.parent).st_dev != found.st_dev


def _unescaped(place: bytes) -> bytes:
    r"""Blanks, tabs, ends of lines and backslashes stand there as \040 and the like."""
    for code in (b"040", b"011", b"012", b"134"):
        place = place.replace(b"\\" + code, bytes([int(code, 8)]))
    return place
