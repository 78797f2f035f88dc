"""ln D_q from what is measured, against its formula."""

from __future__ import annotations

import numpy as np
import pytest

from stablesketch.statistic import Moment, Total
from stablesketch.statistic.log_hill import log_hill


@pytest.mark.parametrize("order", [0.05, 0.5, 0.9, 0.999, 1.001, 1.5, 2.0])
def test_the_logarithm_of_a_hill_number_by_powers(order: float) -> None:
    """x = F_q/N^q is cut to what one key and a thousand times N keys give; by chance both may be 0 or less."""
    moment = np.array([-3.0, 0.0, 1e-9, 0.5, 1.0, 7.0, 1e3, 1e9, 1e19])[:, np.newaxis]
    total = np.array([-5.0, 0.0, 1.0, 2.5, 1e3, 1e9, 1e19])
    n = np.maximum(total, 1.0)
    most = (1e3 * n) ** (1.0 - order)
    wanted = np.log(np.clip(moment / n**order, np.minimum(most, 1.0), np.maximum(most, 1.0))) / (1.0 - order)
    found = log_hill(order, {Moment(order): moment, Total(): total}, 0)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(log_hill(order, {Moment(order): moment[:, 0]}, 1_000), wanted[:, 4], rtol=1e-10)
