"""`Outbox`: numbers the records of a monitor, and gives each to the sinks once it is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import NotDelivered
from ..text.wording import arg
from .facts import is_count
from .state import MonitorState

Sink = Callable[[int, str], None]


class Outbox:
    """Records that are not stored yet, and those that are stored and not delivered, of this run and of earlier ones.

    A sink that raises an error gets the record again with the next delivery.
    """

    def __init__(self, state: MonitorState, sinks: Sequence[Sink]) -> None:
        self._state, self._sinks = state, sinks
        self.delivered: int = state.fact("delivered", 0, is_count)
        self._waiting = state.records(self.delivered)
        self.last = max(self._waiting, default=self.delivered)
        self.unstored: dict[int, str] = {}

    @property
    def empty(self) -> bool:
        """Whether everything is stored and delivered."""
        return not self.unstored and not self._waiting

    def put(self, record_of: Callable[[int], str]) -> None:
        """Takes a record, given the function that makes it from its number."""
        self.last += 1
        self.unstored[self.last] = record_of(self.last)

    def stored(self) -> None:
        """Called when `unstored` is in the state: these records may be delivered."""
        self._waiting |= self.unstored
        self.unstored = {}

    def deliver(self) -> None:
        """Gives all stored records to all sinks, in order, after outdating copies of the state that has their
        secrets.
        """
        self._state.seal()
        while self._waiting:
            number = next(iter(self._waiting))
            for sink in self._sinks:
                sink(number, self._waiting[number])
            del self._waiting[number]
            self.delivered = number

    def undelivered(self, error: OSError) -> NotDelivered:
        """The error that says where the records are that nobody accepts."""
        kept, count = self._state.folder is not None, len(self._waiting)
        return NotDelivered(
            f"{count:,} record{'s' * (count != 1)} could not be written ({error.strerror}). "
            + (f"A run on the same {arg('state')} writes them." if kept else f"Without {arg('state')} they are lost.")
        )
