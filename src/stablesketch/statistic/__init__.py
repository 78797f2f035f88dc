"""What to know of a stream: frozen objects that name a statistic and nothing else."""

from .by_name import STATISTICS, from_dict
from .concentration import HHI, Simpson
from .diversity import Hill, Renyi, Tsallis, total_is_public
from .inequality import Atkinson, GeneralisedEntropy
from .known import Known
from .measured import Distinct, Shannon
from .moment import Moment, Total
from .profile import Profile
from .statistic import Array, Derived, Statistic, exact_name

__all__ = [
    "HHI",
    "STATISTICS",
    "Array",
    "Atkinson",
    "Derived",
    "Distinct",
    "GeneralisedEntropy",
    "Hill",
    "Known",
    "Moment",
    "Profile",
    "Renyi",
    "Shannon",
    "Simpson",
    "Statistic",
    "Total",
    "Tsallis",
    "exact_name",
    "from_dict",
    "total_is_public",
]
