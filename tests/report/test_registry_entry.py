"""The entry for a registry of deployments: its fields and their kinds, what it says, and that no value is in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import stablesketch as ss
from stablesketch.cli.app import run

# The sections of the registry and the fields that each may have, as its schema has them.
FIELDS = {
    "basic": {
        "name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region",
        "data_product_sector", "publication_date",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        "privacy_unit", "privacy_unit_details", "number_of_privacy_units", "privacy_parameters",
        "privacy_parameters_details",
    },
    "deployment_model": {
        "model_name", "model_name_details", "trust_assumptions", "actors", "release_type", "release_type_details",
        "data_source_type", "data_source_type_details", "access_type", "access_type_details",
    },
    "implementation": {
        "preprocessing_and_hyperparameter_tuning", "mechanisms", "composition", "post_processing", "justification",
        "utility", "additional_information",
    },
    "administrative": {"evidence_sources", "status", "registry_authors", "tier"},
}  # fmt: skip


def _events(folder: Path) -> str:
    path = folder / "events.csv"
    rows = (f"u{i % 50},a{i % 7},{'FR' if i % 3 else 'DE'}" for i in range(600))
    path.write_text("user,app,country\n" + "\n".join(rows) + "\n")
    return str(path)


def _entry(path: Path) -> dict[str, Any]:
    entry = yaml.safe_load(path.read_text())
    assert set(entry) == {"url_slug", "deployment"}
    assert set(entry["deployment"]) == set(FIELDS)
    for section, fields in FIELDS.items():
        assert set(entry["deployment"][section]) <= fields
    assert re.fullmatch("[a-z0-9-]+", entry["url_slug"])
    found: dict[str, Any] = entry["deployment"]
    return found


@pytest.mark.parametrize(
    ("asked", "unit"),
    [
        (["--epsilon", "1", "--delta", "1e-9"], "Row"),
        (["--epsilon", "1", "--delta", "1e-9", "--mechanism", "exact"], "Row"),
        (["--epsilon", "1", "--delta", "1e-9", "--relation", "replace"], "Row"),
        (["--epsilon", "1", "--delta", "1e-9", "--person", "user", "--pairs-per-person", "3"], "Person"),
        (
            ["--epsilon", "1", "--delta", "1e-9", "--person", "user", "--by", "country", "--groups", "names.txt"],
            "Person",
        ),
        (["--epsilon", "1", "--delta", "1e-9", "--by", "country", "--p", "0.5"], "Row"),
    ],
)
def test_the_entry_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: list[str], unit: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("names.txt").write_text("FR\nDE\nIT\n")
    path = tmp_path / "entry.yaml"
    names = ["--dataset", 'Apps: "all"', "--period", "2026", "--label", "weekly"]
    assert run(["release", _events(tmp_path), "--key", "app", *asked, "--registry", str(path), *names]) == 0
    assert f"written to {path}" in capsys.readouterr().err.replace("\n", " ")
    entry = _entry(path)
    assert entry["basic"]["name"] == 'weekly, Apps: "all", 2026'
    loss = entry["privacy_loss"]
    assert (loss["privacy_unit"], 0 < loss["privacy_parameters"]["epsilon"] <= 1.0) == (unit, True)
    delta = loss["privacy_parameters"]["delta"]
    assert isinstance(delta, float)
    assert entry["dp_variant"]["variant_name"] == ("Approximate DP" if delta else "Pure DP")
    assert ("The number of rows" in entry["dp_variant"]["unprotected_quantities"]) == ("replace" in asked)


def test_no_value_is_in_it_and_what_is_missing_is_said(tmp_path: Path) -> None:
    released = ss.release(_events(tmp_path), ss.Hill(0.5), ss.Privacy(1.0, 1e-9), key="app")
    path = tmp_path / "entry.yaml"
    released.registry(path)
    text = path.read_text()
    (one,) = released.releases
    for value in (one.value, one.low, one.high):
        assert f"{value:.4g}" not in text
    assert "events.csv" not in text
    assert 'Every text that begins with "Fill in:" is for you to replace.' in text
    assert text.count('"Fill in: ') == 6


@pytest.mark.parametrize("name", ["entry.json", "entry", "gone/entry.yaml"])
def test_a_name_that_does_not_serve_is_refused_before_anything_is_spent(tmp_path: Path, name: str) -> None:
    events = _events(tmp_path)
    ledger = tmp_path / "b.db"
    assert run(["ledger", "new", str(ledger), "--epsilon", "1", "--delta", "1e-6"]) == 0
    asked = ["--key", "app", "--epsilon", "1", "--delta", "1e-9", "--ledger", str(ledger)]
    assert run(["release", events, *asked, "--registry", str(tmp_path / name)]) == 2
    assert ss.Ledger(ledger).spent() == 0.0
