"""What the tests of Beam have in common: sources in bundles and windows, and what comes out of a pipeline."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

beam = pytest.importorskip(
    "apache_beam", reason="BEAM IS NOT IN THIS ENVIRONMENT: make test runs these tests in .venv-beam"
)

from apache_beam.internal.cloudpickle import cloudpickle  # noqa: E402
from apache_beam.options.pipeline_options import PipelineOptions  # noqa: E402
from apache_beam.transforms import trigger, window  # noqa: E402
from engine_streams import rows  # noqa: E402

import stablesketch as ss  # noqa: E402

# Taken from here, not from Beam: without Beam this module is skipped, and with it those that import it first.
__all__ = ["beam", "cloudpickle", "trigger", "window"]

PAIRS = [(row[0], row[1]) for row in rows()]
REPLACE = ss.Privacy(1.0, 1e-6, pairs=3000, max_value=5, relation="replace")
ADD_REMOVE = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove")


class Parts(beam.PTransform):  # type: ignore[misc, name-defined]
    """Elements from so many bundles."""

    def __init__(self, elements: list[Any], parts: int) -> None:
        super().__init__()
        self._elements, self._parts = elements, parts

    def expand(self, pipeline: Any) -> Any:
        pieces = [self._elements[i :: self._parts] for i in range(self._parts)]
        return pipeline | beam.Create(pieces) | beam.Reshuffle() | beam.FlatMap(lambda piece: piece)


class Timed(beam.PTransform):  # type: ignore[misc, name-defined]
    """An element a second, in windows."""

    def __init__(self, fn: Any, elements: list[Any]) -> None:
        super().__init__()
        self._fn, self._elements = fn, elements

    def expand(self, pipeline: Any) -> Any:
        timed = pipeline | beam.Create(list(enumerate(self._elements)))
        timed = timed | beam.MapTuple(lambda second, one: window.TimestampedValue(one, second))
        return timed | beam.WindowInto(self._fn)


def written(build: Callable[[Any], Any], folder: Path, *options: str) -> list[str]:
    """The lines that `build` makes of a pipeline, through files: a pipeline has no other way back."""
    stem = folder / f"out-{os.urandom(4).hex()}"
    with beam.Pipeline(options=PipelineOptions(list(options))) as pipeline:
        build(pipeline) | "Written" >> beam.io.WriteToText(str(stem))
    return sorted(line for path in folder.glob(f"{stem.name}*") for line in path.read_text().splitlines())


def result(source: Any, transform: Any, folder: Path, *options: str) -> list[dict[str, Any]]:
    """The releases, as their JSON."""
    lines = written(
        lambda pipeline: pipeline | source | "Tested" >> transform | beam.Map(lambda one: one.to_json()),
        folder, *options,
    )  # fmt: skip
    return sorted((json.loads(line) for line in lines), key=lambda one: str(one.get("group")))


def blobs(source: Any, transform: Any, folder: Path, *options: str) -> list[bytes]:
    """The collectors."""
    lines = written(
        lambda pipeline: pipeline | source | "Tested" >> transform | beam.Map(lambda blob: blob.hex()),
        folder, *options,
    )  # fmt: skip
    return [bytes.fromhex(line) for line in lines]
