"""The matrix: every statistic in every situation, as options that each door is called with; and following advice.

Statistics come from their registry, situations from `SITUATIONS`, so that a new one of either is in every cell without
anybody listing it. A refusal is read as a user reads it: what its last sentences name is passed, or left out, to the
letter, and the call is made again.
"""

from __future__ import annotations

import ast
import json
import math
import re
import secrets
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.cli.option_groups import offered
from stablesketch.errors import StablesketchError
from stablesketch.privacy import discrete_laplace
from stablesketch.statistic import STATISTICS, Known, Statistic

Options = dict[str, Any]
GROUPS = ("DE", "FR", "PT")
MAX_VALUE, PER_PERSON = 20, 4
EPSILON, DELTA = 1.0, 1e-9
CONFIDENCE = 0.95

_PEOPLE = {"key": "key", "person": "user", "pairs_per_person": PER_PERSON}
SITUATIONS: dict[str, Options] = {
    "plain": {"key": "key"},
    "value column": {"key": "key", "value": "n", "max_value": MAX_VALUE},
    "person": _PEOPLE,
    "by listed names": {"key": "key", "by": "country", "groups": GROUPS},
    "by listed names, replace": {"key": "key", "by": "country", "groups": GROUPS, "relation": "replace"},
    "by private names": {"key": "key", "by": "country"},
    "person and by": {**_PEOPLE, "by": "country", "groups_per_person": 2},
    "whole keys": {
        "key": "user", "value": "n", "max_value": MAX_VALUE * PER_PERSON, "unit": "key", "relation": "replace",
    },
    "individuals": {"key": "key", "value": "n", "unit": "individual"},
    "exact mechanism": {"key": "key", "mechanism": "exact"},
    "add_remove": {"key": "key", "relation": "add_remove"},
    "replace": {"key": "key", "relation": "replace"},
    "bare": {"key": "key", "relation": "replace", "mechanism": "bare"},
    "deletes": {"key": "key", "deletes": True},
}  # fmt: skip
CALLS = ("plain", "person", "by private names", "by listed names", "person and by", "value column", "add_remove",
         "exact mechanism")  # fmt: skip
"""The situations in which every statistic below gives a number at the defaults, at the first call."""
CALLED: tuple[Statistic, ...] = (
    ss.Moment(0.5), ss.Hill(0), ss.Hill(0.5), ss.Hill(1), ss.Renyi(0.5), ss.Tsallis(0.5), ss.Profile([0, 0.5, 1]),
    ss.Shannon(), ss.Distinct(), ss.Hill(2), ss.Simpson(),
)  # fmt: skip


def usual(name: str) -> Statistic:
    """One of each kind: without an order, of one, or of several."""
    for arguments in ((), (0.5,), ([0, 0.5, 1],)):
        try:
            return STATISTICS[name](*arguments)
        except (TypeError, StablesketchError):
            continue
    raise AssertionError(f"{name}: what is it made of?")


def cells(*, shell: bool = False) -> list[Any]:
    """Every cell; of those that a command can be typed for, if it is `shell`. Statistics about people have no
    individuals: what a command says about that takes three steps to follow."""
    names = [kind.name for kind in offered()] if shell else STATISTICS
    return [
        pytest.param(usual(name), situation, id=f"{name}, {situation}")
        for name in names
        for situation, options in SITUATIONS.items()
        if not (shell and ("deletes" in options or (situation == "individuals" and STATISTICS[name].of_people)))
    ]


def calls() -> list[Any]:
    """Every statistic of `CALLED` in every situation of `CALLS`."""
    return [
        pytest.param(statistic, situation, id=f"{statistic}, {situation}")
        for statistic in CALLED
        for situation in CALLS
    ]


