"""stablesketch: frequency moments of streams, F_p = sum over keys of (total of the key)^p, in a few kilobytes.

>>> import stablesketch as ss
>>> sketch = ss.Sketch(p=0.5, size=500)
>>> sketch.update(["home", "search", "home", "cart"])
>>> sketch.estimate().low < 2**0.5 + 2 < sketch.estimate().high * 2
True
"""

from . import errors, paper
from .audit import audit
from .collector import Collector
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    BlobError,
    ForeignBlob,
    MergeError,
    NegativeTotal,
    PlanInfeasible,
    ReleasedAlready,
    SecretFileError,
    SecretMismatch,
    SecretMissing,
    SecretNotPicklable,
    ShardMergedTwice,
    StablesketchError,
    StreamTooLong,
    StreamTooShort,
    UnsupportedVersion,
)
from .law import StableLaw
from .plan import Plan, plan
from .privacy import Privacy, PrivacyCurve, sensitivity
from .release import Release
from .secret import Secret
from .sketch import Estimate, Sketch
from .statistic import Moment

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BlobError",
    "Collector",
    "Estimate",
    "ForeignBlob",
    "MergeError",
    "Moment",
    "NegativeTotal",
    "Plan",
    "PlanInfeasible",
    "Privacy",
    "PrivacyCurve",
    "Release",
    "ReleasedAlready",
    "Secret",
    "SecretFileError",
    "SecretMismatch",
    "SecretMissing",
    "SecretNotPicklable",
    "ShardMergedTwice",
    "Sketch",
    "StableLaw",
    "StablesketchError",
    "StreamTooLong",
    "StreamTooShort",
    "UnsupportedVersion",
    "audit",
    "errors",
    "paper",
    "plan",
    "sensitivity",
]
