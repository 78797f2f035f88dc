"""The files that three newcomers bring: up to two million rows or cells each, made up, but shaped like real ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv

ROWS = 2_000_000
COUNTRIES = np.array(["DE", "FR", "IT", "PT", "MT"])
SITES, SPECIES = 400, 5_000


def app_opens(path: Path) -> None:
    """A row for each time somebody opened an app. Few people open most of them, and few apps are opened most."""
    rng = np.random.default_rng(20)
    people = (150_000 * rng.random(ROWS) ** 3).astype(np.int64)
    app = (rng.zipf(1.25, ROWS) + 7 * (people % 5)) % 20_000
    columns = {"user": people, "country": pa.array(COUNTRIES[people % 31 // 7]), "app": app}
    csv.write_csv(pa.table(columns), path)


def abundances(path: Path) -> None:
    """Sites by species, as vegan and scikit-bio take it: two million cells, most of them 0."""
    rng = np.random.default_rng(21)
    counts = rng.poisson(rng.lognormal(-3.0, 2.0, SPECIES) * rng.gamma(2.0, 0.5, (SITES, SPECIES)))
    species = {f"sp{number}": counts[:, number] for number in range(SPECIES)}
    csv.write_csv(pa.table({"site": [f"site {number}" for number in range(SITES)]} | species), path)


def counts(path: Path) -> None:
    """A small study: twelve sites by 300 species, 800 to 2,000 individuals a site."""
    rng = np.random.default_rng(24)
    shares = rng.lognormal(0.0, 1.6, 300) * rng.gamma(1.5, 1.0, (12, 300))
    table = np.array([rng.multinomial(rng.integers(800, 2_001), each / each.sum()) for each in shares])
    species = {f"sp{number + 1}": table[:, number] for number in range(300)}
    csv.write_csv(pa.table({"site": [f"site {number}" for number in range(1, 13)]} | species), path)


def sightings(path: Path) -> None:
    """A row for each sighting of a species at one of twelve sites, which differ in how even they are."""
    rng = np.random.default_rng(23)
    site = rng.integers(1, 13, ROWS)
    species = np.minimum(rng.exponential(1.0, ROWS) ** 3 * (20 + 10 * site), 9_999).astype(np.int64)
    csv.write_csv(pa.table({"site": [f"site {number}" for number in site], "species": species}), path)


def flows(path: Path) -> None:
    """An hour of Suricata's eve.json from noon on; in its last ten minutes one address scans all others."""
    rng = np.random.default_rng(22)
    second = np.sort(rng.integers(0, 3600, ROWS))
    source = rng.zipf(1.2, ROWS) % 65_000
    source[(second >= 3000) & (rng.random(ROWS) < 0.9)] = 4242
    rows = pa.table({"second": second, "source": source})
    with duckdb.connect() as base:
        base.register("made", rows)
        base.execute(
            f"""copy (select
            strftime(timestamp '2026-11-16 12:00' + to_seconds(second), '%Y-%m-%dT%H:%M:%S+0000') as timestamp,
            'flow' as event_type, '10.0.' || (source // 256) || '.' || (source % 256) as src_ip
            from made) to '{path}' (format json, compression gzip)"""
        )
