"""Statistics of a stream: frozen objects, each with everything that is specific to it."""

from ..numbers.arrays import Array
from .arguments import Argument, Option
from .concentration import HHI, Simpson
from .diversity import Hill, Renyi, Tsallis
from .inequality import Atkinson, GeneralisedEntropy
from .known import Known
from .measured import Distinct, Moment, Shannon, Total, total_is_public
from .profile import Profile
from .registry import STATISTICS, from_dict, register, usual
from .statistic import Derived, Measured, Statistic, exact_name
from .words import Subject, Topic

__all__ = [
    "HHI",
    "STATISTICS",
    "Argument",
    "Array",
    "Atkinson",
    "Derived",
    "Distinct",
    "GeneralisedEntropy",
    "Hill",
    "Known",
    "Measured",
    "Moment",
    "Option",
    "Profile",
    "Renyi",
    "Shannon",
    "Simpson",
    "Statistic",
    "Subject",
    "Topic",
    "Total",
    "Tsallis",
    "exact_name",
    "from_dict",
    "register",
    "total_is_public",
    "usual",
]
