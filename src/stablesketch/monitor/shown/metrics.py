"""Numbers for Prometheus, by `prometheus-client`: released ones for everyone, exact ones for this machine only.

The released ones come from the board alone. What that library adds by default, such as the processor time of this
process, is left out, because it grows with every row.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import ArgumentError
from ...files.durable import Reserved
from ...reading.libraries import need
from ..monitor import Monitor
from .board import Board


class ReleasedMetrics:
    """Gauges of the last released window; before the first one, only what is known without data."""

    def __init__(self, board: Board) -> None:
        self._board, self._core = board, need("prometheus_client.core", "monitor")

    def collect(self) -> Iterator[Any]:
        """The metrics, in the form of prometheus-client."""
        board, watch, last = self._board, self._board.watch, self._board.last
        yield self._core.InfoMetricFamily("stablesketch_build", "Version of stablesketch.", {"version": __version__})
        yield self._gauge("window_seconds", "Length of a window.", watch.windows.every)
        if board.budget is not None:
            yield self._gauge("epsilon_budget", "ε that the ledger allows, in each period if it renews.", board.budget)
        if last is None:
            return
        yield self._gauge("window_end_timestamp_seconds", "End of the last released window.", last.end)
        yield self._gauge("epsilon_spent", "At most the ε of what is protected, over all windows.", last.spent[0])
        yield self._gauge("delta_spent", "At most the δ of what is protected, over all windows.", last.spent[1])
        if last.left is not None:
            yield self._gauge("epsilon_remaining", "ε that is left in the ledger.", last.left)
        yield self._gauge("few_rows", "1 if the last window may have no rows: its values say nothing.", int(last.few))
        if last.fall is not None:
            about = "Deviations by which the first statistic is below the median of the windows before."
            yield self._gauge("fall_deviations", about, last.fall.deviations)
        confidence = f"{100 * watch.confidence:g}%"
        ends = ("", "Released value."), ("_low", f"Lower end of the {confidence} interval."), (
            "_high", f"Upper end of the {confidence} interval.",
        )  # fmt: skip
        found = sorted(zip(board.points, last.values, strict=True), key=lambda each: each[0].metric)
        for metric, group in itertools.groupby(found, lambda each: each[0].metric):
            members = list(group)
            for place, (end, about) in enumerate(ends):
                names = list(members[0][0].to_dict())[1:]
                family = self._core.GaugeMetricFamily(f"stablesketch_{metric}{end}", about, labels=names)
                for point, values in members:
                    family.add_metric([_label(field) for field in list(point.to_dict().values())[1:]], values[place])
                yield family

    def _gauge(self, name: str, about: str, value: float) -> Any:
        return self._core.GaugeMetricFamily(f"stablesketch_{name}", about, value=value)


class ExactMetrics:
    """Counts of rows and how far reading is behind. They are exact, so they are not private: one row changes them."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor, self._core = monitor, need("prometheus_client.core", "monitor")

    def collect(self) -> Iterator[Any]:
        """The metrics, in the form of prometheus-client."""
        for name, about in (
            ("rows", "Rows read."),
            ("bad", "Lines that could not be used."),
            ("late", "Rows of windows that were already closed."),
            ("early", "Rows from the future."),
        ):
            title = f"stablesketch_private_{name if name == 'rows' else name + '_rows'}"
            value = self._monitor.counters[name]
            yield self._core.CounterMetricFamily(title, f"{about} NOT PRIVATE.", value=value)
        about = "How far reading is behind the clock. NOT PRIVATE."
        yield self._core.GaugeMetricFamily("stablesketch_private_lag_seconds", about, value=self._monitor.lag)


def exposed(metrics: ReleasedMetrics | ExactMetrics, accepted: str = "") -> tuple[bytes, str]:
    """All metrics as text, in an accepted format, and its content type."""
    client = need("prometheus_client", "monitor")
    encoder, kind = client.exposition.choose_encoder(accepted)
    registry = client.CollectorRegistry()
    registry.register(metrics)
    return encoder(registry), kind


class TextFile:
    """Writes the released metrics to a file after each window, whole, for the textfile collector of node_exporter.

    A failure to write is reported once for each reason, and the monitor continues.
    """

    def __init__(self, path: Path, metrics: ReleasedMetrics, say: Callable[[str], None]) -> None:
        self._path, self._metrics, self._say, self._trouble = path, metrics, say, ""
        if path.suffix != ".prom":
            raise ArgumentError("textfile", str(path), "must end in .prom", "Choose another name")
        try:
            self._write()
        except OSError as error:
            raise ArgumentError(
                "textfile", str(path), f"cannot be written ({error.strerror})", "Choose another"
            ) from None

    def __call__(self, number: int, text: str) -> None:
        """Takes a record; the board already has its content."""
        try:
            self._write()
            self._trouble = ""
        except OSError as error:
            reason = f"{self._path} cannot be written ({error.strerror}). It is tried again after each window."
            if reason != self._trouble:
                self._say(reason)
            self._trouble = reason

    def _write(self) -> None:
        Reserved(self._path, public=True).store(exposed(self._metrics)[0], over=True)


def _label(field: object) -> str:
    return f"{field:g}" if isinstance(field, float) else str(field)
