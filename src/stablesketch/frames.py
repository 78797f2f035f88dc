"""`df.stablesketch`: releases and exact values as methods of a frame. Nothing is imported before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engines.local.exact import Exact
    from .release.outcome import Outcome


class OnFrame:
    """`df.stablesketch.release(...)`, `.exact(...)` and `.collect(...)`: as `ss.release(df, ...)` and so on."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def release(self, *arguments: Any, **what: Any) -> Outcome:
        """Private numbers of this frame: all arguments of `ss.release` but the data."""
        from .engines.local import release

        return release(self._frame, *arguments, **what)

    def exact(self, *arguments: Any, **what: Any) -> Exact:
        """True values of this frame, **not private**: all arguments of `ss.exact` but the data."""
        from .engines.local.exact import exact

        return exact(self._frame, *arguments, **what)

    def collect(self, *arguments: Any, **what: Any) -> Any:
        """Collectors of this frame as a table: all arguments of `ss.collect` but the data."""
        from .engines.local.stored import collect

        return collect(self._frame, *arguments, **what)
