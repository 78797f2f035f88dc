"""`df.stablesketch`: releases and exact values as methods of a frame, and how the frames get them.

It is added whether this package or pandas or polars is imported first. This never imports either library, nor anything
else until it is used. A library imported later is found by Python's own finders as usual, and its frames are extended
once its module has run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from ..engines.local.exact import Exact
    from ..release.outcome import Outcome

_LIBRARIES = ("pandas", "polars")


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


def offer_on_frames() -> None:
    """Extends the frames of libraries that are already imported, and those of the others once they are."""
    waiting = {name for name in _LIBRARIES if not _extended(name)}
    if waiting and not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Later(waiting))


def _extended(name: str) -> bool:
    """Extends the frames of a library. Returns whether it has been imported."""
    if sys.modules.get(name) is None:
        return False
    with suppress(ImportError, AttributeError):  # a version that cannot be extended, or is only partly imported
        import_module(f"..{name}", __package__)
    return True


class _Later:
    """A finder that waits for these libraries, and leaves the finding to the other finders."""

    def __init__(self, waiting: set[str]) -> None:
        self._waiting = waiting

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._waiting:
            return None
        rest = sys.meta_path[sys.meta_path.index(self) + 1 :]  # an earlier finder may delegate in the same way
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in rest)), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self._extend_after(name, spec.loader)
        return spec

    def _extend_after(self, name: str, loader: Any) -> None:
        """Lets the loader run the module as usual, and then extends its frames."""
        run = loader.exec_module

        def run_and_extend(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)
            run(module)
            self._waiting.discard(name)
            _extended(name)

        loader.exec_module = run_and_extend
