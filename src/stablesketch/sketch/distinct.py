"""`DistinctRegisters`: the number of distinct keys of a stream, in a few kilobytes, whatever its length.

Every distinct key draws a register and a value from a pseudorandom function of the secret. A register is a function of
the set of values drawn for it (native/registers.hpp); register_law.py derives the number of keys from the registers. So
the state depends only on the set of keys, not on order or repetitions, and a merge is the union. A register has 32
bits, and the relative error is 0.344/sqrt(registers): 1.1% in 4 KiB. That is 24% less than the error of HyperLogLog
with 6 bits in as many bytes.

The pseudorandom function is AES under a key of this purpose, applied to (fingerprint, 0, domain); phantoms have a
domain of their own. An integer is its own fingerprint, so AES alone hides which keys there are.
"""

from __future__ import annotations

import struct
import threading

import numpy as np
from numpy.typing import NDArray

from .._native import registers_add
from ..errors import ArgumentError, BlobError, MergeError, SecretMismatch, SecretMissing, check_type
from ..format.framing import FRAME_BYTES, Kind, framed, unframed
from ..numbers.checked import checked_whole
from ..secret import Secret
from . import register_law
from .columns import Fingerprinter
from .register_law import LARGEST, WINDOW
from .workers import CHUNK, TIER, Worker, checked_threads, holding, share

FEWEST, MOST = 64, 1 << 22
_HEADER = struct.Struct("<I8s")  # registers, fingerprint of the secret
_SHIFT = np.uint32(WINDOW)
_WINDOW_MASK = np.uint32((1 << WINDOW) - 1)

# The purpose of a block: its domain word.
_STREAM = 0
_PHANTOMS = 1

RegisterWords = NDArray[np.uint32]


class DistinctRegisters:
    """Counts distinct keys with `registers` registers of four bytes, from 64 to 2^22, under `secret`.

    This is the plain sketch: nothing here accounts for privacy (privacy/distinct.py does).

    >>> counted = DistinctRegisters(1024, Secret.from_bytes(bytes(range(32))))
    >>> counted.add(["ape", "bee", "ape"])
    3
    >>> round(counted.estimate())
    2
    """

    __slots__ = ("_fingerprinter", "_key", "_lock", "_registers", "_secret_fingerprint")  # no vars() that shows keys

    def __init__(self, registers: int, secret: Secret) -> None:
        check_type("secret", secret, Secret, "must be a Secret", "Pass Secret.generate() or Secret.load(path)")
        count = checked_registers(registers)
        self._start(np.zeros(count, np.uint32), secret.fingerprint, secret)

    def _start(self, registers: RegisterWords, secret_fingerprint: bytes, secret: Secret | None) -> None:
        self._registers = registers
        self._secret_fingerprint = secret_fingerprint
        self._key = None if secret is None else secret.derive("distinct/registers", 16)
        self._fingerprinter = None if secret is None else Fingerprinter.of(secret)
        self._lock = threading.RLock()

    @property
    def registers(self) -> int:
        """The number of registers."""
        return len(self._registers)

    def add(self, keys: object, *, threads: int | None = None) -> int:
        """Counts a column of keys, of any type that `Sketch.update` takes, and returns the number of rows.

        Keys that were counted before change nothing. Bad input raises an `ArgumentError` and leaves the registers
        unchanged. Safe to call from several threads.
        """
        key, workers = self._need_key("add"), checked_threads(threads)
        assert self._fingerprinter is not None  # it exists whenever the key does
        column = self._fingerprinter.column(keys)
        parts: list[RegisterWords] = []

        def start(_: int) -> Worker:
            own = self._registers.copy()  # every worker starts from these: their union contains them once
            parts.append(own)
            return lambda begin, end: registers_add(own, column.fingerprints(begin, end), key, _STREAM, TIER)

        with self._lock:
            share(len(column), workers, start)
            self._registers = _united(parts)
        return len(column)

    def add_fingerprints(self, fingerprints: NDArray[np.uint64]) -> None:
        """Counts keys by their fingerprints under the secret: a few nanoseconds each, in one thread."""
        key = self._need_key("add_fingerprints")
        with self._lock:
            registers_add(self._registers, fingerprints, key, _STREAM, TIER)

    def add_phantoms(self, count: int) -> None:
        """Counts the phantom keys 0, ..., count - 1, which no key of a stream can equal. Repeating has no effect."""
        key = self._need_key("add_phantoms")
        count = checked_whole("count", count, "Pass the number of phantoms")
        if count < 0:
            raise ArgumentError("count", count, "must not be negative", "Pass the number of phantoms")
        with self._lock:
            for start in range(0, count, CHUNK):
                some = np.arange(start, min(start + CHUNK, count), dtype=np.uint64)
                registers_add(self._registers, some, key, _PHANTOMS, TIER)

    def _need_key(self, operation: str) -> bytes:
        if self._key is None:
            raise SecretMissing(
                f"{operation} needs the secret, but these registers were read without it. "
                "Use DistinctRegisters.from_bytes(blob, secret)."
            )
        return self._key

    def merge(self, other: DistinctRegisters) -> None:
        """Adds the keys of `other`, which must have the same number of registers and the same secret."""
        way_out = "Read stored bytes with DistinctRegisters.from_bytes first"
        check_type("other", other, DistinctRegisters, "must be DistinctRegisters", way_out)
        if other.registers != self.registers:
            raise MergeError(
                f"{self.registers} and {other.registers} registers cannot be merged: use the same number in every "
                "shard."
            )
        if other._secret_fingerprint != self._secret_fingerprint:
            raise MergeError("registers under different secrets cannot be merged: give every shard the same secret.")
        with holding(self._lock, other._lock):
            self._registers = _united([self._registers, other._registers])

    def _snapshot(self) -> RegisterWords:
        with self._lock:
            return self._registers.copy()

    def estimate(self) -> float:
        """The number of distinct keys counted, phantoms included; `register_law.deviation` is its deviation."""
        return register_law.estimate(self._snapshot())

    def to_bytes(self) -> bytes:
        """The registers as bytes: canonical, always of the same length, without the secret.

        The format is in docs/wire-format.md.
        """
        held = self._snapshot()
        header = _HEADER.pack(len(held), self._secret_fingerprint)
        return framed(Kind.REGISTERS, header, held.astype("<u4").tobytes())

    @classmethod
    def from_bytes(cls, blob: bytes, secret: Secret | None = None) -> DistinctRegisters:
        """Reads the result of `to_bytes`. Without the secret, registers merge and estimate but cannot count keys."""
        way_out = "Pass the result of DistinctRegisters.to_bytes()"
        check_type("blob", blob, bytes | bytearray | memoryview, "must be bytes", way_out)
        check_type("secret", secret, Secret | None, "must be a Secret", "Pass Secret.load(path), or leave it out")
        _, reader = unframed(bytes(blob), Kind.REGISTERS)
        count, fingerprint = reader.unpack(_HEADER)
        words = reader.rest()
        if len(words) != 4 * count or not FEWEST <= count <= MOST:
            raise BlobError(f"{len(words)} bytes cannot be {count} registers of 4 bytes: corrupt data.")
        registers = np.frombuffer(words, "<u4").astype(np.uint32)
        if not _possible(registers):
            raise BlobError("impossible value of a register: corrupt data.")
        if secret is not None and secret.fingerprint != fingerprint:
            raise SecretMismatch("this is not the secret that the registers were made with. Load that secret.")
        self = cls.__new__(cls)
        self._start(registers, fingerprint, secret)
        return self

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)  # the secret stays behind

    def __repr__(self) -> str:
        held = "" if self._key is not None else ", without its secret"
        return f"<DistinctRegisters registers={self.registers}{held}>"


