"""stablesketch: frequency moments of streams, F_p = sum over keys of (total of the key)^p, in a few kilobytes.

>>> import stablesketch as ss
>>> sketch = ss.Sketch(p=0.5, size=500)
>>> sketch.update(["home", "search", "home", "cart"])
>>> sketch.estimate().low < 2**0.5 + 2 < sketch.estimate().high * 2
True
"""

from . import errors, paper
from .audit import audit
from .bounding.max_value import AutoMaxValue
from .collector import Collector, release_all
from .engines.local import release
from .engines.local.exact import Exact, exact
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
from .law import StableLaw
from .ledger import Ledger, Preview, Record, Schedule
from .plan import Plan, plan
from .privacy import Privacy, PrivacyCurve, Sampling, sensitivity
from .published import Point, Release
from .release.outcome import GroupRelease, Outcome
from .release.question import Question, question
from .secret import Secret
from .sketch import Estimate, Sketch
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
