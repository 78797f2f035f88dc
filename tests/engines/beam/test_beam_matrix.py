"""The situations of tests/engines/matrix_cells.py on Beam: the truth that other engines come to, from the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from beam_pipelines import Parts, beam, written
from matrix_cells import CALLS, SITUATIONS, Options, arguments_of, fixed_randomness, privacy_of, table, truth

import stablesketch as ss
from stablesketch.beam import Release

ROWS = 4_000
# By a sketch, by one of entropy, by registers, by a counter, and computed from others.
STATISTICS = (ss.Moment(0.5), ss.Shannon(), ss.Distinct(), ss.Total(), ss.Hill(0.5))


def elements(options: Options) -> list[Any]:
    """Rows as Beam takes them: (person, (group, (key, value))), with the parts that the situation has."""
    found: list[Any] = table(ROWS)[options["key"]].to_pylist()
    if "value" in options:
        found = list(zip(found, table(ROWS)[options["value"]].to_pylist(), strict=True))
    for name in ("by", "person"):
        if name in options:
            found = list(zip(table(ROWS)[options[name]].to_pylist(), found, strict=True))
    return found


def transform(statistic: ss.Statistic, options: Options) -> Release:
    own = {name: value for name, value in arguments_of(options).items() if name not in ("key", "value")}
    there = {name: True for name in ("by", "person") if own.pop(name, None) is not None}
    return Release(statistic, privacy_of(options), **there, **own)


@pytest.mark.parametrize("situation", [*(name for name in CALLS if name != "add_remove"), "individuals"])
def test_every_situation(situation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within twice the interval, which misses with a probability of about 1e-4 under another seed, for each number."""
    fixed_randomness(monkeypatch, "beam", situation)
    options = {**SITUATIONS[situation], "epsilon": 4.0}  # so that a few hundred people are enough for a name

    def build(pipeline: Any) -> Any:
        pairs = pipeline | Parts(elements(options), 2)
        branches = [
            pairs | f"{each}" >> transform(each, options) | f"{each}, its JSON" >> beam.Map(lambda one: one.to_json())
            for each in STATISTICS
        ]
        return branches | beam.Flatten()

    found = [json.loads(line) for line in written(build, tmp_path)]
    groups = len(set(table(ROWS)["country"].to_pylist())) if "by" in options else 1
    for statistic in STATISTICS:
        own = [one for one in found if one["statistic"] == str(statistic)]
        assert len(own) == groups
        for one in own:
            (true,) = truth(statistic, options, table(ROWS), one.get("group"))
            width = one["high"] - one["low"]
            assert one["low"] - width <= true <= one["high"] + width
