"""`stablesketch sketch`: one shard of a stream, stored for a release elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..engines.local.collect import collected_shard
from ..release.arguments import DEFAULTS
from ..secret import Secret
from . import options
from .option_groups import Data
from .progress import progress
from .screen import write_and_note

EXAMPLES = """[bold]Example[/]: two shards, one release

stablesketch plan --epsilon 1 --delta 1e-9 -o plan.json

stablesketch secret new s.key

stablesketch sketch part1.csv --key app --plan plan.json --secret s.key \\
  --shard a -o a.ssk

stablesketch sketch part2.csv --key app --plan plan.json --secret s.key \\
  --shard b -o b.ssk

stablesketch merge a.ssk b.ssk -o all.ssk

stablesketch release all.ssk --secret s.key"""


def sketch(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file for the sketch.")],
    plan: Annotated[Path, typer.Option(help="The plan that all shards share: stablesketch plan ... -o plan.json.")],
    secret: Annotated[Path, typer.Option(help="The secret that all shards share: stablesketch secret new s.key.")],
    shard: Annotated[str, typer.Option(help="The name of this shard. A name can be merged only once.")],
    key: options.Key = None,
    value: options.Value = None,
    clip: options.Clip = DEFAULTS["clip"],
    read: Data,
    wide: options.Wide = DEFAULTS["wide"],
) -> None:
    reading = read.reading(key, value, wide=wide)
    chosen, held = options.read_plan(plan), Secret.load(secret)
    with progress() as report:
        collector = collected_shard(read.files, chosen, held, shard, reading, clip=clip, progress=report)
    content = collector.to_bytes()
    write_and_note(output, content, f", {len(content):,} bytes. It is not private: guard it like the data.")