def blob_bytes(registers: int) -> int:
    """The number of bytes that `to_bytes` returns."""
    return FRAME_BYTES + _HEADER.size + 4 * registers


def checked_registers(registers: object) -> int:
    """The number of registers, or a typed error."""
    count = checked_whole("registers", registers, "Pass an integer such as 1024")
    if not FEWEST <= count <= MOST:
        way_out = "The relative error is 0.344/sqrt(registers): 1024 give 1.1%"
        raise ArgumentError("registers", count, f"must be between {FEWEST} and {MOST}", way_out)
    return count


def _united(parts: list[RegisterWords]) -> RegisterWords:
    """The registers of the union: the values drawn in any of them, relative to the largest of all."""
    first, *others = parts
    for other in others:
        largest = np.maximum(first >> _SHIFT, other >> _SHIFT)
        seen = _seen_from(largest, first) | _seen_from(largest, other)
        first = largest << _SHIFT | seen & _WINDOW_MASK
    return first


def _seen_from(largest: RegisterWords, registers: RegisterWords) -> RegisterWords:
    """Which of largest, largest - 1, ... were drawn, as bits 24, 23, ..."""
    own = registers >> _SHIFT
    drawn = (registers & _WINDOW_MASK) | np.where(own > 0, np.uint32(1 << WINDOW), np.uint32(0))
    # A shift by 32 or more is undefined; a shift by 25 already removes all bits.
    shifted: RegisterWords = drawn >> np.minimum(largest - own, np.uint32(WINDOW + 1))
    return shifted


def _possible(registers: RegisterWords) -> bool:
    """Whether some set of keys gives these registers: no value above the largest possible, none below 1."""
    largest = registers >> _SHIFT
    # The lowest bit of a register is the value u - 24, so 25 - u bits are below value 1; all 24 if u is 0 or 1.
    impossible = np.clip(WINDOW + 1 - largest.astype(np.int64), 0, WINDOW)
    below = registers & ((np.uint32(1) << impossible.astype(np.uint32)) - np.uint32(1))
    return not bool(np.any(below)) and int(largest.max()) <= LARGEST
