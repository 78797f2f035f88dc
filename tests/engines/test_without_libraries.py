"""What users see if an engine, or Java, is missing; and that --engine and --master go together."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stablesketch.cli.app import run
from stablesketch.engines.spark.files import need_java
from stablesketch.errors import LibraryMissing


@pytest.mark.parametrize(("module", "library"), [("spark", "pyspark"), ("beam", "apache_beam")])
def test_a_missing_library_is_named_with_the_command_that_installs_it(module: str, library: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "import stablesketch as ss\n"
        f"try: import stablesketch.{module}\n"
        "except ss.LibraryMissing as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert f"needs {library}" in shown
    assert f"pip install 'stablesketch[{module}]'" in shown


def test_a_missing_java_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(
        LibraryMissing, match=r"Java 17 or later.*JAVA_HOME = .*apt-get install openjdk-17-jre-headless"
    ):
        need_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LibraryMissing, match="not found on the path"):
        need_java()


def test_engine_and_master_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["release", "e.parquet", "--key", "k", "--p", "0.5", "--epsilon", "1", "--delta", "1e-9"]
    assert run([*asked, "--engine", "spark"]) == 2
    assert "--master" in capsys.readouterr().err
    assert run([*asked, "--master", "local[2]"]) == 2
    assert "--engine spark" in capsys.readouterr().err
