"""stablesketch: frequency moments of streams, F_p = sum over keys of (total of the key)^p, in a few kilobytes.

>>> import stablesketch as ss
>>> sketch = ss.Sketch(p=0.5, size=500)
>>> sketch.update(["home", "search", "home", "cart"])
>>> sketch.estimate().low < 2**0.5 + 2 < sketch.estimate().high * 2
True
"""

from . import errors
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    BlobError,
    ForeignBlob,
    MergeError,
    NegativeTotal,
    SecretFileError,
    SecretMismatch,
    SecretMissing,
    SecretNotPicklable,
    StablesketchError,
    UnsupportedVersion,
)
from .law import StableLaw
from .secret import Secret
from .sketch import Estimate, Sketch

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BlobError",
    "Estimate",
    "ForeignBlob",
    "MergeError",
    "NegativeTotal",
    "Secret",
    "SecretFileError",
    "SecretMismatch",
    "SecretMissing",
    "SecretNotPicklable",
    "Sketch",
    "StableLaw",
    "StablesketchError",
    "UnsupportedVersion",
    "errors",
]
