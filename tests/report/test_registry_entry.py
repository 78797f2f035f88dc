"""The entry for a registry of deployments: its fields and their kinds, what it says, and that no value is in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from outcomes import outcome_of

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


_WIDE = "site,ash,beech,oak\nA,900,0,7\nB,800,9,1\nC,1,1,20\n"
_COUNTS = "ash,beech,oak\n12,5,7\n3,9,1\n"


@pytest.mark.parametrize(
    ("text", "asked", "unit", "public"),
    [
        (_COUNTS, ["--wide"], "Individual", "None."),
        (_COUNTS, ["--wide", "--max-value", "20"], "Cell", "None."),
        (_COUNTS, ["--wide", "--max-value", "20", "--relation", "replace"], "Cell", "- The number of cells."),
        ("id,n\n7,3\n8,5\n", ["--key", "id", "--value", "n", "--max-value", "20", "--unit", "key",
         "--relation", "replace"], "Person", "- The number of keys."),
    ],
)  # fmt: skip
def test_what_is_protected_is_called_a_row_only_if_it_is_one(
    tmp_path: Path, text: str, asked: list[str], unit: str, public: str
) -> None:
    """A row of a wide table has many pairs, and a row of counts many individuals: one of them is protected."""
    table, entry, page = tmp_path / "species.csv", tmp_path / "entry.yaml", tmp_path / "page.html"
    table.write_text(text)
    kept = ["--registry", str(entry), "--report", str(page)]
    assert run(["release", str(table), *asked, "--epsilon", "1", "--delta", "1e-9", *kept]) == 0
    found = _entry(entry)
    assert found["privacy_loss"]["privacy_unit"] == unit
    assert found["dp_variant"]["unprotected_quantities"].strip() == public
    loss = found["privacy_loss"]
    for said in (loss["privacy_unit_details"], loss["privacy_parameters_details"], page.read_text()):
        assert not re.search(r"\b(one|any|a|several|1) (row|record)s?\b", said), said
    assert ("key" if unit == "Person" else unit.lower()) in page.read_text()


def test_of_a_stored_sketch_nobody_knows_what_a_row_was(tmp_path: Path) -> None:
    """It may be of a wide table, in which a pair is a cell."""
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, max_value=5), size=16)
    collector = plan.open()
    collector.update(["ape", "bee"], [2, 3])
    outcome = outcome_of(plan, [collector.release()])
    outcome.registry(tmp_path / "entry.yaml")
    outcome.report(tmp_path / "page.html")
    assert _entry(tmp_path / "entry.yaml")["privacy_loss"]["privacy_unit"] == "Pair"
    assert "Whether any one pair is in the data at all." in (tmp_path / "page.html").read_text()


def test_names_are_chosen_by_what_was_counted(tmp_path: Path) -> None:
    table, entry = tmp_path / "species.csv", tmp_path / "entry.yaml"
    table.write_text(_WIDE)
    asked = ["--wide", "--by", "site", "--epsilon", "3", "--delta", "1e-6", "--registry", str(entry)]
    assert run(["release", str(table), *asked]) == 0
    said = _entry(entry)["implementation"]["mechanisms"]
    assert "The individuals of every group were counted" in said
