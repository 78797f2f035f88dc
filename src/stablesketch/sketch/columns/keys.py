"""Keys to fingerprints: any column of keys, of any library, as 64-bit integers. What a key becomes: docs/keys.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from ..._native import FINGERPRINT_KEY_BYTES, ArrowColumn, FormatError, KeyHasher, RowError
from ...errors import HIDDEN, ArgumentError, ArgumentTypeError, SecretNotPicklable, Shown
from ...secret import Secret
from .canonical import Domain, canonical_form
from .numpy_keys import ReadRows, reader
from .refusals import cut_short, null_row, outside, refused_arrow, refused_row
from .sources import ArrowSource, Categories, described, is_single, recognise

ReadSlice = Callable[[int, int], NDArray[np.uint64]]

_INT64 = range(-(2**63), 2**63)


class KeyColumn:
    """A column of keys of known length and type, read in slices, by any number of threads at once."""

    def __init__(self, length: int, read: ReadSlice) -> None:
        self._length = length
        self._read = read

    def __len__(self) -> int:
        return self._length

    def fingerprints(self, start: int, stop: int) -> NDArray[np.uint64]:
        """The fingerprints of rows `start` to `stop`. The array may be a read-only view of the caller's own data.

        Raises:
            ArgumentError: a row is null or cannot be a key; the message names the row within the whole column.
        """
        if not 0 <= start <= stop <= self._length:
            raise outside(start, stop, self._length)
        return self._read(start, stop)


class Fingerprinter:
    """Fingerprints under one secret: `material` is 16 bytes for each type that is hashed, in the order of `Domain`."""

    def __init__(self, material: bytes) -> None:
        if not isinstance(material, bytes) or len(material) != FINGERPRINT_KEY_BYTES:
            # The material is a secret: the error shows its size, never its bytes.
            shown = Shown(f"<{len(material)} bytes>") if isinstance(material, bytes) else described(material)
            raise ArgumentError(
                "material", shown, f"must be {FINGERPRINT_KEY_BYTES} bytes", "Derive them from the secret"
            )
        self._hasher = KeyHasher(material)

    @classmethod
    def of(cls, secret: Secret) -> Fingerprinter:
        """The fingerprinter for everything under this secret."""
        return cls(b"".join(secret.derive(f"fingerprint/{domain.name}", 16) for domain in Domain))

    def __reduce__(self) -> Never:
        raise SecretNotPicklable(
            "a Fingerprinter cannot be pickled: it holds keys derived from the secret. Create it again from the secret."
        )

    def column(self, keys: object, argument: str = "keys") -> KeyColumn:
        """The column in `keys`; a tuple holds the columns of a composite key.

        This checks everything that does not require reading the rows: the kind of container, the type of the data, and
        the lengths of the columns of a composite key.

        Raises:
            ArgumentTypeError: not a column, or a column of a type that cannot be a key.
            ArgumentError: a column of more than one dimension, or columns of different lengths.
        """
        if isinstance(keys, tuple):
            return self._composite(keys, argument)
        source = recognise(keys, argument)
        if isinstance(source, list):
            return KeyColumn(len(source), _of_list(self._hasher, source, argument))
        if isinstance(source, range):
            return KeyColumn(len(source), _of_range(self._hasher, source, argument))
        if isinstance(source, ArrowSource):
            try:
                column = source.open(self._hasher, argument, described(keys))
                return KeyColumn(len(column), _of_arrow(column, argument))
            except FormatError as refused:
                raise refused_arrow(argument, *refused.args) from None
        if isinstance(source, Categories):
            categories = self.column(source.categories, argument=f"{argument}.categories")
            table = categories.fingerprints(0, len(categories))
            return KeyColumn(len(source.codes), _of_categories(source.codes, table, argument))
        return KeyColumn(len(source), _of_array(source, reader(self._hasher, source.dtype, argument), argument))

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        """The fingerprints of a whole column, which may be a read-only view of the caller's own data."""
        column = self.column(keys)
        return column.fingerprints(0, len(column))

    def _composite(self, columns: tuple[object, ...], argument: str) -> KeyColumn:
        meaning = "a tuple holds the columns of a composite key"
        if not columns:
            raise ArgumentError(
                argument, columns, "must not be an empty tuple", "Pass a list for an empty column", because=meaning
            )
        for column in columns:
            if is_single(column) or isinstance(column, tuple):
                must = f"must hold columns, not {type(column).__name__}"
                raise ArgumentTypeError(
                    argument, HIDDEN, must, "Pass a list for a column of keys; [...], not (...)", because=meaning
                )
        parts = [self.column(column, f"{argument}[{i}]") for i, column in enumerate(columns)]
        lengths = [len(part) for part in parts]
        if len(set(lengths)) != 1:
            must = "must have columns of the same length"
            raise ArgumentError(argument, lengths, must, "Pass the columns of a composite key row by row")

        def read(start: int, stop: int) -> NDArray[np.uint64]:
            out = np.empty(stop - start, np.uint64)
            self._hasher.tuples([part.fingerprints(start, stop) for part in parts], out)
            return out

        return KeyColumn(lengths[0], read)


def _of_list(hasher: KeyHasher, items: list[object], argument: str) -> ReadSlice:
    length = len(items)

    def read(start: int, stop: int) -> NDArray[np.uint64]:
        some = items[start:stop]  # our own copy, which nobody can change during the loop
        if len(some) != stop - start:
            raise cut_short(argument, length, len(items))
        out = np.empty(stop - start, np.uint64)
        hasher.objects(some, canonical_form(argument, start), out)
        return out

    return read


def _of_range(hasher: KeyHasher, all_rows: range, argument: str) -> ReadSlice:
    def read(start: int, stop: int) -> NDArray[np.uint64]:
        rows = all_rows[start:stop]
        if not rows or (rows[0] in _INT64 and rows[-1] in _INT64 and rows.stop in _INT64):
            return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64).view(np.uint64)
        out = np.empty(stop - start, np.uint64)
        hasher.objects(list(rows), canonical_form(argument, start), out)
        return out

    return read


def _of_array(data: NDArray[Any], read_rows: ReadRows, argument: str) -> ReadSlice:
    def read(start: int, stop: int) -> NDArray[np.uint64]:
        try:
            return read_rows(data[start:stop], start)
        except RowError as refused:
            row, reason, _ = refused.args
            raise refused_row(argument, start + row, reason) from None

    return read


def _of_arrow(column: ArrowColumn, argument: str) -> ReadSlice:
    def read(start: int, stop: int) -> NDArray[np.uint64]:
        try:
            view = column.view(start, stop)
            if view is not None:
                return view
            out = np.empty(stop - start, np.uint64)
            column.fingerprints(start, stop, out)
            return out
        except RowError as refused:
            row, reason, _ = refused.args
            raise refused_row(argument, row, reason) from None

    return read


def _of_categories(all_codes: NDArray[np.signedinteger[Any]], table: NDArray[np.uint64], argument: str) -> ReadSlice:
    def read(start: int, stop: int) -> NDArray[np.uint64]:
        codes = all_codes[start:stop]
        if codes.size and codes.min() < 0:
            raise null_row(argument, start + int(np.argmax(codes < 0)))
        fingerprints: NDArray[np.uint64] = table[codes]
        return fingerprints

    return read
