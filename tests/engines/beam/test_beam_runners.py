"""The same pipeline on other runners, and the same bits over any number of bundles.

Flink and Dataflow are not here. What they are sent, and by whom pairs are combined there, is: the portable runner hands
the pipeline as protobuf to a job service over gRPC, and that to a worker in a process of its own, as on any cluster.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from beam_pipelines import ADD_REMOVE, PAIRS, Parts, beam, written
from engine_streams import secret

import stablesketch as ss
from stablesketch.beam import Release, SecretFrom, Sketch, typed_error

WORKER = f"{sys.executable} -m apache_beam.runners.worker.sdk_worker_main"
PORTABLE = (
    "--runner=PortableRunner", "--job_endpoint=embed",
    "--environment_type=beam:env:harness_subprocess_python:v1", f"--environment_config={WORKER}",
)  # fmt: skip
PROCESSES = ("--runner=DirectRunner", "--direct_num_workers=2", "--direct_running_mode=multi_processing")
REPLACE = ss.Privacy(1.0, 1e-6, pairs=100, max_value=5, relation="replace")
PLANS = {
    "moment": ss.plan(ss.Moment(0.5), REPLACE, size=40, mechanism="bare"),
    "hill": ss.plan(ss.Hill(0.5), REPLACE, size=40, mechanism="bare"),
    "shannon": ss.plan(
        ss.Shannon(), ss.Privacy(1.0, 1e-6, pairs=3000, max_value=5, relation="replace"), mechanism="bare"
    ),
    "distinct": ss.plan(ss.Distinct(), REPLACE, mechanism="bare"),
}


def local(plan: ss.Plan) -> str:
    collector = plan.open(secret(), "x")
    collector.update([key for key, _ in PAIRS], [value for _, value in PAIRS])
    return collector.to_bytes().hex()


def branches(pipeline: Any, reference: SecretFrom, sources: list[int], names: list[str]) -> Any:
    """Several pipelines in one, which is quicker: a sketch for each number of bundles and each plan, as lines."""
    made = []
    for parts in sources:
        source = pipeline | f"Source {parts}" >> Parts(PAIRS, parts)
        for name in names:
            stored = source | f"{name} {parts}" >> Sketch(PLANS[name], secret=reference, shard="x")
            told = f"{name} {parts}"
            made.append(stored | f"Told {told}" >> beam.Map(lambda blob, told: f"{told} {blob.hex()}", told))
    return made | beam.Flatten()


@pytest.mark.slow
def test_every_statistic_has_the_same_bits_over_any_number_of_bundles(tmp_path: Path, secret_file: Path) -> None:
    reference = SecretFrom.file(secret_file)
    lines = written(lambda pipeline: branches(pipeline, reference, [1, 2, 7, 64], list(PLANS)), tmp_path)
    assert lines == sorted(f"{name} {parts} {local(plan)}" for name, plan in PLANS.items() for parts in (1, 2, 7, 64))


@pytest.mark.slow
@pytest.mark.parametrize("options", [PORTABLE, PROCESSES])
def test_the_same_on_runners_as_clusters_have_them(
    options: tuple[str, ...], tmp_path: Path, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored bytes, and a release of people in groups, which must be that of the direct runner under its secret."""
    reference = SecretFrom.file(secret_file)
    asked = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove", pairs_per_person=3)
    made = Release(ss.Moment(0.5), asked, groups=["FR", "DE"], person=True, size=50, secret=reference)
    people = [(i % 301, ("FR" if i % 4 else "DE", pair)) for i, pair in enumerate(PAIRS)]

    def released(pipeline: Any) -> Any:
        return pipeline | "People" >> Parts(people, 3) | "Released" >> made | beam.Map(lambda one: one.to_json())

    def both(pipeline: Any) -> Any:
        stored = branches(pipeline, reference, [7], ["moment", "shannon"])
        where = pipeline | "Where" >> beam.Create([0]) | beam.Map(lambda _: f"at {os.getpid()}")
        return (stored, released(pipeline), where) | "All" >> beam.Flatten()

    where, *lines = written(both, tmp_path, *options)
    assert where.startswith("at ")
    assert where != f"at {os.getpid()}"
    stored = [f"{name} 7 {local(PLANS[name])}" for name in ("moment", "shannon")]
    assert [line for line in lines if not line.startswith("{")] == sorted(stored)
    here = written(released, tmp_path)
    assert [line for line in lines if line.startswith("{")] == here
    assert {json.loads(line)["group"] for line in here} == {"FR", "DE"}


@pytest.mark.slow
@pytest.mark.parametrize("options", [PORTABLE, PROCESSES])
def test_the_error_of_a_worker_elsewhere_is_found(options: tuple[str, ...], tmp_path: Path, secret_file: Path) -> None:
    made = Release(ss.Moment(0.5), ADD_REMOVE, size=50, secret=SecretFrom.file(secret_file))
    with pytest.raises(Exception, match="is above the promised") as caught:  # whatever the runner raises
        written(
            lambda pipeline: pipeline | Parts([*PAIRS[:50], ("a", 70)], 5) | made | beam.Map(lambda one: one.to_json()),
            tmp_path, *options,
        )  # fmt: skip
    error = typed_error(caught.value)
    assert type(error) is ss.DataError
    assert str(error).startswith("the PCollection, column value is above the promised max_value=5, which")
    assert str(error).endswith("(max_value=).")
    assert not list(tmp_path.glob("out-*-of-*"))


@pytest.mark.slow
def test_a_secret_of_this_process_is_missed_in_another_one(tmp_path: Path) -> None:
    """And the message says what to pass."""
    made = Release(ss.Moment(0.5), ADD_REMOVE, size=50)
    with pytest.raises(Exception, match="another process") as caught:
        written(lambda pipeline: pipeline | Parts(PAIRS[:50], 2) | made | beam.Map(str), tmp_path, *PROCESSES)
    error = typed_error(caught.value)
    assert type(error) is ss.SecretMissing
    assert "SecretFrom.file" in str(error)
