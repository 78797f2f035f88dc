"""Many mutants of everything the library reads, and a report: `python tests/attacks/fuzz_decoders.py --inputs 1000000`.

What it finds is printed as lines for corpus.txt, which the tests then hold the decoders to for good.
"""

from __future__ import annotations

import argparse
import base64
import math
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
sys.path.insert(0, str(Path(__file__).parent))

from fuzz_targets import BY_NAME, TARGETS, Target

import stablesketch as ss

MOST_MEMORY = 3 << 30
MOST_SECONDS = 20.0  # of one input
CORPUS = Path(__file__).parent / "corpus.txt"


@dataclass
class Outcome:
    """How many inputs were accepted or refused with a typed error, and those that did neither."""

    inputs: int = 0
    accepted: int = 0
    findings: dict[str, bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.inputs:,} inputs, {self.accepted:,} accepted, {len(self.findings)} kinds of untyped errors"


def judged(target: Target, raw: bytes) -> str | None:
    """None if the decoder did what it must; else the error and where it came from. "accepted" if there was none."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        target.decode(raw)
    except ss.StablesketchError as error:
        return None if len(str(error)) < 5_000 else f"a message of {len(str(error)):,} characters"
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {str(error)[:150]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "accepted"


def too_slow(number: int, frame: object) -> None:
    raise TimeoutError(f"more than {MOST_SECONDS} s")


def fuzz(target: Target, inputs: int, seed: int, seconds: float = math.inf) -> Outcome:
    """So many mutants of the target's seeds, always the same of one `seed`; fewer where the time does not suffice."""
    rng, outcome, seeds = Random(f"{target.name}/{seed}"), Outcome(), target.seeds()
    until = time.monotonic() + seconds
    while outcome.inputs < inputs and time.monotonic() < until:
        raw = target.mutant(rng, rng.choice(seeds))
        found = judged(target, raw)
        outcome.inputs += 1
        if found == "accepted":
            outcome.accepted += 1
        elif found is not None:
            place = found.split(": ")[0]
            if place not in outcome.findings or len(raw) < len(outcome.findings[place]):
                outcome.findings[place] = raw
    return outcome


def corpus() -> list[tuple[Target, bytes]]:
    """What broke a decoder once."""
    found = []
    for line in CORPUS.read_text().splitlines():
        if line and not line.startswith("#"):
            name, encoded = line.split()[:2]
            found.append((BY_NAME[name], base64.b64decode(encoded)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="How many inputs in all, at most.")
    parser.add_argument("--seconds", type=float, default=math.inf, help="The time for all of them, if it is less.")
    parser.add_argument(
        "--watched", action="store_true", help="Under sanitizers, which need address space without end."
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=sorted(BY_NAME), action="append")
    parser.add_argument("--one", nargs=2, metavar=("TARGET", "TEXT"), help="Only this input.")
    options = parser.parse_args()
    if options.one:
        print(judged(BY_NAME[options.one[0]], options.one[1].encode()))
        return 0
    if not options.watched:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))  # what asks for more is a finding
    signal.signal(signal.SIGVTALRM, too_slow)
    targets = [target for target in TARGETS if not options.only or target.name in options.only]
    total: Counter[str] = Counter()
    for target in targets:
        began = time.monotonic()
        inputs = options.inputs // len(targets) // target.slow
        outcome = fuzz(target, inputs, options.seed, options.seconds / len(targets))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{target.name:12} {outcome}; {time.monotonic() - began:.0f} s, {peak} MB at most", flush=True)
        total.update(inputs=outcome.inputs, untyped=len(outcome.findings))
        for place, raw in outcome.findings.items():
            line = f"{target.name} {base64.b64encode(raw).decode()}"
            print(
                f"# {judged(target, raw)}\n{line if len(line) < 20_000 else f'# {place}: {len(raw)} bytes'}", flush=True
            )
    print(f"{total['inputs']:,} inputs, {total['untyped']} kinds of untyped errors")
    return 1 if total["untyped"] else 0


if __name__ == "__main__":
    sys.exit(main())