@cache
def table(rows: int) -> pa.Table:
    """People with up to four rows each, all of one country; some keys common and most of them rare; values up to 20."""
    rng = np.random.default_rng(2026)
    users = np.sort(rng.integers(0, rows, 2 * rows) // PER_PERSON)
    place = np.arange(len(users)) - np.searchsorted(users, users)
    users = rng.permutation(users[place < PER_PERSON])[:rows]
    countries = np.array(GROUPS)[np.searchsorted([0.5, 0.8], rng.random(rows))]
    return pa.table(
        {
            "key": rng.zipf(1.4, len(users)) % 4_000,
            "n": np.minimum(rng.geometric(0.3, len(users)), MAX_VALUE),
            "user": users,
            "country": countries[users],
        }
    )


def truth(statistic: Statistic, options: Options, rows: pa.Table, group: str | None = None) -> list[float]:
    """From the definitions: the value, or that of every order of a profile; of what is left after clipping."""
    if group is not None:
        rows = rows.filter(pa.compute.equal(rows["country"], group))
    values = rows["n"].to_numpy() if options.get("value") else np.ones(len(rows), np.int64)
    largest, whole = options.get("max_value", 1), of_keys(statistic, options)
    clipped = options.get("clip") or "deletes" in options
    if clipped and not whole:
        values = np.minimum(values, largest)
    _, at = np.unique(rows[options["key"]].to_numpy(), return_inverse=True)
    totals = np.bincount(at, values).astype(np.float64)
    if clipped and whole:
        totals = np.minimum(totals, largest)
    return list(statistic.exact(totals))


def of_keys(statistic: Statistic, options: Options) -> bool:
    """Whether whole keys are protected: as asked, or as the command line takes it for what is about people."""
    return options.get("unit") == "key" or statistic.of_people


@dataclass(frozen=True)
class Found:
    """One release that a door gave."""

    release: ss.Release
    group: str | None = None


Door = Callable[[Statistic, Options], list[Found]]
"""Gives releases, or raises `Refused`."""


class Refused(Exception):
    """A door did not give a number; its message is what a user reads."""


def privacy_of(options: Options) -> ss.Privacy:
    given = {name: value for name, value in options.items() if name in _OF_PRIVACY}
    return ss.Privacy(**{"epsilon": EPSILON, "delta": DELTA, **given})


_OF_PRIVACY = {"epsilon", "delta", "pairs", "max_value", "relation", "pairs_per_person", "unit", "total"}


def arguments_of(options: Options) -> Options:
    """Those of `ss.release` beside the privacy."""
    given = {name: value for name, value in options.items() if name not in _OF_PRIVACY}
    if "groups" in given:
        given["groups"] = list(given["groups"])
    return given


def python_door(rows: pa.Table) -> Door:
    """`ss.release`; with deletes a collector, which alone takes them."""

    def door(statistic: Statistic, options: Options) -> list[Found]:
        try:
            if "deletes" in options:
                return _with_deletes(statistic, options, rows)
            found = ss.release(rows, statistic, privacy_of(options), **arguments_of(options))
        except StablesketchError as error:
            raise Refused(str(error)) from None
        return [Found(one.release, *one.group) if found.grouped else Found(one) for one in found]

    return door


def _with_deletes(statistic: Statistic, options: Options, rows: pa.Table) -> list[Found]:
    """All rows, or all keys if they are protected whole; and some more that are deleted again."""
    keys = rows[options["key"]]
    if options.get("unit") == "key":
        keys = keys.unique()  # each once, with a value of 1
    privacy = privacy_of({"pairs": len(keys), **options})
    given = {name: options[name] for name in ("mechanism", "size", "error", "deletes") if name in options}
    collector = ss.plan(statistic, privacy, **given).open()
    collector.update(keys)
    if options["deletes"]:
        gone = list(range(10**6, 10**6 + 1_000))
        collector.update(gone)
        collector.delete(gone)
    return [Found(collector.release())]


def typed(statistic: Statistic, options: Options, file: Path) -> list[str]:
    """The command that releases it; the names of groups stand in a file beside the data."""
    names = {"epsilon": EPSILON, "delta": DELTA, **options}
    if "groups" in names:
        names["groups"] = file.with_suffix(".groups")
        names["groups"].write_text("\n".join(options["groups"]) + "\n")
    words = ["release", str(file), *shlex.split(statistic.as_options())]
    for name, value in names.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def shell_door(file: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Door:
    """`stablesketch release`, run in this process; its JSON is what it gave."""

    def door(statistic: Statistic, options: Options) -> list[Found]:
        capsys.readouterr()
        code = run([*typed(statistic, options, file), "--json", *more])
        out, err = capsys.readouterr()
        if code:
            assert code in (2, 3, 4), err
            raise Refused(err)
        content = json.loads(out)
        content = content if isinstance(content, list) else [content]
        groups = [one.pop("group", None) for one in content]
        return [Found(ss.Release.from_json(json.dumps(one)), group) for one, group in zip(content, groups, strict=True)]

    return door


# What begins an advice, and what it names: something to pass, or to leave out.
_ADVICE = re.compile(r"(?:^|[.:;] )((?:Pass|Leave out|Use|Clip|Collect|Name|List)\b.*)", re.DOTALL)
_PYTHON = re.compile(r"\bss\.(?P<call>\w+\([^)]*\))|\b(?P<name>\w+)=(?P<value>'\w+'|True|\d[\d.e+-]*\d|\d)")
_PYTHON_WITHOUT = re.compile(r"[Ll]eave out ((?:\w+=(?: and |, )?)+)")
_WORDS = "key|pair|replace|add_remove|sketch|exact|bare|" + "|".join(STATISTICS)
_SHELL = re.compile(rf"--(?P<name>[a-z-]+)(?: (?P<value>(?:{_WORDS})\b|\d[\d.,e+-]*\d|\d))?")
_SHELL_WITHOUT = re.compile(r"[Ll]eave out ((?:--[a-z-]+(?: and |, )?)+)")


def advised(
    message: str, statistic: Statistic, options: Options, *, shell: bool
) -> Iterator[tuple[Statistic, Options]]:
    """What the message says to do, one by one: each of its alternatives that can be followed without thinking."""
    advice = _ADVICE.search(message)
    for way in [] if advice is None else re.split(r"[,;] or |; ", advice[1]):
        new_statistic, new = statistic, dict(options)
        without = (_SHELL_WITHOUT if shell else _PYTHON_WITHOUT).search(way)
        for name in re.findall(r"[a-z][\w-]*", without[1].replace(" and ", " ")) if without else []:
            new.pop(name.replace("-", "_"), None)
        if shell:
            named = {found["name"]: found["value"] for found in _SHELL.finditer(way)}
            if named.get("statistic") or named.get("p"):
                new_statistic = _from_shell(named.pop("statistic", None) or "moment", named)
            named = {name: value or ("True" if name == "clip" else None) for name, value in named.items()}
        else:
            named = {found["name"]: found["value"] for found in _PYTHON.finditer(way) if found["name"]}
            for found in _PYTHON.finditer(way):
                if found["call"]:
                    new_statistic = eval(f"ss.{found['call']}", {"ss": ss})  # a call of ours
        for name, value in named.items():
            if value is not None:
                new[name.replace("-", "_")] = _literal(value)
        if (new_statistic, new) != (statistic, options):
            yield new_statistic, new


def _from_shell(name: str, named: dict[str, str | None]) -> Statistic:
    orders = [float(each) for each in ((named.pop("order", None) or named.pop("p", None)) or "").split(",") if each]
    return STATISTICS[name](orders) if name == "profile" else STATISTICS[name](*orders)  # type: ignore[call-arg]


def _literal(text: str) -> Any:
    try:
        value = ast.literal_eval(text.replace(",", ""))
    except (ValueError, SyntaxError):
        return text
    return int(value) if isinstance(value, float) and value.is_integer() and "e" in text else value


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: with which options in the end, and after how many refusals."""

    statistic: Statistic
    options: Options
    found: list[Found]
    refusals: tuple[str, ...] = ()


def followed(door: Door, statistic: Statistic, options: Options, *, shell: bool, steps: int = 2) -> Outcome:
    """The releases of a cell; if it is refused, of what the first advice leads to that leads anywhere."""
    try:
        return Outcome(statistic, options, door(statistic, options))
    except Refused as refusal:
        message = str(refusal)
    tried = []
    if steps:
        for new_statistic, new in advised(message, statistic, options, shell=shell):
            try:
                end = followed(door, new_statistic, new, shell=shell, steps=steps - 1)
            except AssertionError as dead:
                tried.append(f"{new_statistic}, {new}: {dead}")
                continue
            return Outcome(end.statistic, end.options, end.found, (message, *end.refusals))
    raise AssertionError("\n  ".join([f"a refusal that leads nowhere: {message}", *tried]))


def check_sane(outcome: Outcome) -> None:
    """What holds of every release whatever the data: its price, its order, its range, its JSON."""
    options = outcome.options
    assert outcome.found, "no release"
    for one in outcome.found:
        release = one.release
        assert 0.0 < release.epsilon <= options.get("epsilon", EPSILON) * (1.0 + 1e-12)
        assert 0.0 <= release.delta <= options.get("delta", DELTA) * (1.0 + 1e-12)
        assert (release.delta > 0.0) or options.get("mechanism") == "exact" or isinstance(outcome.statistic, ss.Total)
        assert (release.pairs is None) == (release.relation == "add_remove" or one.group is not None)
        assert release.relation == options.get("relation", "replace" if outcome.statistic.of_people else "add_remove")
        known = Known(release.pairs or 0, release.pairs or math.inf, whole_keys=of_keys(outcome.statistic, options))
        least, most = outcome.statistic.range(known)
        for each in (release, *release.points):
            assert math.isfinite(each.value)
            assert math.isfinite(each.high)
            assert least * (1.0 - 1e-12) <= each.low <= each.value <= each.high <= most * (1.0 + 1e-12)
        assert ss.Release.from_json(release.to_json()) == release


def covered(outcome: Outcome, rows: pa.Table) -> list[bool]:
    """Of every interval, whether it holds the truth; what is exact may differ by a rounding."""
    held = []
    for one in outcome.found:
        shown = one.release.points or (one.release,)
        for each, true in zip(shown, truth(outcome.statistic, outcome.options, rows, one.group), strict=True):
            slack = 1e-9 * max(abs(true), 1.0)
            held.append(each.low - slack <= true <= each.high + slack)
    return held


def fixed_randomness(monkeypatch: pytest.MonkeyPatch, *seed: object) -> None:
    """Secrets and noise from a seed, so that a cell gives the same numbers every time."""
    text = "/".join(map(str, seed))
    rng = np.random.default_rng(list(text.encode()))
    drawn = discrete_laplace.sample
    monkeypatch.setattr(secrets, "token_bytes", rng.bytes)
    monkeypatch.setattr(secrets, "token_hex", lambda count: rng.bytes(count).hex())
    monkeypatch.setattr(
        discrete_laplace, "sample", lambda scale, *_: drawn(scale, lambda n: int.from_bytes(rng.bytes(40), "big") % n)
    )
