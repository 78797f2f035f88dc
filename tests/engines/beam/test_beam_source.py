"""A pipeline as a `Source`: it collects what a `LocalSource` collects from the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from beam_pipelines import ADD_REMOVE, Parts, beam, written
from engine_streams import rows

import stablesketch as ss
from stablesketch.beam import SecretFrom
from stablesketch.bounding.groups import Name, group_secret
from stablesketch.engines.beam.source import BeamSource
from stablesketch.engines.local.release import LocalSource
from stablesketch.engines.secret_from import TheSecret
from stablesketch.reading.duckdb import DuckDB
from stablesketch.release.decide import decide
from stablesketch.release.source import AnsweringSource, Source


@pytest.mark.parametrize(
    ("by", "names", "found"),
    [
        (None, None, [()]),
        ("country", None, [("DE",), ("FR",)]),
        ("country", [("FR",), ("XX",)], [("FR",), ("XX",)]),
    ],
)
def test_the_collectors_are_those_of_one_machine(
    by: str | None, names: list[Name] | None, found: list[Name], tmp_path: Path, secret_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    question = ss.question(ss.Moment(0.5), ADD_REMOVE, key="app", value="n", by=by, size=30)
    chosen, secret = decide(question).plan, TheSecret(SecretFrom.file(secret_file))
    elements = [(country, (app, n)) if by else (app, n) for app, n, _, country, _ in rows()]

    def built(pipeline: Any) -> Any:
        source: Source[Any] = BeamSource(question, pipeline | Parts(elements, 3), secret, windowed=False)
        lines = beam.MapTuple(lambda name, counted: f"{' '.join(name)}|{counted[0].hex()}|{counted[1]}")
        return source.collected(chosen, names) | lines

    there = {}
    for line in written(built, tmp_path):
        group, blob, pairs = line.split("|")
        own = group_secret(secret.find(), (group,)) if group else secret.find()
        state = ss.Collector.from_bytes(bytes.fromhex(blob), own)._held().to_bytes()
        there[(group,) if group else ()] = state, int(pairs)

    table = tmp_path / "rows.csv"
    table.write_text("".join(["app,n,country\n", *(f"{app},{n},{country}\n" for app, n, _, country, _ in rows())]))
    monkeypatch.setattr(ss.Secret, "generate", secret.find)
    with DuckDB() as duckdb:
        source: AnsweringSource = LocalSource(duckdb, question, table)
        # One by one: in a table, keys have the fingerprints that its first group gives them.
        alone = {name: next(source.collected(chosen, [name] if name else None)) for name in found}
        assert there == {name: (one._held().to_bytes(), one.pairs) for name, one in alone.items()}
