"""A measured statistic, its mechanism and a derived one are added from outside, through the registries alone, and come
out of every door: Python, command line, ledger, report and picture. CONTRIBUTING says how; toy.py does it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stablesketch.page import unbroken

HERE = Path(__file__).parent
TOTALS = Counter(f"app {i * i % 700}" for i in range(4_000))
UNEVEN = sum(total % 3 != 0 for total in TOTALS.values())
TRUTH = {"uneven": float(UNEVEN), "uneven_share": UNEVEN / len(TOTALS)}
NAMES = {"uneven": "keys uneven by 3", "uneven_share": "share of keys uneven by 3"}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "toy_releases.py"), str(tmp_path_factory.mktemp("toy"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(params=TRUTH)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def check(release: dict[str, Any], name: str) -> None:
    """Within three times the interval, which misses by that much with probability 1e-7; and paid for."""
    width = release["high"] - release["low"]
    assert release["low"] - width <= TRUTH[name] <= release["high"] + width
    assert release["statistic"] == NAMES[name]
    assert 0.0 < release["epsilon"] <= 2.0


def test_python(everything: dict[str, Any], name: str) -> None:
    found = everything[name]["python"]
    check(found["planned"], name)
    check(found["called"], name)
    check(found["usual"], name)
    assert NAMES[name] in found["plan"]
    assert "noise" in found["plan"]


def test_the_error_of_its_plan(everything: dict[str, Any]) -> None:
    """That of the only sketch in it, with 1,024 registers; the noise of both counts comes on top."""
    found = everything["uneven_share"]["python"]["sized"]
    assert found["sizes"] == [0, 1_024]
    assert found["error"] == pytest.approx(found["alone"], rel=1e-6)  # its share of ε changes the number of phantoms
    assert "1.08%, and ± 1.41 on the number of keys" in found["plan"]


def test_what_its_mechanism_has_not_is_refused(everything: dict[str, Any], name: str) -> None:
    error, size, exact, memory, bare = everything[name]["python"]["refused"]
    assert "a relative error cannot be planned" in error
    assert size.startswith("size cannot be used for keys uneven by 3, got 64")
    assert exact.startswith("size cannot be used with mechanism='exact', got 64")
    assert memory.startswith("memory cannot be used for keys uneven by 3, got '64K'")
    assert bare == "mechanism cannot be used for keys uneven by 3, got 'bare'. Pass 'sketch' or 'exact'."


def test_noise_and_audit(everything: dict[str, Any], name: str) -> None:
    """The audit's false alarm: at most 1%. Of 40 releases the mean noise is within a factor of 2 of its scale but for a
    probability of 1e-4 (discrete noise of scale 1/2 has a mean of 0.55 scales). The secrets are the same each time.
    Rounding to multiples of two, the number of its own in the plan, moves a value by at most two scales."""
    assert everything[name]["python"]["audit"]
    assert 0.25 < everything[name]["python"]["noise"] < 3.1


def test_a_number_of_its_own(everything: dict[str, Any]) -> None:
    """It is in the JSON of the plan, decides the release, and must be there."""
    found = everything["uneven"]["python"]
    assert json.loads(found["json"])["numbers"]["own"] == {"tick": 2.0}
    assert found["planned"]["value"] % 2.0 == found["planned"]["low"] % 2.0 == 0.0
    assert "inconsistent" in found["without"]


def test_ledger(everything: dict[str, Any], name: str) -> None:
    """One release and a table of two groups, charged with what the mechanism costs."""
    found = everything[name]["ledger"]
    check(found["one"], name)
    assert len(found["groups"]) == 2
    assert len(found["records"]) == 2
    assert 2.0 < found["spent"] <= 4.0 * (1.0 + 1e-9)


def test_command_line(everything: dict[str, Any], name: str) -> None:
    found = everything[name]["shell"]
    for title in ("plan", "release", "exact", "help"):
        assert found[title]["code"] == 0, found[title]["err"]
    assert NAMES[name] in found["plan"]["out"]
    assert "--modulus" in found["help"]["out"]
    assert found["refused"]["code"] == 2
    assert "shannon has no modulus: leave out --modulus." in found["refused"]["err"]
    check(json.loads(found["json"]), name)
    assert str(TRUTH[name])[:6] in found["exact"]["out"]


def test_report(everything: dict[str, Any], name: str) -> None:
    page = everything[name]["shell"]["html"]
    assert NAMES[name] in page
    assert "no multiple of 3" in page
    assert unbroken(f"--statistic {name} --modulus 3") in page


def test_picture(everything: dict[str, Any], name: str) -> None:
    """Of the release. The picture of a plan is about the one sketch in it: that of all keys, or none."""
    shell = everything[name]["shell"]
    assert "<svg" in shell["svg"]
    if name == "uneven":
        assert shell["drawn"]["code"] == 2
        assert "--plot must be for a single sketch" in shell["drawn"]["err"]
    else:
        assert shell["drawn"]["code"] == 0, shell["drawn"]["err"]
