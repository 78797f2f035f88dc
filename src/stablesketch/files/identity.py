"""Which file a name leads to, and whether it is the only name.

A file that is replaced by renaming, or that has companion files, must have exactly one name. Under a second name (a
hard link, or a mount of the single file, as in containers) the companion files differ, and a rename leaves the second
name behind. Symbolic links, relative paths and mounts of whole folders are not second names: they lead to the same
entry of the same folder.
"""

from __future__ import annotations

import os
from pathlib import Path

Identity = tuple[int, int]  # device and inode
_MOUNTS = Path("/proc/self/mountinfo")


def identity_of(found: os.stat_result) -> Identity:
    """What tells the files of one machine apart, whatever their names."""
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
    """Whether the system lists it as a mount point. Without a list, whether its device differs from its folder's.

    If there is a list, the device proves nothing: files and folders of one overlay can be on two devices.
    """
    try:
        with open(_MOUNTS, "rb") as mounts:
            return any(_unescaped(line.split(b" ")[4]) == os.fsencode(path) for line in mounts)
    except (OSError, IndexError):
        return os.stat(path.parent).st_dev != found.st_dev


def _unescaped(place: bytes) -> bytes:
    r"""The list has spaces, tabs, line ends and backslashes as \040 and the like."""
    for code in (b"040", b"011", b"012", b"134"):
        place = place.replace(b"\\" + code, bytes([int(code, 8)]))
    return place
