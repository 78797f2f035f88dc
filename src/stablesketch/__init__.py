"""stablesketch: frequency moments of streams, F_p = sum over keys of (total of the key)^p, in a few kilobytes.

>>> import stablesketch as ss
>>> sketch = ss.Sketch(p=0.5, size=500)
>>> sketch.update(["home", "search", "home", "cart"])
>>> sketch.estimate().low < 2**0.5 + 2 < sketch.estimate().high * 2
True

Names are imported when they are first used (offered.py).
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

from .frames.on_frame import offer_on_frames

if TYPE_CHECKING:
    from .offered import *  # noqa: F403

__version__ = "0.2.0.dev0"


def _noted() -> dict[str, str]:
    """The home of each name in offered.py, "" for a module. Its code runs with an `__import__` that imports nothing."""
    homes: dict[str, str] = {}

    def note(home: str, _globals: object, _locals: object, names: tuple[str, ...], _level: int) -> object:
        homes.update(dict.fromkeys(names, home))
        return SimpleNamespace(**dict.fromkeys(names))

    spec = find_spec(f"{__name__}.offered")
    exec(spec.loader.get_code(spec.name), {"__builtins__": {"__import__": note}})  # type: ignore[union-attr]
    return homes


_HOMES = _noted()
if not TYPE_CHECKING:  # type checkers have the names from offered.py
    __all__ = sorted(_HOMES)


class _Package(ModuleType):
    """This package. `__getattr__` is a method of a class, not of the module, so type checkers still know the names."""

    def __getattr__(self, name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=self)
        module = import_module(f".{_HOMES[name] or name}", __name__)
        return vars(self).setdefault(name, getattr(module, name) if _HOMES[name] else module)

    def __setattr__(self, name: str, value: object) -> None:
        """What is offered as a function stays one, even after the folder of the same name has been imported."""
        if not (_HOMES.get(name) and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """The public names, and those of any module."""
        return sorted({*_HOMES, *(name for name in super().__dir__() if name.startswith("__"))})

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Pickles by name, like any module: functions that use it are sent to the workers of Spark and Beam."""
        return import_module, (__name__,)


sys.modules[__name__].__class__ = _Package


offer_on_frames()
