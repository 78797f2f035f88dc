"""Every error the library raises on purpose: typed, naming the argument, its value and the way out.

All of them are a `StablesketchError`; those about arguments are also the built-in `ValueError` or `TypeError`, so that
code which knows nothing of this library catches them as it would expect to.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BlobError",
    "ForeignBlob",
    "MergeError",
    "NegativeTotal",
    "PlanInfeasible",
    "ReleasedAlready",
    "SecretFileError",
    "SecretMismatch",
    "SecretMissing",
    "SecretNotPicklable",
    "ShardMergedTwice",
    "StablesketchError",
    "StreamTooLong",
    "StreamTooShort",
    "UnsupportedVersion",
]


class StablesketchError(Exception):
    """The root of all errors raised on purpose by stablesketch."""


class ArgumentError(StablesketchError, ValueError):
    """An argument has a value the library will not use. `argument` and `value` say which; the message, what to do."""

    def __init__(self, argument: str, value: object, problem: str, way_out: str) -> None:
        self.argument = argument
        self.value = value
        super().__init__(f"{argument} = {_short(value)}: {problem}. {way_out.rstrip('.')}.")


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a type or dtype the library will not convert silently."""


class MergeError(StablesketchError, ValueError):
    """Two sketches cannot be added because they are not the same projection: p, size or secret differ."""


class SecretMissing(StablesketchError, RuntimeError):
    """The operation needs the secret, and this copy (unpickled, or read without one) does not have it."""


class SecretMismatch(StablesketchError, ValueError):
    """A secret was given that is not the one the blob was made with."""


class SecretNotPicklable(StablesketchError, TypeError):
    """A secret never leaves its process by pickle; save it to a file instead."""


class SecretFileError(StablesketchError, OSError):
    """A secret file is missing, malformed, readable by others, or already there."""


class BlobError(StablesketchError, ValueError):
    """Bytes that claim to be a sketch are truncated, corrupted or not in canonical form."""


class ForeignBlob(BlobError):
    """The bytes are not a stablesketch blob at all."""


class UnsupportedVersion(BlobError):
    """The blob was written by a newer version of the wire format than this library reads."""


class NegativeTotal(StablesketchError, ValueError):
    """The net stream has deleted more than it had: no frequency moment exists."""


class PlanInfeasible(StablesketchError, ValueError):
    """No mechanism reaches what was asked; the message says what would."""


class ReleasedAlready(StablesketchError, RuntimeError):
    """A collector releases once: a second release of one secret would reveal what the first one hid."""


class StreamTooShort(StablesketchError, ValueError):
    """The stream has fewer pairs than the plan was made for, so its guarantee would not hold."""


class StreamTooLong(StablesketchError, ValueError):
    """The stream has more pairs than the accounting of finite precision covers, where their number is private."""


class ShardMergedTwice(MergeError):
    """A shard was merged that is already in: its pairs would count twice."""


def _short(value: object) -> str:
    """A repr that never fills the screen, and never shows what a huge argument holds beyond its start."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
