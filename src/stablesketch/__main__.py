"""`python -m stablesketch`: the command line."""

from .cli import main

main()
