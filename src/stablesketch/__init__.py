"""stablesketch: frequency moments of streams, F_p = sum over keys of (total of the key)^p, in a few kilobytes.

>>> import stablesketch as ss
>>> sketch = ss.Sketch(p=0.5, size=500)
>>> sketch.update(["home", "search", "home", "cart"])
>>> sketch.estimate().low < 2**0.5 + 2 < sketch.estimate().high * 2
True

Names are imported when they are first used: `import stablesketch` itself loads only the errors.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from . import errors
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    BlobError,
    BudgetExceeded,
    CheckpointError,
    ClockWentBackwards,
    DataError,
    ForeignBlob,
    LedgerCorrupt,
    LedgerError,
    LedgerMismatch,
    LibraryMissing,
    MergeError,
    NegativeTotal,
    PlanInfeasible,
    ReleasedAlready,
    ReleaseInterrupted,
    SecretFileError,
    SecretMismatch,
    SecretMissing,
    SecretNotPicklable,
    SecretSpent,
    ShardMergedTwice,
    ShardsMissing,
    StablesketchError,
    StreamTooShort,
    UnitMismatch,
    UnsupportedVersion,
)
from .frames.after_import import offer_on_frames

# Each name is listed three times, and tests keep the lists equal: here for type checkers, in `__all__`, which they only
# understand as a literal list, and in `_LIVE_IN`, where Python finds it on first use.
if TYPE_CHECKING:
    from . import paper
    from .audit import audit
    from .bounding.max_value import AutoMaxValue
    from .collector import Collector, release_all
    from .engines.local.exact import Exact, exact
    from .engines.local.release import release
    from .engines.local.stored import collect, merge
    from .law import StableLaw
    from .ledger import Ledger, Preview, Record, Schedule
    from .plan import Plan, plan
    from .privacy import Privacy, PrivacyCurve, Sampling, sensitivity
    from .release.arguments import question
    from .release.outcome import GroupRelease, Outcome
    from .release.question import Question
    from .secret import Secret
    from .sketch import EntropySketch, Estimate, Sketch
    from .statistic import (
        HHI,
        Atkinson,
        Distinct,
        GeneralisedEntropy,
        Hill,
        Moment,
        Profile,
        Renyi,
        Shannon,
        Simpson,
        Total,
        Tsallis,
    )
    from .statistic.published import Point, Release

__version__ = "0.2.0.dev0"

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
    "EntropySketch",
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
    "collect",
    "errors",
    "exact",
    "merge",
    "paper",
    "plan",
    "question",
    "release",
    "release_all",
    "sensitivity",
]

_LIVE_IN = {
    "audit": ("audit",),
    "bounding.max_value": ("AutoMaxValue",),
    "collector": ("Collector", "release_all"),
    "engines.local.exact": ("Exact", "exact"),
    "engines.local.release": ("release",),
    "engines.local.stored": ("collect", "merge"),
    "law": ("StableLaw",),
    "ledger": ("Ledger", "Preview", "Record", "Schedule"),
    "paper": ("paper",),
    "plan": ("Plan", "plan"),
    "privacy": ("Privacy", "PrivacyCurve", "Sampling", "sensitivity"),
    "statistic.published": ("Point", "Release"),
    "release.arguments": ("question",),
    "release.outcome": ("GroupRelease", "Outcome"),
    "release.question": ("Question",),
    "secret": ("Secret",),
    "sketch": ("EntropySketch", "Estimate", "Sketch"),
    "statistic": (
        "HHI", "Atkinson", "Distinct", "GeneralisedEntropy", "Hill", "Moment", "Profile", "Renyi", "Shannon", "Simpson",
        "Total", "Tsallis",
    ),
}  # fmt: skip
_NOT_FOLDERS = ("audit", "plan", "release")  # functions, even after the folder of the same name has been imported


class _Package(ModuleType):
    """This package. `__getattr__` is a method of a class, not of the module, so type checkers still know the names."""

    def __getattr__(self, name: str) -> object:
        home = next((home for home, names in _LIVE_IN.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=self)
        module = import_module(f".{home}", __name__)
        return vars(self).setdefault(name, module if name == "paper" else getattr(module, name))

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _NOT_FOLDERS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Pickles by name, like any module: functions that use it are sent to the workers of Spark and Beam."""
        return import_module, (__name__,)


sys.modules[__name__].__class__ = _Package


offer_on_frames()
