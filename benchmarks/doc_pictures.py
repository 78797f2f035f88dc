"""The pictures of the how-to pages and tutorials, made as their readers would make them.

    python benchmarks/doc_pictures.py [--output docs/images]

plan.svg is the picture of docs/how-to/plan.md. The others come from following a tutorial up to the command that draws
them; a release is random, so they differ each time.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = (
    ("how-to/plan.md", "plan.svg"),
    ("tutorials/groups.md", "countries.svg"),
    ("tutorials/microbes.md", "profile.svg"),
    ("tutorials/routes.md", "hubs.svg"),
)
SETUP = ("make cli", ". .venv/bin/activate")  # the environment this program runs in


def shell_blocks(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def followed(page: str, picture: str) -> bytes:
    """What the page draws into the file `picture`: its commands are run in an empty folder until the file exists."""
    script = []
    for block in shell_blocks(page):
        script += [line for line in block.splitlines() if line not in SETUP]
        if picture in block:
            break
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["bash", "-euo", "pipefail", "-c", "\n".join(script)]
        subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=True, stdout=subprocess.DEVNULL)
        (found,) = Path(folder).rglob(picture)
        return found.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description="The pictures of the documentation.")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("bash") is None:
        sys.exit("The pages are run by bash, which was not found.")
    for page, picture in PICTURES:
        (folder / picture).write_bytes(followed(page, picture))
        print(f"{folder / picture}: {(folder / picture).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
