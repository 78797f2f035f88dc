"""Messages of the package with arguments spelt as command-line options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text.wording import Mention, spelt

if TYPE_CHECKING:
    from ..statistic import Statistic

# Python arguments with an option of the same name. The options of statistics are added to these.
OPTIONS = {
    "alert_below", "alert_drop", "alert_out", "alert_run", "alert_url", "also", "budget_per", "by", "clip",
    "confidence", "delimiter", "delta", "demo", "entries_per_key", "epsilon", "error", "every", "expected",
    "fields", "follow", "format", "from", "groups", "groups_per_person", "header", "key", "label", "lateness",
    "ledger", "listen", "listen_private", "max_value", "mechanism", "memory", "on_bad", "out", "output", "pairs",
    "pairs_per_person", "people", "person", "plot", "port", "preset", "protect", "quantile", "registry", "relation",
    "report", "rows", "secret", "shard", "size", "spread", "sql", "state", "statistic", "textfile", "time",
    "time_unit", "total", "trials", "unit", "until", "value", "wide",
}  # fmt: skip


def in_options(text: str) -> str:
    """The text with arguments and statistics as options; what has no option stays as Python writes it.

    >>> from stablesketch.text.wording import arg, stat
    >>> in_options(f"Name it ({arg('person')}), use {arg('mechanism', 'exact')}, or {stat('Hill', 0.5)}")
    'Name it (--person), use --mechanism exact, or --statistic hill --order 0.5'
    """
    return spelt(text, _typed)


def _typed(named: Mention) -> str:
    if named.kind == "either":
        return named.typed[0]
    if named.kind == "statistic":
        kind = next((kind for kind in _offered() if kind.__name__ == named.name), None)
        return named.in_python() if kind is None else kind.in_options(*named.typed)
    option, value = _option(named.name), "".join(named.typed)
    if option is None:
        return named.in_python()
    if value == "False":
        return option.replace("--", "--no-", 1)
    return option if value in ("", "True") or " " in option else f"{option} {value}"


def _option(name: str) -> str | None:
    """The option for an argument, or for a field of a statistic: there is one --order for all of them."""
    if name == "auto_max_value":
        return "--max-value auto"
    if name in OPTIONS:
        return "--" + name.replace("_", "-")
    fields = {each.field: each.option.name for kind in _offered() for each in kind.arguments}
    return f"--{fields[name]}" if name in fields else None


def _offered() -> list[type[Statistic]]:
    from .option_groups import offered  # numpy, which --help need not wait for

    return offered()
