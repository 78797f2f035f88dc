"""Keys to fingerprints: any column of keys, of any library, as 64-bit integers. What a key becomes: docs/keys.md."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from stablesketch._native import FINGERPRINT_KEY_BYTES, ArrowColumn, FormatError, KeyHasher, RowError
from stablesketch.errors import ArgumentError, ArgumentTypeError, SecretNotPicklable
from stablesketch.secret import Secret
from stablesketch.sketch.columns.canonical import Domain, canonical_form
from stablesketch.sketch.columns.numpy_keys import reader
from stablesketch.sketch.columns.refusals import Shown, null_row, refused_arrow, refused_row
from stablesketch.sketch.columns.sources import ArrowSource, Categories, described, is_single, recognise

__all__ = ["FINGERPRINT_KEY_BYTES", "Fingerprinter", "KeyColumn"]

_INT64 = range(-(2**63), 2**63)


class KeyColumn(ABC):
    """A column of keys of known length and type, read in slices, by any number of threads at once."""

    def __init__(self, length: int, argument: str) -> None:
        self._length = length
        self._argument = argument

    def __len__(self) -> int:
        return self._length

    def fingerprints(self, start: int, stop: int) -> NDArray[np.uint64]:
        """The fingerprints of rows `start` to `stop`. The array may be a read-only view of the caller's own data.

        Raises:
            ArgumentError: a row is null or is not a key; the message names the row within the whole column.
        """
        if not 0 <= start <= stop <= self._length:
            raise ArgumentError("rows", (start, stop), f"the column has rows 0 to {self._length}", "Ask within them")
        return self._read(start, stop)

    @abstractmethod
    def _read(self, start: int, stop: int) -> NDArray[np.uint64]: ...


class Fingerprinter:
    """Fingerprints under one secret: `material` is 16 bytes for each type that is hashed, in the order of `Domain`."""

    def __init__(self, material: bytes) -> None:
        if not isinstance(material, bytes) or len(material) != FINGERPRINT_KEY_BYTES:
            # The material is a secret: the error shows its size, never its bytes.
            shown = Shown(f"<{len(material)} bytes>") if isinstance(material, bytes) else described(material)
            raise ArgumentError(
                "material", shown, f"{FINGERPRINT_KEY_BYTES} bytes are needed", "Derive them from the secret"
            )
        self._hasher = KeyHasher(material)

    @classmethod
    def of(cls, secret: Secret) -> Fingerprinter:
        """The fingerprints that everything under this secret works with."""
        return cls(b"".join(secret.derive(f"fingerprint/{domain.name}", 16) for domain in Domain))

    def __reduce__(self) -> Never:
        raise SecretNotPicklable("a Fingerprinter holds keys derived from the secret; make it anew from the secret")

    def column(self, keys: object, argument: str = "keys") -> KeyColumn:
        """The column that `keys` holds; a tuple is a composite key, one column each.

        Everything that can be known without looking at the rows is checked here: the kind of container, the type of
        the data, the lengths of the columns of a composite key.

        Raises:
            ArgumentTypeError: not a column, or a column of a type that is no key.
            ArgumentError: a column of more than one dimension, or columns of different lengths.
        """
        if isinstance(keys, tuple):
            return self._composite(keys, argument)
        source = recognise(keys, argument)
        if isinstance(source, list):
            return _ListKeys(self._hasher, source, argument)
        if isinstance(source, range):
            return _RangeKeys(self._hasher, source, argument)
        if isinstance(source, ArrowSource):
            try:
                return _ArrowKeys(source.open(self._hasher, argument, described(keys)), argument)
            except FormatError as refused:
                raise refused_arrow(argument, *refused.args) from None
        if isinstance(source, Categories):
            categories = self.column(source.categories, argument=f"{argument}.categories")
            return _CategoryKeys(source.codes, categories.fingerprints(0, len(categories)), argument)
        return _ArrayKeys(source, reader(self._hasher, source.dtype, argument), argument)

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        """The fingerprints of a whole column, which may be a read-only view of the caller's own data."""
        column = self.column(keys)
        return column.fingerprints(0, len(column))

    def _composite(self, columns: tuple[object, ...], argument: str) -> KeyColumn:
        meaning = "a tuple means the columns of a composite key"
        if not columns:
            raise ArgumentError(
                argument, columns, f"{meaning}, and this one is empty", "Pass a list for an empty column"
            )
        for column in columns:
            if is_single(column) or isinstance(column, tuple):
                problem = f"{meaning}, and {type(column).__name__} is not a column"
                raise ArgumentTypeError(argument, column, problem, "Pass a list for a column of keys; [...], not (...)")
        parts = [self.column(column, f"{argument}[{i}]") for i, column in enumerate(columns)]
        lengths = [len(part) for part in parts]
        if len(set(lengths)) != 1:
            problem = "the columns of a composite key have different lengths"
            raise ArgumentError(argument, lengths, problem, "Pass columns of the same rows")
        return _CompositeKeys(self._hasher, parts, argument)


