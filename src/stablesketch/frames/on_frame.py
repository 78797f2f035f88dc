"""`df.stablesketch`: releases and exact values as methods of a frame. Imports nothing until it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engines.local.exact import Exact
    from ..release.outcome import Outcome


class OnFrame:
    """`df.stablesketch.release(...)`, `.exact(...)` and `.collect(...)`: as `ss.release(df, ...)` and so on."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def release(self, *arguments: Any, **what: Any) -> Outcome:
        """Private numbers of this frame. Takes all arguments of `ss.release` except the data."""
        from ..engines.local import release

        return release(self._frame, *arguments, **what)

    def exact(self, *arguments: Any, **what: Any) -> Exact:
        """True values of this frame, **not private**. Takes all arguments of `ss.exact` except the data."""
        from ..engines.local.exact import exact

        return exact(self._frame, *arguments, **what)

    def collect(self, *arguments: Any, **what: Any) -> Any:
        """Collectors of this frame as a table. Takes all arguments of `ss.collect` except the data."""
        from ..engines.local.stored import collect

        return collect(self._frame, *arguments, **what)
