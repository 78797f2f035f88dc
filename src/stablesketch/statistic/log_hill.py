"""ln D_q, the logarithm of the Hill number of order q, from measurements: what all diversities are computed from."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..numbers.arrays import Array
from .any_order import exact_inputs, exact_log_hill, is_released
from .measured import Distinct, Shannon
from .moment import Moment, Total
from .statistic import Measured, Statistic

_MOST_KEYS = 1e3  # for each unit of the total
_LEAST = 1e-300  # the smallest F_q used, so that it has a logarithm


def measured_for(order: float) -> tuple[Measured, ...]:
    """The measurements that ln D_q is computed from."""
    if order == 0.0:
        return (Distinct(),)
    if not is_released(order):
        return exact_inputs(order)
    return (Shannon(),) if order == 1.0 else (Moment(order), Total())


def log_hill(order: float, found: Mapping[Statistic, Array], pairs: int) -> Array:
    """ln D_q = (ln F_q - q ln N)/(1-q), never below 0; N is `pairs` if it was not measured.

    By chance an estimate can be anything, even 0 or less. D_q is then 1, or above order 1 a thousand times N. There are
    at most as many keys as the total, so the truth is at most N. But a noisy N must not cut the limits of D_q, because
    D_q may be N itself (`likely` cuts only the value).
    """
    if order == 1.0:
        return np.maximum(found[Shannon()], 0.0)
    if order == 0.0:
        return np.log(np.maximum(found[Distinct()], 1.0))
    if not is_released(order):
        return exact_log_hill(order, found)
    log_n = np.log(np.maximum(found.get(Total(), np.float64(pairs)), 1.0))
    log_f = np.log(np.maximum(found[Moment(order)], _LEAST))
    logs = np.asarray(log_f / (1.0 - order) - order / (1.0 - order) * log_n, dtype=np.float64)
    np.maximum(logs, 0.0, out=logs)
    return np.minimum(logs, math.log(_MOST_KEYS) + log_n, out=logs)


def log_hill_factor(order: float, measured: Statistic) -> float:
    """How much the error of each measurement grows in ln D_q."""
    if isinstance(measured, Total):
        return order / abs(1.0 - order)
    return 1.0 if order in (0.0, 1.0) else 1.0 / abs(1.0 - order)
