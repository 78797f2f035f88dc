"""The pictures of the how-to pages and tutorials, made as their readers would make them.

    python benchmarks/doc_pictures.py [--output docs/images]

plan.svg is the picture of docs/how-to/plan.md. The others come from following a tutorial up to the command that draws
them. A release is random, so each picture differs from the last; the output that the page shows after the command is
replaced by that of the same run. Read the sentences around it: they may state its numbers.
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


def followed(page: str, picture: str) -> tuple[bytes, str]:
    """What the page draws into the file `picture`, and what the block that draws it prints.

    The commands of the page are run in an empty folder until the file exists.
    """
    script: list[str] = []
    for block in shell_blocks(page):
        if picture in block:
            script.append("printf '\\0'")
        script += [line for line in block.splitlines() if line not in SETUP]
        if picture in block:
            break
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["bash", "-euo", "pipefail", "-c", "\n".join(script)]
        environment = {**os.environ, "PATH": path}
        done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        (found,) = Path(folder).rglob(picture)
        return found.read_bytes(), done.stdout.partition("\0")[2]


def with_output(text: str, picture: str, printed: str) -> str:
    """The page with this output after the command that draws the picture, if it shows the output of that command."""
    pattern = rf"(^```sh\n(?:(?!```).)*{re.escape(picture)}(?:(?!```).)*```\n\n```text\n)(?:(?!```).)*"
    return re.sub(pattern, lambda match: match[1] + printed, text, flags=re.DOTALL | re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description="The pictures of the documentation.")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("bash") is None:
        sys.exit("The pages are run by bash, which was not found.")
    for page, picture in PICTURES:
        drawn, printed = followed(page, picture)
        (folder / picture).write_bytes(drawn)
        if folder == ROOT / "docs" / "images":
            source = ROOT / "docs" / page
            source.write_text(with_output(source.read_text(encoding="utf-8"), picture, printed), encoding="utf-8")
        print(f"{folder / picture}: {(folder / picture).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
