"""`Sketch`: the public, linear sketch. F_p of a stream of (key, value) pairs in a few kilobytes, computed exactly."""

from __future__ import annotations

import copy
import threading

import numpy as np
from numpy.typing import NDArray

from .._native import Entries
from ..errors import ArgumentError, BlobError, MergeError, SecretMismatch, SecretMissing, check_type
from ..format.framing import counts_are_possible
from ..numbers.arrays import Array
from ..secret import Secret
from . import wire
from .columns import MAX_WEIGHT
from .entry_law import ENTROPY, EntryLaw, LawKind, SketchLaw, checked_buckets, checked_law, checked_size
from .estimates import BEST, bucket_moments, check_order, entropy_of_moment, hill_of_entropy, moment_estimate
from .estimators import Estimate
from .projection import Projection
from .workers import checked_threads, holding


class Sketch:
    """A linear sketch of F_p = sum over keys of (total of the key)^p, for p in [0.05, 2].

    The sketch has `size` entries a_j = sum over keys of (total) · X(key, j). X is symmetric p-stable and pseudorandom
    under the secret, so the entries are i.i.d. stable with scale F_p. The relative error of an estimate is
    sqrt(V(p)/size) for any stream: from 1.00 (p → 0) to 1.41 (p = 1) over sqrt(size). For p above 1 it is up to 1.76,
    and again 1.41 at p = 2, where X is normal.

    With law="one-sided", for p up to 0.999, X has the positive p-stable law. Totals must not be negative, and fewer
    entries reach the same error: 1.35 times fewer at p = 0.25, 2.85 at 0.5, 11 at 0.75, 69 at 0.9.

    With buckets=B, for one-sided entries only, a secret hash sends each key to one of B buckets of g = size/B entries,
    and the key is added to these only. An update costs as much as one of g entries, and the relative variance of an
    estimate is v_g (1/B + S (1 - 1/B)). Here v_g is the variance of g entries, and S = Σ f^{2p}/F_p² is the share of
    the heaviest keys. For example, 32,000 entries with 16 per key give 0.5% if no key dominates, and the error of 16
    entries if one key holds everything.

    The arithmetic is exact. Any order, batching or sharding of the same net stream gives the same bytes, and a delete
    undoes an update to the last bit.

    This is the plain sketch: nothing here accounts for privacy, and an `Estimate` is not a private release.

    >>> sketch = Sketch(p=0.5, size=400)
    >>> sketch.update(["ape", "bee", "ape"])
    >>> sketch.pairs, sketch.total
    (3, 3)
    """

    def __init__(
        self, p: float, size: int, secret: Secret | None = None, *, law: SketchLaw | None = None, buckets: int = 1
    ) -> None:
        """An empty sketch of order p with `size` entries, under `secret` or a fresh one from the operating system.

        `law` is "symmetric" or "one-sided", by default one-sided for p up to 0.999. `size` counts the entries of all
        `buckets`; each bucket has an even number of them.
        """
        self._open(checked_law(p, law), size, secret, buckets)

    def _open(self, law: EntryLaw, size: int, secret: Secret | None, buckets: int) -> None:
        check_type("secret", secret, Secret | None, "must be a Secret", "Pass Secret.generate() or Secret.load(path)")
        entries = checked_size(size)
        parts = checked_buckets(buckets, entries, law)
        held = Secret.generate() if secret is None else secret
        projection = Projection(law, entries, held, parts)
        self._start(law, Entries(law, entries, parts), held.fingerprint, projection, 0, 0)

    def _start(
        self, law: EntryLaw, entries: Entries, secret_fingerprint: bytes, projection: Projection | None, pairs: int,
        total: int,
    ) -> None:  # fmt: skip
        self._law = law
        self._entries = entries
        self._secret_fingerprint = secret_fingerprint
        self._projection = projection
        self._pairs = pairs
        self._total = total
        self._lock = threading.RLock()  # the code that makes keys may use this sketch

    @staticmethod
    def _checked_law(law: EntryLaw) -> EntryLaw:
        """The law that was read; refuses one that does not belong to this class."""
        if law == ENTROPY:
            raise ArgumentError(
                "p", law.p, "must not be the order of a sketch of entropy", "Read the collector that it is part of"
            )
        return checked_law(law.p, law.kind)

    @property
    def p(self) -> float:
        """The order of the moment."""
        return self._law.p

    @property
    def law(self) -> LawKind:
        """The law of X: "symmetric" or "one-sided"."""
        return self._law.kind

    @property
    def size(self) -> int:
        """The number of entries in all buckets together."""
        return self._entries.size

    @property
    def buckets(self) -> int:
        """The number of buckets; 1 if every key updates every entry."""
        return self._entries.buckets

    @property
    def entries_per_key(self) -> int:
        """The number of entries that a key updates: size / buckets."""
        return self._entries.size // self._entries.buckets

    @property
    def pairs(self) -> int:
        """The number of pairs updated, minus those deleted."""
        return self._pairs

    @property
    def total(self) -> int:
        """The sum of the values updated, minus those deleted: F_1, exactly."""
        return self._total

    @property
    def secret(self) -> Secret:
        """The secret, for you to save. A copy that was unpickled or read without the secret does not have it."""
        return self._need_projection("secret").secret

    def update(
        self, keys: object, values: object = None, *, threads: int | None = None, highest: int = MAX_WEIGHT
    ) -> None:
        """Counts a column of pairs: `values` are integers from 1 to 2^53, one number for all, or 1 each if left out.

        `keys` is a list, a numpy array, a pandas, polars or pyarrow column, or a tuple of columns for composite keys;
        docs/keys.md says what each type becomes. `threads` is the maximum number of threads, by default one for each
        core; the result is the same to the last byte. Safe to call from several threads. Bad input, including a value
        above `highest`, raises an `ArgumentError` and leaves the sketch unchanged.
        """
        self._apply("update", keys, values, threads, highest, negative=False)

    def delete(
        self, keys: object, values: object = None, *, threads: int | None = None, highest: int = MAX_WEIGHT
    ) -> None:
        """Deletes a column of pairs. It exactly undoes the same `update`, whichever of the two comes first."""
        self._apply("delete", keys, values, threads, highest, negative=True)

    def _apply(
        self, operation: str, keys: object, values: object, threads: object, highest: int, *, negative: bool
    ) -> None:
        projection, workers = self._need_projection(operation), checked_threads(threads)
        with self._lock:
            pairs, total = projection.add(self._entries, keys, values, negative, workers, highest)
            sign = -1 if negative else 1
            self._pairs += sign * pairs
            self._total += sign * total

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        """The fingerprints of a column of keys, 64 bits each: for `add_folded`. May be a view of integer keys."""
        return self._need_projection("fingerprint").fingerprint(keys)

    def add_folded(
        self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int, *, threads: int | None = None
    ) -> None:
        """Counts `pairs` pairs whose values were added up by key: the same bytes as an `update` with all of them.

        Nothing is checked (`Collector.add_folded` does): totals must be from -2^53 to 2^53; a negative one deletes.
        """
        projection, workers = self._need_projection("add_folded"), checked_threads(threads)
        with self._lock:
            self._total += projection.add_folded(self._entries, fingerprints, totals, workers)
            self._pairs += pairs

    def _need_projection(self, operation: str) -> Projection:
        if self._projection is None:
            raise SecretMissing(
                f"{operation} needs the secret, but this copy was unpickled or read without it. "
                "Use Sketch.from_bytes(blob, secret)."
            )
        return self._projection

    def merge(self, other: Sketch) -> None:
        """Adds the stream of `other`, which must have the same p, law, size, buckets and secret and stays unchanged."""
        check_type("other", other, Sketch, "must be a Sketch", "Read stored bytes with Sketch.from_bytes first")
        for name in ("p", "law", "size", "buckets"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(
                    f"sketches of {name} = {mine} and {theirs} cannot be merged: use the same {name} for both."
                )
        if self._secret_fingerprint != other._secret_fingerprint:
            raise MergeError("sketches under different secrets cannot be merged: give every shard the same secret.")
        with holding(self._lock, other._lock):
            pairs, total = other._pairs, other._total
            if not counts_are_possible(self._pairs + pairs, self._total + total):
                raise MergeError(
                    "the two sketches together have an impossible number of pairs: one of them is corrupt."
                )
            try:
                self._entries.merge(other._entries)
            except OverflowError:
                raise MergeError("the sum is too large to be exact: one of the sketches may be corrupt.") from None
            self._pairs += pairs
            self._total += total

    def __add__(self, other: object) -> Sketch:
        if not isinstance(other, Sketch):
            return NotImplemented
        result = copy.copy(self)
        result.merge(other)
        return result

    def __radd__(self, other: object) -> Sketch:
        return copy.copy(self) if type(other) is int and other == 0 else NotImplemented  # sum(sketches) starts at 0

    def entries(self, phantoms: NDArray[np.int64] | None = None) -> Entries:
        """A copy of the entries, as exact integers. Phantom keys of these weights are added to the copy only."""
        entries, _, _ = self._snapshot()
        if phantoms is not None:
            self._need_projection("phantoms").add_phantoms(entries, phantoms)
        return entries

    def _snapshot(self) -> tuple[Entries, int, int]:
        with self._lock:
            return self._entries.copy(), self._pairs, self._total

    def to_bytes(self) -> bytes:
        """The sketch as bytes: canonical, checksummed, without the secret. The format is docs/wire-format.md."""
        entries, pairs, total = self._snapshot()
        return wire.encode(
            wire.Frame(
                self._law.number,
                entries.size,
                entries.resolution,
                self._secret_fingerprint,
                pairs,
                total,
                entries.packed(),
                entries.buckets,
                entries.packed_totals(),
            )
        )

    @classmethod
    def from_bytes(cls, blob: bytes, secret: Secret | None = None) -> Sketch:
        """Reads the result of `to_bytes`. Without the secret, the sketch merges and estimates but cannot be updated."""
        check_type(
            "blob", blob, bytes | bytearray | memoryview, "must be bytes", "Pass the result of Sketch.to_bytes()"
        )
        check_type("secret", secret, Secret | None, "must be a Secret", "Pass Secret.load(path), or leave it out")
        frame = wire.decode(bytes(blob))
        try:
            law, size = cls._checked_law(EntryLaw.of_number(frame.p)), checked_size(frame.size)
            buckets = checked_buckets(frame.buckets, size, law)
        except ArgumentError as error:
            raise BlobError(f"invalid header of a sketch: {error}") from None
        entries = Entries(law, size, buckets)
        if frame.resolution != entries.resolution:
            raise BlobError(
                f"a {law.kind} sketch of p = {law.p} has resolution {frame.resolution} instead of "
                f"{entries.resolution}: corrupt data."
            )
        try:
            entries.load_packed(frame.entries)
            entries.load_packed_totals(frame.totals)
        except OverflowError:
            raise BlobError("impossible entry of a sketch: corrupt data.") from None
        if secret is not None and secret.fingerprint != frame.secret_fingerprint:
            raise SecretMismatch("this is not the secret that the sketch was made with. Load that secret.")
        self = cls.__new__(cls)
        projection = None if secret is None else Projection(law, size, secret, buckets)
        self._start(law, entries, frame.secret_fingerprint, projection, frame.pairs, frame.total)
        return self

    def estimate(self, method: str = BEST, confidence: float = 0.95) -> Estimate:
        """F_p with its confidence limits. **Not private.** docs/accuracy.md has the methods and their accuracy.

        "best" is `pitman` for symmetric entries with p up to 1. For p above 1 there is only `norm`, and for one-sided
        entries only `power`. With buckets, the value is the sum of the estimates of all buckets, and the limits are
        those of a normal law. They are approximate; the more of F_p one key holds, the rougher they are
        (estimators/one_sided.py).

        Raises:
            NegativeTotal: more was deleted than was added, so the stream has no moment.
            ArgumentError: the method does not exist, or not for this p.
        """
        return moment_estimate(self._law, *self._snapshot(), method, confidence)

    def entropy(self, order: float | None = None, *, confidence: float = 0.95) -> Estimate:
        """Rényi's entropy in nats, of the order p of this sketch, with its limits. **Not private.**

        `order`, if given, must be p. For Shannon's entropy use `EntropySketch`. nan for an empty stream.
        """
        check_order(order, self.p)
        entries, pairs, total = self._snapshot()
        moment = moment_estimate(self._law, entries, pairs, total, BEST, confidence)
        return entropy_of_moment(moment, self.p, total)

    def hill(self, order: float | None = None, *, confidence: float = 0.95) -> Estimate:
        """The Hill number of the same order (the effective number of keys), with its limits. **Not private.**"""
        return hill_of_entropy(self.entropy(order, confidence=confidence))

    def bucket_estimates(self) -> Array:
        """F_hat of each bucket, exactly 0 for an empty one. No error and no branch depends on the entries."""
        return bucket_moments(self._law, self.entries())

    def __copy__(self) -> Sketch:
        entries, pairs, total = self._snapshot()
        other = type(self).__new__(type(self))
        other._start(self._law, entries, self._secret_fingerprint, self._projection, pairs, total)
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Sketch:
        return self.__copy__()

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)  # the secret stays behind

    def __repr__(self) -> str:
        if not hasattr(self, "_total"):
            return "<Sketch, not initialised>"
        held = "" if self._projection is not None else ", without its secret"
        law = "" if self.law == "symmetric" else f" {self.law}"
        buckets = f" buckets={self.buckets}" if self.buckets > 1 else ""
        return f"<Sketch p={self.p:g}{law} size={self.size}{buckets} pairs={self._pairs} total={self._total}{held}>"
