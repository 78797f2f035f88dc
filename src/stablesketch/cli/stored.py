"""Stored sketches, files that begin like the bytes of `Collector.to_bytes`; and `stablesketch release` of them, merged
and released as they were planned.
"""

from __future__ import annotations

from pathlib import Path

import typer

from ..collector import Collector
from ..errors import BlobError
from ..format.framing import MAGIC
from ..ledger import Ledger
from ..release.decide import decided_by_plan
from ..release.outcome import Outcome
from ..release.publish import Till, publish
from ..secret import Secret
from .options import of_file

_STILL_OPEN = {
    "files", "secret", "confidence", "ledger", "label", "json", "output", "plot", "report", "registry", "dataset",
    "period", "noun",
}  # fmt: skip


def is_blob(name: str) -> bool:
    """Whether the file is a stored sketch, judging by its suffix or its first bytes."""
    path = Path(name)
    if path.suffix == ".ssk":
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_blob(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BlobError(f"{path}: cannot read the sketch: {error.strerror}. Check the path.") from None


def check_still_open(context: typer.Context) -> None:
    """Refuses every option that was decided when the sketches were made, even one that repeats the decision.

    Whatever is not named in `_STILL_OPEN` is refused, so that an option added later is not silently ignored here.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in _STILL_OPEN and source is not None and not source.name.startswith("DEFAULT"):
            raise typer.BadParameter(
                f"{parameter.opts[0]} cannot be used with a stored sketch, which already has it. Leave it out."
            )


def release_stored(
    files: list[str], secret: Path | None, confidence: float, ledger: Ledger | None, label: str
) -> Outcome:
    """One release of all of them together."""
    if secret is None:
        raise typer.BadParameter("--secret is required: the file of the secret that the sketch was made with.")
    held = Secret.load(secret)
    collector, *rest = [_stored(Path(name), held) for name in files]
    for other in rest:
        collector.merge(other)
    decision = decided_by_plan(collector.plan, confidence)
    return Outcome(decision, publish(decision, [collector], Till(ledger, label)))


def _stored(path: Path, secret: Secret) -> Collector:
    content = read_blob(path)
    with of_file(path):
        return Collector.from_bytes(content, secret)
