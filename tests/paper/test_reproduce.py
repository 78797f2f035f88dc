"""The reproduction as a whole: every figure by one command, the same bytes from run to run; bad calls; its parts."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.paper import real_data
from stablesketch.paper.algorithm import RATE, KeyTotals, library_release, moment, paper_estimate
from stablesketch.paper.baselines import noisy_histogram, plugged_in
from stablesketch.paper.output import Output
from stablesketch.paper.reproduce import reproduce
from stablesketch.paper.synthetic import key_chances
from stablesketch.privacy.sample_moment import predicted_bias

FIGURES = {
    "baselines", "figure-1-sensitivity", "figure-2-density-ratio", "figure-3-epsilon", "figure-4-binomial",
    "figure-4-uniform", "figure-5-real-generated", "figure-6-density-ratio-above-1", "space", "theorem-4", "theorem-5",
}  # fmt: skip
TABLES = FIGURES | {"baselines-measured", "claims", "theorem-1", "theorems-2-and-3"}
REFUTED = {
    "ρ is about 2^{2-2p} for n ≫ M": "Section 3.2",
    "three monotone parts": "Section 6, figure 6",
    "q times ε": "Theorem 4",
}


@pytest.mark.slow
def test_every_figure_by_one_command_twice_the_same(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("one", "two"):
        command = [sys.executable, "-m", "stablesketch.paper", "--quick", "-o", str(tmp_path / name)]
        subprocess.run(command, check=True, capture_output=True)
    one, two = tmp_path / "one", tmp_path / "two"
    wanted = {f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")} | {f"{name}.csv" for name in TABLES}
    assert {path.name for path in one.iterdir()} == wanted | {"report.md"}
    for path in one.iterdir():
        if path.name != "baselines-measured.csv":
            assert path.read_bytes() == (two / path.name).read_bytes(), path.name
    with (one / "claims.csv").open(encoding="utf-8") as file:
        claims = list(csv.DictReader(file))
    assert {claim["verdict"] for claim in claims} == {"confirmed", "refuted"}
    assert set(REFUTED.values()) <= {claim["place"] for claim in claims if claim["verdict"] == "refuted"}
    with (one / "figure-4-uniform.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ours = [row for row in rows if row["way"] == "library"]
    assert all(float(row["epsilon"]) <= 1.0 and float(row["median"]) < 0.25 for row in ours)


def test_the_two_ways_on_one_stream() -> None:
    """1,000 keys seen once: Algorithm 2 is off by q^{1-p} as predicted, the library is not. Fixed secrets."""
    stream = KeyTotals(np.arange(1_000), np.ones(1_000, np.int64), 1_000)
    exact = moment(stream.totals, 0.5)
    theirs = np.array([paper_estimate(stream, 0.5, f"test {k}") / exact for k in range(30)])
    ours = np.array([library_release(stream, 0.5, f"test {k}") / exact for k in range(30)])
    assert abs(theirs.mean() - 1.0 - predicted_bias(stream.totals, RATE, 0.5)) < 5.0 * theirs.std() / 30**0.5
    assert abs(ours.mean() - 1.0) < 5.0 * ours.std() / 30**0.5
    assert theirs.max() < ours.min()


def test_an_empty_sample_is_an_estimate_of_nothing() -> None:
    stream = KeyTotals(np.arange(1), np.ones(1, np.int64), 1)
    assert 0.0 in {paper_estimate(stream, 0.5, f"empty {k}") for k in range(5)}


def test_streams_have_the_shape_they_should() -> None:
    assert key_chances("uniform").sum() == pytest.approx(1.0)
    binomial = key_chances("binomial")
    assert binomial.argmax() in (499, 500)
    assert binomial @ np.arange(1_000) == pytest.approx(499.5)
    sparse = real_data.stand_in(50_000).added_up()
    assert sparse.pairs == sparse.totals.sum() == 50_000
    assert len(sparse.keys) > 40_000


def test_parquet_streams_are_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"key": ["a", "b", "a"], "value": [1, 5, 2]}), tmp_path / "some.parquet")
    (some,) = real_data.read_streams(tmp_path)
    stream = some.added_up()
    assert (some.name, stream.pairs, stream.most, sorted(stream.totals.tolist())) == ("some", 3, 5, [3, 5])
    pq.write_table(pa.table({"key": ["a"], "value": [0]}), tmp_path / "zero.parquet")
    with pytest.raises(ss.DataError, match="not positive integers"):
        real_data.read_streams(tmp_path)
    (tmp_path / "zero.parquet").write_bytes(b"no")
    with pytest.raises(ss.DataError, match="not a Parquet file"):
        real_data.read_streams(tmp_path)


def test_bad_calls_say_what_to_do_before_anything_is_computed(tmp_path: Path) -> None:
    with pytest.raises(ss.ArgumentError, match="must be a folder with Parquet files"):
        reproduce(tmp_path / "out", tmp_path / "nothing", progress=False)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ss.ArgumentError, match=r"cannot be created as a folder \(File exists\)"):
        Output(tmp_path / "file")


def test_a_noisy_histogram_of_a_large_domain_is_noise() -> None:
    """One key in a domain of 100,000, ε = 1: the plug-in of F_0.5 is the noise of the empty bins. Fixed seed."""
    counts = noisy_histogram(np.array([9]), 100_000, 1, np.random.default_rng(1))
    assert plugged_in(counts, 0.5) > 10_000
    assert plugged_in(counts, 0.5, threshold=100.0) == 0.0
    assert counts.std() == pytest.approx(2.0 * 2.0**0.5, rel=0.05)
