"""Collectors stored as binary columns: `sketch_by` makes them, `merged` adds them up, to be released once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack

from ...collector import Collector
from ...errors import DataError, check_type
from ...plan import Plan
from ...reading.arguments import OfPairs, check_known, reading
from ...reading.libraries import need
from ...release.arguments import asks
from ...release.question import Question
from ..secret_from import SecretFrom, TheSecret
from ..stored_plan import largest_value, named_shard, refuse_whole_keys
from . import job
from .frame import NAME, DataFrame, Pairs, back_quoted
from .work import OPEN_GROUPS, Recipe, checked_open


@asks(OfPairs)
def sketch(
    df: DataFrame,
    plan: Plan,
    *,
    secret: SecretFrom,
    shard: str | None = None,
    clip: bool = Question.clip,
    **how: Unpack[OfPairs],
) -> Collector:
    """A collector of the whole DataFrame: the same, to the last bit, as if one machine had read the rows.

    `shard` is its name wherever it is merged. Name it after the data ("2026-11-15"): merging the same data twice is
    then refused. Without a name it gets a random one.
    """
    pairs, recipe = _asked(sketch, df, plan, how, None, secret, shard, clip)
    whole = plan.open(recipe.secret.find(), recipe.shard)
    whole.rename(f"{recipe.shard}/all")  # until all are merged
    with job.large_batches(df, pairs.columns.names):
        job.collect_into(whole, pairs, pairs.every, recipe)
    whole.rename(recipe.shard)
    return whole


@asks(OfPairs)
def sketch_by(
    df: DataFrame,
    plan: Plan,
    *,
    by: str | Sequence[str],
    secret: SecretFrom,
    shard: str | None = None,
    separate: bool = False,
    open_groups: int = OPEN_GROUPS,
    clip: bool = Question.clip,
    **how: Unpack[OfPairs],
) -> DataFrame:
    """A collector for each group: a DataFrame with the columns `by`, as text, and `collector`, binary.

    All are under the same secret, so that any of them can be merged and released together, once: the days of a week,
    say. With `separate`, each is under `secret.child(name)`: collectors of the same group can then be merged, and
    groups are released side by side with `release_all`. The name of a group with several columns is the JSON of its
    list.

    Collectors are as sensitive as the data: keep them, and the secret, where the data are kept. Each is named `shard` +
    "/" + the JSON object of its columns `by`, as with `ss.collect`. The job runs at once, so that an invalid row raises
    an error here, and its result is persisted; unpersist it once it is stored.
    """
    pairs, recipe = _asked(sketch_by, df, plan, how, by, secret, shard, clip, separate=separate)
    recipe = replace(recipe, open_groups=checked_open(open_groups))
    functions = need("pyspark.sql.functions", "spark")
    states = job.grouped_states(pairs.every, recipe, recipe.secret.find()).persist()
    try:
        with job.large_batches(df, pairs.columns.names):
            job.raise_failures(pairs, (row.failure for row in states.where("failure is not null").limit(1).collect()))
    except BaseException:
        states.unpersist()
        raise
    names = functions.from_json(functions.col("name"), "array<string>")
    columns = [names[i].alias(name) for i, name in enumerate(pairs.columns.by)]
    # A lost partition is computed again. If that fails, it must not look as if the group had never existed.
    state = functions.when(functions.col("failure").isNull(), functions.col("state")).otherwise(
        functions.raise_error(functions.col("failure"))
    )
    return states.select(*columns, state.alias("collector"))


def merged(df: DataFrame, *, secret: SecretFrom, column: str = "collector") -> Collector:
    """Merges the stored collectors of a column on the cluster into one, ready to be released. A shard counts once."""
    functions = need("pyspark.sql.functions", "spark")
    reference = TheSecret(job.checked_reference(secret))
    if not isinstance(column, str) or column not in df.columns:
        raise DataError(NAME, "no such column", f"The columns are: {', '.join(df.columns)}", column=str(column))
    blob = functions.col(back_quoted(column))
    states = df.select(
        functions.pmod(functions.xxhash64(blob), functions.lit(64)).cast("int").alias("bucket"),
        functions.lit("null").alias("name"), blob.alias("state"),
        functions.lit(None).cast("string").alias("failure"),
    )  # fmt: skip
    own = reference.find()
    rows = job.merged_states(states, "bucket", Recipe(reference), own).collect()
    job.raise_failures(None, (row.failure for row in rows))
    if not rows:
        raise DataError(NAME, "the table of collectors is empty", "Check the input", column=column)
    first, *rest = [Collector.from_bytes(bytes(row.state), own) for row in rows]
    for other in rest:
        first.merge(other)
    return first


def _asked(
    function: Callable[..., object], df: DataFrame, plan: Plan, how: OfPairs, by: object, secret: SecretFrom,
    shard: str | None, clip: bool, *, separate: bool = False,
) -> tuple[Pairs, Recipe]:  # fmt: skip
    check_type("plan", plan, Plan, "must be a Plan", "Pass the result of ss.plan(...)")
    whole = named_shard(shard)
    refuse_whole_keys(plan)
    check_known(function, how)
    reference, read = TheSecret(job.checked_reference(secret)), reading({**how, "by": by})
    columns = read.columns.under(plan.privacy.relation)
    pairs = Pairs(df, columns, largest_value(plan, clip), skip=read.on_bad == "skip")
    recipe = Recipe(reference, columns.by, plan.to_json(), clip, shard=whole, each=separate)
    return pairs, recipe
