"""The names that users see, each from where it lives. `__init__.py` imports them when the first one is used."""

from . import (
    errors as errors,
    paper as paper,
)
from .audit import audit as audit
from .bounding.max_value import AutoMaxValue as AutoMaxValue
from .collector import (
    Collector as Collector,
    release_all as release_all,
)
from .engines.local import release as release
from .engines.local.exact import Exact as Exact, exact as exact
from .errors import (
    ArgumentError as ArgumentError,
    ArgumentTypeError as ArgumentTypeError,
    BlobError as BlobError,
    BudgetExceeded as BudgetExceeded,
    CheckpointError as CheckpointError,
    ClockWentBackwards as ClockWentBackwards,
    DataError as DataError,
    ForeignBlob as ForeignBlob,
    LedgerCorrupt as LedgerCorrupt,
    LedgerError as LedgerError,
    LedgerMismatch as LedgerMismatch,
    LibraryMissing as LibraryMissing,
    MergeError as MergeError,
    NegativeTotal as NegativeTotal,
    PlanInfeasible as PlanInfeasible,
    ReleasedAlready as ReleasedAlready,
    ReleaseInterrupted as ReleaseInterrupted,
    SecretFileError as SecretFileError,
    SecretMismatch as SecretMismatch,
    SecretMissing as SecretMissing,
    SecretNotPicklable as SecretNotPicklable,
    SecretSpent as SecretSpent,
    ShardMergedTwice as ShardMergedTwice,
    ShardsMissing as ShardsMissing,
    StablesketchError as StablesketchError,
    StreamTooShort as StreamTooShort,
    UnitMismatch as UnitMismatch,
    UnsupportedVersion as UnsupportedVersion,
)
from .law import StableLaw as StableLaw
from .ledger import (
    Ledger as Ledger,
    Preview as Preview,
    Record as Record,
    Schedule as Schedule,
)
from .plan import (
    Plan as Plan,
    plan as plan,
)
from .privacy import (
    Privacy as Privacy,
    PrivacyCurve as PrivacyCurve,
    Sampling as Sampling,
    sensitivity as sensitivity,
)
from .published import (
    Point as Point,
    Release as Release,
)
from .release.outcome import (
    GroupRelease as GroupRelease,
    Outcome as Outcome,
)
from .release.question import (
    Question as Question,
    question as question,
)
from .secret import Secret as Secret
from .sketch import (
    Estimate as Estimate,
    Sketch as Sketch,
)
from .statistic import (
    HHI as HHI,
    Atkinson as Atkinson,
    Distinct as Distinct,
    GeneralisedEntropy as GeneralisedEntropy,
    Hill as Hill,
    Moment as Moment,
    Profile as Profile,
    Renyi as Renyi,
    Shannon as Shannon,
    Simpson as Simpson,
    Total as Total,
    Tsallis as Tsallis,
)
