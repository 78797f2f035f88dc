"""An Arrow producer made by hand, for the arrays that no honest library would hand out."""

from __future__ import annotations

import ctypes
import struct

import pyarrow as pa


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ReleaseArray),
    ("private_data", ctypes.c_void_p),
]

GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
GetLastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Stream(ctypes.Structure):
    pass


ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetLastError),
    ("release", ReleaseStream),
    ("private_data", ctypes.c_void_p),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# Whoever holds the capsules may release after the last Python reference is gone: producers stay until they are.
_unreleased: set[HandMade] = set()


def extension_metadata(name: str) -> bytes:
    """Schema metadata that names an extension type, in the layout of the C data interface."""
    key, value = b"ARROW:extension:name", name.encode()
    return struct.pack("=i", 1) + struct.pack("=i", len(key)) + key + struct.pack("=i", len(value)) + value


class HandMade:
    """One array with exactly the fields it is told to have. `released` counts calls of the array's release."""

    def __init__(
        self,
        format: str,
        length: int,
        buffers: list[bytes | None],
        *,
        null_count: int = 0,
        offset: int = 0,
        n_children: int = 0,
        dictionary: HandMade | None = None,
        claims_dictionary: bool = False,
        metadata: bytes | None = None,
    ) -> None:
        self.released = 0
        self._bytes = [None if b is None else ctypes.create_string_buffer(b, len(b)) for b in buffers]
        self._pointers = (ctypes.c_void_p * max(1, len(buffers)))(
            *[None if b is None else ctypes.addressof(b) for b in self._bytes]
        )
        self._metadata = None if metadata is None else ctypes.create_string_buffer(metadata, len(metadata))
        self._dictionary = dictionary
        self._schema_done, self._array_done = ReleaseSchema(self._release_schema), ReleaseArray(self._release_array)
        self.schema = Schema(
            format=format.encode(),
            metadata=None if self._metadata is None else ctypes.cast(self._metadata, ctypes.c_char_p),
            release=self._schema_done,
        )
        self.array = Array(
            length=length,
            null_count=null_count,
            offset=offset,
            n_buffers=len(buffers),
            n_children=n_children,
            buffers=ctypes.cast(self._pointers, ctypes.POINTER(ctypes.c_void_p)),
            release=self._array_done,
        )
        if dictionary is not None:
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            if not claims_dictionary:
                self.array.dictionary = ctypes.pointer(dictionary.array)

    def _release_schema(self, schema: object) -> None:
        schema.contents.release = ReleaseSchema()  # type: ignore[attr-defined]

    def _release_array(self, array: object) -> None:
        self.released += 1
        _unreleased.discard(self)
        array.contents.release = ReleaseArray()  # type: ignore[attr-defined]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        _unreleased.add(self)
        return (
            _new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
            _new_capsule(ctypes.addressof(self.array), b"arrow_array", None),
        )


class FailingStream:
    """A stream of int64 that gives its schema and then fails, as a reader of a damaged file would."""

    def __init__(self, message: bytes | None) -> None:
        self.released = 0
        self._message = None if message is None else ctypes.create_string_buffer(message)
        self._functions = (
            GetSchema(lambda stream, out: pa.int64()._export_to_c(out) or 0),
            GetNext(lambda stream, out: 5),
            GetLastError(lambda stream: None if self._message is None else ctypes.addressof(self._message)),
            ReleaseStream(self._release),
        )
        self.stream = Stream(*self._functions)

    def _release(self, stream: object) -> None:
        self.released += 1
        stream.contents.release = ReleaseStream()  # type: ignore[attr-defined]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)
