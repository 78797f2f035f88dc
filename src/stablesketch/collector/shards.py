"""The names of shards: checked where a collector is opened."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ArgumentError

__all__ = ["checked_shard", "checked_shards"]


def checked_shard(shard: str) -> str:
    """The name of one shard."""
    if not _is_name(shard):
        raise ArgumentError("shard", shard, "not the name of a shard", 'Pass a short text such as "eu-1"')
    return shard


def checked_shards(shards: Iterable[str], shard: str | None) -> frozenset[str]:
    """The list of all shards, the one to be opened among them."""
    names = [shards] if isinstance(shards, str) else list(shards)
    if isinstance(shards, str) or not names or not all(_is_name(name) for name in names):
        raise ArgumentError("shards", shards, "not a list of names of shards", 'Pass one such as ["eu-1", "us-1"]')
    if len(set(names)) < len(names):
        raise ArgumentError("shards", names, "a name stands there twice", "List each once")
    if shard is None or shard not in names:
        raise ArgumentError(
            "shard", shard, "not in the list of shards", "Pass the name that this shard has in the list"
        )
    return frozenset(names)


def _is_name(shard: object) -> bool:
    """Text that UTF-8 can write in 1 to 65535 bytes."""
    try:
        return isinstance(shard, str) and 0 < len(shard.encode()) < 2**16
    except UnicodeEncodeError:
        return False
