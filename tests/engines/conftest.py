from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_streams import QUICK_JAVA, secret

NO_JAVA = (
    "NO JAVA, SO NOTHING ON SPARK WAS TESTED. Install it: apt-get install openjdk-17-jre-headless, or set JAVA_HOME."
)


@pytest.fixture(scope="session")
def java() -> None:
    """Loud where there is no Java; on continuous integration, which installs it, an error."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(NO_JAVA)


@pytest.fixture(scope="session")
def spark(java: None) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as environment:
        for name, value in QUICK_JAVA.items():
            environment.setenv(name, value)  # for this Java alone, not for what other tests start
        warnings.simplefilter("ignore", FutureWarning)  # PySpark about pandas 3, of which nothing is used here
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2, 4]")  # two threads, and a task may fail three times
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "3")
            .config("spark.driver.memory", "1g")
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "s.key"
    secret().save(path)
    return path
