"""Blobs kept in tests/data/wire: every later version must read them, and while the format is 1, write them alike.

`python tests/sketch/wire_fixtures.py` writes those that are missing. It never rewrites one: a blob that has been
published cannot be unpublished. If one here no longer comes out the same, the format has changed: raise the version,
keep reading these, and add new ones beside them.
"""

from __future__ import annotations

import datetime
import json
import math
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np

from stablesketch import NegativeTotal, Secret, Sketch
from stablesketch.sketch.entropy_sketch import EntropySketch
from stablesketch.sketch.entry_values import integer_entries

FOLDER = Path(__file__).parents[1] / "data" / "wire" / "v1"
EXPECTED = FOLDER / "expected.json"
SECRET = Secret.from_bytes(bytes(range(32)))


def nothing(sketch: Sketch) -> None:
    """An empty stream."""


def words(sketch: Sketch) -> None:
    """Text, some of it repeated, one of them not ASCII."""
    sketch.update(["to", "be", "or", "not", "to", "be", "that", "is", "the", "question", "naïve", "Ω"])


def squares(sketch: Sketch) -> None:
    """A thousand integers of either sign, with values from 1 to a million."""
    numbers = np.arange(-500, 500)
    sketch.update(numbers, numbers**2 * 4 + 1)


def every_type(sketch: Sketch) -> None:
    """One key of each type that has a canonical form, and a delete."""
    noon = datetime.datetime(2024, 2, 29, 12)
    sketch.update(
        [7, -7, 2**63, "seven", b"seven", noon.date(), noon, noon.replace(tzinfo=datetime.UTC), uuid.UUID(int=7)]
    )
    sketch.update((["composite"], [7]), [100])
    sketch.update(["gone"], [5])
    sketch.delete(["gone"], [5])


def heavy(sketch: Sketch) -> None:
    """The largest value on few keys, and the whole doubled sixty times: totals of 2^115."""
    sketch.update(range(4), 2**53)
    for _ in range(60):
        sketch.merge(sketch)


def owed(sketch: Sketch) -> None:
    """Deletes that wait for their updates: negative pairs and totals."""
    sketch.delete(["early", "earlier"], [300, 2**40])


# p, or -p for a one-sided sketch; the size; the stream.
FIXTURES: dict[str, tuple[float, int, Callable[[Sketch], None]]] = {
    "nothing-0.5": (0.5, 4, nothing),
    "words-0.05": (0.05, 8, words),
    "squares-0.1": (0.1, 50, squares),
    "squares-0.5": (0.5, 50, squares),
    "every-type-0.3333": (0.3333, 7, every_type),
    "heavy-0.05": (0.05, 5, heavy),
    "heavy-0.5": (0.5, 50, heavy),
    "owed-0.9": (0.9, 3, owed),
    "words-near-1": (1 - 1e-9, 2, words),
    "words-1": (1.0, 50, words),
    "one-entry-0.75": (0.75, 1, squares),
    "one-sided-nothing-0.75": (-0.75, 4, nothing),
    "one-sided-words-0.05": (-0.05, 8, words),
    "one-sided-squares-0.5": (-0.5, 50, squares),
    "one-sided-every-type-0.999": (-0.999, 7, every_type),
    "one-sided-heavy-0.1": (-0.1, 5, heavy),
    "one-sided-owed-0.25": (-0.25, 3, owed),
    "buckets-nothing-0.5": (-0.5, 12, nothing),
    "buckets-words-0.05": (-0.05, 24, words),
    "buckets-squares-0.5": (-0.5, 160, squares),
    "buckets-heavy-0.25": (-0.25, 12, heavy),
    "buckets-owed-0.75": (-0.75, 18, owed),
    "buckets-entropy-words": (-1.0, 24, words),
    "buckets-entropy-every-type": (-1.0, 12, every_type),
    "buckets-entropy-owed": (-1.0, 6, owed),
}
# Of those in buckets, how many; -1 in the place of p is entropy.
BUCKETS = {
    "buckets-nothing-0.5": 3,
    "buckets-words-0.05": 4,
    "buckets-squares-0.5": 20,
    "buckets-heavy-0.25": 6,
    "buckets-owed-0.75": 9,
    "buckets-entropy-words": 3,
    "buckets-entropy-every-type": 6,
    "buckets-entropy-owed": 3,
}


def make(name: str) -> Sketch:
    (p, size, fill), buckets = FIXTURES[name], BUCKETS.get(name, 1)
    if p == -1.0:
        sketch: Sketch = EntropySketch(size, SECRET, buckets)
    else:
        sketch = Sketch(abs(p), size, SECRET, law="one-sided" if p < 0.0 else "symmetric", buckets=buckets)
    fill(sketch)
    return sketch


def read(name: str, blob: bytes, secret: Secret | None = None) -> Sketch:
    return (EntropySketch if FIXTURES[name][0] == -1.0 else Sketch).from_bytes(blob, secret)


def describe(sketch: Sketch) -> dict[str, object]:
    """What a reader must find in the blob. The geometric mean, a closed form, will not move as estimators improve.

    Of one-sided entries it is taken as it is, to the power p.
    """
    moment: float | None
    shape = {"buckets": sketch.buckets} if sketch.buckets > 1 else {}
    if isinstance(sketch, EntropySketch):
        totals = [str(total) for total in sketch.bucket_totals().tolist()]
        return {"totals": totals, "p": -1.0, "size": sketch.size, **shape, **_counts(sketch), "geometric_mean": None}
    if sketch.law == "one-sided":
        values = integer_entries(sketch._entries)
        unit = sketch._entries.resolution * math.log(2.0)
        logs = [math.log(value) - unit for value in values if value > 0]
        moment = math.exp(sketch.p * math.fsum(logs) / sketch.size) if len(logs) == sketch.size else None
    else:
        try:
            moment = sketch.estimate(method="geometric_mean").value
        except NegativeTotal:
            moment = None
    return {
        "p": sketch.p if sketch.law == "symmetric" else -sketch.p,
        "size": sketch.size,
        **shape,
        **_counts(sketch),
        "geometric_mean": moment,
    }


def _counts(sketch: Sketch) -> dict[str, object]:
    """As text: JSON's numbers are floats to many readers."""
    return {"pairs": str(sketch.pairs), "total": str(sketch.total)}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name in FIXTURES:
        path = FOLDER / f"{name}.ssk"
        if not path.exists():
            sketch = make(name)
            path.write_bytes(sketch.to_bytes())
            expected[name] = describe(sketch)
            print(f"wrote {path.name}, {path.stat().st_size} bytes")
    EXPECTED.write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
