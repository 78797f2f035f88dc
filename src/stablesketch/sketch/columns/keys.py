"""Keys to fingerprints: any column of keys, of any library, as 64-bit integers. What a key becomes: docs/keys.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from ..._native import FINGERPRINT_KEY_BYTES, ArrowColumn, FormatError, KeyHasher, RowError
from ...errors import HIDDEN, ArgumentError, ArgumentTypeError, SecretNotPicklable, Shown
from ...secret import Secret
from .canonical import NANOSECONDS, Domain, canonical_form
from .containers import ArrowContainer, Categories, described, is_single, recognise
from .refusals import cut_short, null_row, outside, refused_arrow, refused_dtype, refused_row

ReadSlice = Callable[[int, int], NDArray[np.uint64]]
ReadRows = Callable[[NDArray[Any], int], NDArray[np.uint64]]
"""Fingerprints of a slice of an array, given the row at which the slice begins in its column."""
HashRows = Callable[[NDArray[Any], NDArray[np.uint64]], None]

_INT64 = range(-(2**63), 2**63)
_TWO_63 = np.uint64(2**63)


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
        container = recognise(keys, argument)
        if isinstance(container, list):
            return KeyColumn(len(container), _of_list(self._hasher, container, argument))
        if isinstance(container, range):
            return KeyColumn(len(container), _of_range(self._hasher, container, argument))
        if isinstance(container, ArrowContainer):
            try:
                column = container.open(self._hasher, argument, described(keys))
                return KeyColumn(len(column), _of_arrow(column, argument))
            except FormatError as refused:
                raise refused_arrow(argument, *refused.args) from None
        if isinstance(container, Categories):
            categories = self.column(container.categories, argument=f"{argument}.categories")
            table = categories.fingerprints(0, len(categories))
            return KeyColumn(len(container.codes), _of_categories(container.codes, table, argument))
        return KeyColumn(len(container), _of_array(self._hasher, container, argument))

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
        return _objects(hasher, some, start, argument)

    return read


def _of_range(hasher: KeyHasher, all_rows: range, argument: str) -> ReadSlice:
    def read(start: int, stop: int) -> NDArray[np.uint64]:
        rows = all_rows[start:stop]
        if not rows or (rows[0] in _INT64 and rows[-1] in _INT64 and rows.stop in _INT64):
            return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64).view(np.uint64)
        return _objects(hasher, list(rows), start, argument)

    return read


def _objects(hasher: KeyHasher, items: list[object], start: int, argument: str) -> NDArray[np.uint64]:
    out = np.empty(len(items), np.uint64)
    hasher.objects(items, canonical_form(argument, start), out)
    return out


def _of_array(hasher: KeyHasher, data: NDArray[Any], argument: str) -> ReadSlice:
    read_rows = _reader(hasher, data.dtype, argument)

    def read(start: int, stop: int) -> NDArray[np.uint64]:
        try:
            return read_rows(data[start:stop], start)
        except RowError as refused:
            row, reason, _ = refused.args
            raise refused_row(argument, start + row, reason) from None

    return read


def _reader(hasher: KeyHasher, dtype: np.dtype[Any], argument: str) -> ReadRows:
    """The function for this dtype; other dtypes are refused here, before any row is read."""
    if dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize < 8):
        return lambda rows, _: _dense(rows, np.dtype(np.int64)).view(np.uint64)
    if dtype.kind == "u":
        return lambda rows, _: _unsigned(hasher, rows)
    if dtype.kind == "U":
        return lambda rows, _: _fixed_width(hasher.text_rows, np.uint32, rows)
    if dtype.kind == "S":
        return lambda rows, _: _fixed_width(hasher.byte_rows, np.uint8, rows)
    if dtype.kind in "OT":  # Python objects, and numpy's variable-width text, which has no public layout
        return lambda rows, start: _objects(hasher, rows.tolist(), start, argument)
    if dtype.kind == "M":
        unit, count = np.datetime_data(dtype)
        if unit == "D" and count == 1:
            return lambda rows, start: _times(hasher.days, rows, start, argument)
        if unit in NANOSECONDS and count == 1:
            scale = NANOSECONDS[unit]
            return lambda rows, start: _times(
                lambda ticks, out: hasher.naive_ticks(ticks, scale, out), rows, start, argument
            )
    raise refused_dtype(argument, dtype)


def _dense(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The rows as a read-only, contiguous, aligned array in the machine's byte order; copied only if necessary."""
    dense = np.require(rows, dtype, ["C", "A"]).view()
    dense.flags.writeable = False
    return dense


def _unsigned(hasher: KeyHasher, rows: NDArray[Any]) -> NDArray[np.uint64]:
    dense = _dense(rows, np.dtype(np.uint64))
    if dense.size == 0 or dense.max() < _TWO_63:
        return dense
    out = np.empty(len(dense), np.uint64)
    hasher.unsigned_integers(dense, out)
    return out


def _fixed_width(hash_rows: HashRows, unit: type[np.unsignedinteger[Any]], rows: NDArray[Any]) -> NDArray[np.uint64]:
    width = rows.dtype.itemsize // np.dtype(unit).itemsize
    dense = _dense(rows, rows.dtype.newbyteorder("="))
    units = dense.view(unit) if width and len(rows) else np.empty(0, unit)
    out = np.empty(len(rows), np.uint64)
    hash_rows(units.reshape(len(rows), width), out)
    return out


def _times(hash_ticks: HashRows, rows: NDArray[Any], start: int, argument: str) -> NDArray[np.uint64]:
    missing = np.isnat(rows)
    if missing.any():
        raise null_row(argument, start + int(np.argmax(missing)), np.datetime64("NaT"))
    out = np.empty(len(rows), np.uint64)
    hash_ticks(_dense(rows, rows.dtype.newbyteorder("=")).view(np.int64), out)
    return out


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
