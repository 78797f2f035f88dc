"""The first steps of `Release` and `Sketch`: elements read and keyed, windows, the reference to the secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...errors import ArgumentError
from ...reading.libraries import need
from ..secret_from import SecretFrom, check_absent, reference
from .elements import ElementReader, Pair

beam = need("apache_beam", "beam")
_windows = need("apache_beam.transforms.window", "beam")
_triggers = need("apache_beam.transforms.trigger", "beam")


class Read(beam.DoFn):  # type: ignore[misc, name-defined]
    """Elements → pairs, keyed by `keyed`. A window is the last part of the name of a group."""

    def __init__(self, reader: ElementReader, windowed: bool, keyed: Callable[[Pair], Any]) -> None:
        super().__init__()
        self._reader, self._windowed, self._keyed = reader, windowed, keyed

    def process(self, element: Any, window: Any = beam.DoFn.WindowParam) -> Iterator[Any]:
        pair = self._reader.read(element)
        if pair is None:
            return
        if self._windowed:
            pair = pair._replace(group=(*pair.group, f"{_time(window.start)}/{_time(window.end)}"))
        yield self._keyed(pair)


def by_group(pair: Pair) -> Any:
    """(name, what `CollectFn` takes)."""
    return pair.group, (pair.group, pair.key, pair.value)


def _time(stamp: Any) -> str:
    return str(stamp.to_rfc3339())


def windows_of_a_pair(windowing: Any) -> int | None:
    """The number of windows a pair is in; None if there is only the global window."""
    if not isinstance(windowing.triggerfn, _triggers.DefaultTrigger) or windowing.allowed_lateness != 0:
        raise ArgumentError(
            "windowing", f"{windowing.triggerfn}, lateness {windowing.allowed_lateness}",
            "must fire each window once",
            "Use the default trigger and no allowed lateness: a window that fires twice is released twice",
        )  # fmt: skip
    fn = windowing.windowfn
    if isinstance(fn, _windows.GlobalWindows):
        return None
    if isinstance(fn, _windows.FixedWindows):
        return 1
    if isinstance(fn, _windows.SlidingWindows):
        return -int(-fn.size.micros // fn.period.micros)  # rounded up
    raise ArgumentError(
        "windowing", type(fn).__name__, "must be a kind whose windows are known as soon as a pair arrives",
        "Use the global window, FixedWindows or SlidingWindows",
    )  # fmt: skip


def checked_reference(secret: object) -> SecretFrom | None:
    """A reference that does not hold the secret itself, or an error that says how to make one."""
    if secret is None:
        return None
    found = reference(secret, "stored", ".environment(name), .callable(function)")
    if found.fetches:
        check_absent(found.find(), need("apache_beam.internal.cloudpickle.cloudpickle", "beam").dumps(found))
    return found
