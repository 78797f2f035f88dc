"""`python -m stablesketch.paper [--quick] [--data DIR] -o OUT`: the same as `stablesketch paper`, without typer."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import StablesketchError
from .reproduce import reproduce


def main() -> int:
    """Returns 0 if everything was written; otherwise 2, after one line that says what to do."""
    parser = argparse.ArgumentParser(
        prog="stablesketch paper", description="Every result of the paper, and what holds."
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--data", type=Path, help="a folder of Parquet streams with columns key and value")
    parser.add_argument("--quick", action="store_true", help="fewer runs: under two minutes")
    options = parser.parse_args()
    try:
        reproduce(options.output, options.data, quick=options.quick)
    except StablesketchError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
