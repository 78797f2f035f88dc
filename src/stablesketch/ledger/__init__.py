"""The ledger: one budget for all releases of the same data, kept in a file, composed and enforced."""

from .ledger import Ledger
from .preview import Preview, Schedule
from .record import Record

__all__ = ["Ledger", "Preview", "Record", "Schedule"]
