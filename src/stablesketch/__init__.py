"""stablesketch: frequency moments of streams, F_p = sum over keys of (total of the key)^p, in a few kilobytes.

>>> import stablesketch as ss
>>> sketch = ss.Sketch(p=0.5, size=500)
>>> sketch.update(["home", "search", "home", "cart"])
>>> sketch.estimate().low < 2**0.5 + 2 < sketch.estimate().high * 2
True
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .public import *

__version__ = "0.1.0"

__all__ = [
    "HHI",
    "ArgumentError",
    "ArgumentTypeError",
    "Atkinson",
    "AutoMaxValue",
    "BlobError",
    "BudgetExceeded",
    "CheckpointError",
    "ClockWentBackwards",
    "Collector",
    "DataError",
    "Distinct",
    "Estimate",
    "Exact",
    "ForeignBlob",
    "GeneralisedEntropy",
    "GroupRelease",
    "Hill",
    "Ledger",
    "LedgerCorrupt",
    "LedgerError",
    "LedgerMismatch",
    "LibraryMissing",
    "MergeError",
    "Moment",
    "NegativeTotal",
    "Outcome",
    "Plan",
    "PlanInfeasible",
    "Point",
    "Preview",
    "Privacy",
    "PrivacyCurve",
    "Profile",
    "Question",
    "Record",
    "Release",
    "ReleaseInterrupted",
    "ReleasedAlready",
    "Renyi",
    "Sampling",
    "Schedule",
    "Secret",
    "SecretFileError",
    "SecretMismatch",
    "SecretMissing",
    "SecretNotPicklable",
    "SecretSpent",
    "Shannon",
    "ShardMergedTwice",
    "ShardsMissing",
    "Simpson",
    "Sketch",
    "StableLaw",
    "StablesketchError",
    "StreamTooShort",
    "Total",
    "Tsallis",
    "UnitMismatch",
    "UnsupportedVersion",
    "audit",
    "errors",
    "exact",
    "paper",
    "plan",
    "question",
    "release",
    "release_all",
    "sensitivity",
]


class _Package(ModuleType):
    """Imports the public names when the first of them is used, so that the command line can say its version at once."""

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(".public", __name__), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Importing the module stablesketch.plan sets `plan` here; but `ss.plan` is the function."""
        if not (name in _FUNCTIONS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


_FUNCTIONS = ("audit", "plan", "release")  # which live in modules of the same names
sys.modules[__name__].__class__ = _Package