class _ListKeys(KeyColumn):
    def __init__(self, hasher: KeyHasher, items: list[object], argument: str) -> None:
        super().__init__(len(items), argument)
        self._hasher = hasher
        self._items = items

    def _read(self, start: int, stop: int) -> NDArray[np.uint64]:
        items = self._items[start:stop]  # a list of our own, which nobody can change during the loop
        if len(items) != stop - start:
            now = len(self._items)
            raise ArgumentError(
                self._argument, now, f"the list had {self._length} rows", "Do not shorten it while it is read"
            )
        out = np.empty(stop - start, np.uint64)
        self._hasher.objects(items, canonical_form(self._argument, start), out)
        return out


class _RangeKeys(KeyColumn):
    def __init__(self, hasher: KeyHasher, rows: range, argument: str) -> None:
        super().__init__(len(rows), argument)
        self._hasher = hasher
        self._rows = rows

    def _read(self, start: int, stop: int) -> NDArray[np.uint64]:
        rows = self._rows[start:stop]
        if not rows or (rows[0] in _INT64 and rows[-1] in _INT64 and rows.stop in _INT64):
            return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64).view(np.uint64)
        out = np.empty(stop - start, np.uint64)
        self._hasher.objects(list(rows), canonical_form(self._argument, start), out)
        return out


class _ArrayKeys(KeyColumn):
    def __init__(
        self, data: NDArray[Any], read: Callable[[NDArray[Any], int], NDArray[np.uint64]], argument: str
    ) -> None:
        super().__init__(len(data), argument)
        self._data = data
        self._reader = read

    def _read(self, start: int, stop: int) -> NDArray[np.uint64]:
        try:
            return self._reader(self._data[start:stop], start)
        except RowError as refused:
            row, reason, _ = refused.args
            raise refused_row(self._argument, start + row, reason) from None


class _ArrowKeys(KeyColumn):
    def __init__(self, column: ArrowColumn, argument: str) -> None:
        super().__init__(len(column), argument)
        self._column = column

    def _read(self, start: int, stop: int) -> NDArray[np.uint64]:
        try:
            view = self._column.view(start, stop)
            if view is not None:
                return view
            out = np.empty(stop - start, np.uint64)
            self._column.fingerprints(start, stop, out)
            return out
        except RowError as refused:
            row, reason, _ = refused.args
            raise refused_row(self._argument, row, reason) from None


class _CategoryKeys(KeyColumn):
    def __init__(self, codes: NDArray[np.signedinteger[Any]], table: NDArray[np.uint64], argument: str) -> None:
        super().__init__(len(codes), argument)
        self._codes = codes
        self._table = table

    def _read(self, start: int, stop: int) -> NDArray[np.uint64]:
        codes = self._codes[start:stop]
        if codes.size and codes.min() < 0:
            raise null_row(self._argument, start + int(np.argmax(codes < 0)))
        fingerprints: NDArray[np.uint64] = self._table[codes]
        return fingerprints


class _CompositeKeys(KeyColumn):
    def __init__(self, hasher: KeyHasher, parts: list[KeyColumn], argument: str) -> None:
        super().__init__(len(parts[0]), argument)
        self._hasher = hasher
        self._parts = parts

    def _read(self, start: int, stop: int) -> NDArray[np.uint64]:
        out = np.empty(stop - start, np.uint64)
        self._hasher.tuples([part.fingerprints(start, stop) for part in self._parts], out)
        return out
