"""Every statistic through the same interfaces: files, groups, people, whole keys, the ledger, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.engines.local.exact import exact_values
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns

RNG = np.random.default_rng(12)
KEYS = RNG.zipf(1.5, 6_000) % 200
GROUPS = np.array(["FR", "DE"])[RNG.integers(0, 2, 6_000)]
COUNTED = ss.Privacy(1.0, 1e-9, 6_000, relation="replace")


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("events") / "events.csv"
    lines = [f"{key},{group},{1 + key % 5}" for key, group in zip(KEYS, GROUPS, strict=True)]
    path.write_text("key,group,n\n" + "\n".join(lines) + "\n")
    return path


def shares(keys: np.ndarray) -> np.ndarray:
    counts = np.unique(keys, return_counts=True)[1]
    return counts / counts.sum()


def test_exact_values_are_those_of_other_libraries(events: Path) -> None:
    def exact(statistic: object) -> tuple[float, ...]:
        (found,) = exact_values(str(events), statistic, Reading(Columns(("key",))))  # type: ignore[arg-type]
        return found.values

    own = shares(KEYS)
    assert exact(ss.Shannon()) == pytest.approx((stats.entropy(own),), rel=1e-12)
    assert exact(ss.Distinct()) == (len(own),)
    assert exact(ss.Hill(0.5)) == pytest.approx((np.sum(own**0.5) ** 2,), rel=1e-12)
    assert exact(ss.Tsallis(0.25)) == pytest.approx(((np.sum(own**0.25) - 1) / 0.75,), rel=1e-12)
    profile = exact(ss.Profile([0, 0.5, 1]))
    assert profile == pytest.approx((len(own), np.sum(own**0.5) ** 2, np.exp(stats.entropy(own))), rel=1e-12)
    counts = np.unique(KEYS, return_counts=True)[1]
    atkinson = 1.0 - np.mean((counts / counts.mean()) ** 0.5) ** 2
    assert exact(ss.Atkinson(0.5)) == pytest.approx((atkinson,), rel=1e-12)


@pytest.mark.parametrize(
    ("statistic", "size"),
    [(ss.Hill(0.5), 100), (ss.Renyi(0.25), 100), (ss.Tsallis(0.5), 100), (ss.Shannon(), None), (ss.Distinct(), 256)],
)
def test_a_file_gives_one_release(events: Path, statistic: ss.Hill, size: int | None) -> None:
    """Six standard errors either way: a false alarm once in 10^8."""
    found = ss.release(events, statistic, COUNTED, key="key", count_pairs=True, size=size)
    assert isinstance(found, ss.Outcome)
    (truth,) = exact_values(str(events), statistic, Reading(Columns(("key",))))[0].values
    reach = 6.0 * (found.high - found.low) / 3.9
    assert abs(found.value - truth) < reach
    assert found.epsilon <= 1.0
    assert found.pairs == 6_000


def test_whole_keys_are_added_up_before_they_are_counted(events: Path) -> None:
    most = int(np.unique(KEYS, return_counts=True)[1].max())
    privacy = ss.Privacy(5.0, 1e-9, 0, max_value=most, unit="key", relation="replace")
    found = ss.release(events, ss.Atkinson(0.5), privacy, key="key", count_pairs=True, size=200)
    assert isinstance(found, ss.Outcome)
    assert found.pairs == len(np.unique(KEYS))  # of keys
    exact = ss.release(events, ss.Moment(0.5), privacy, key="key", count_pairs=True, mechanism="exact")
    counts = np.unique(KEYS, return_counts=True)[1]
    assert isinstance(exact, ss.Outcome)
    assert exact.value == pytest.approx(np.sum(counts**0.5), abs=40 * np.sqrt(most) / 5.0)
    with pytest.raises(ss.DataError, match="the total of a key is above the promised max_value"):
        ss.release(
            events,
            ss.Atkinson(0.5),
            ss.Privacy(5.0, 1e-9, 0, max_value=9, unit="key", relation="replace"),
            key="key",
            size=50,
        )
    clipped = ss.Privacy(5.0, 1e-9, 0, max_value=9, unit="key", relation="replace")
    assert isinstance(ss.release(events, ss.Atkinson(0.5), clipped, key="key", count_pairs=True, clip=True), ss.Outcome)


def test_bare_entropy_per_group_takes_a_promise_about_every_group(events: Path) -> None:
    listed = {"by": "group", "groups": ["FR", "DE"], "mechanism": "bare"}
    with pytest.raises(ss.PlanInfeasible, match="Pass pairs="):
        ss.release(events, ss.Shannon(), ss.Privacy(1.0, 1e-9, 0, relation="replace"), key="key", **listed)  # type: ignore[arg-type]
    promised = ss.Privacy(1.0, 1e-9, 2_000, relation="replace")
    found = ss.release(events, ss.Shannon(), promised, key="key", **listed)  # type: ignore[arg-type]
    assert isinstance(found, ss.Outcome)
    for one in found:
        truth = stats.entropy(shares(KEYS[one.group[0] == GROUPS]))
        assert abs(one.release.value - truth) < 6.0 * (one.release.high - one.release.low) / 3.9
    with pytest.raises(ss.StreamTooShort):
        ss.release(events, ss.Shannon(), ss.Privacy(1.0, 1e-9, 5_000, relation="replace"), key="key", **listed)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="list the groups"):
        ss.release(events, ss.Shannon(), promised, key="key", by="group", mechanism="bare")


def test_people_are_bounded_for_every_statistic() -> None:
    people = pa.table({"key": KEYS, "user": np.arange(6_000) % 900})
    privacy = ss.Privacy(2.0, 1e-9, 0, relation="add_remove", pairs_per_person=3)
    found = ss.release(people, ss.Distinct(), privacy, key="key", person="user")
    assert isinstance(found, ss.Outcome)
    assert found.pairs is None
    keyed = ss.Privacy(2.0, 1e-9, 0, relation="add_remove", unit="key")
    with pytest.raises(ss.ArgumentError, match="every key is a person"):
        ss.release(people, ss.Distinct(), keyed, key="key", person="user")


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("groups", [["FR", "DE"], None])
def test_whole_keys_are_not_divided_among_groups(
    events: Path, relation: Literal["replace", "add_remove"], groups: list[str] | None
) -> None:
    """A key in k groups would change k releases, and ε is planned for a pair, which is in one."""
    privacy = ss.Privacy(1.0, 1e-9, 0, max_value=6_000, relation=relation, unit="key")
    with pytest.raises(ss.ArgumentError, match="cannot be used with unit='key'"):
        ss.release(events, ss.Moment(0.5), privacy, key="key", by="group", groups=groups, size=20)


def test_the_ledger_holds_one_unit_and_charges_all_parts(events: Path, tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=2.5, delta=1e-6)
    ss.release(events, ss.Hill(0.5), COUNTED, key="key", size=60, ledger=ledger)
    ss.release(events, ss.Shannon(), COUNTED, key="key", ledger=ledger)
    valued = ss.Privacy(0.5, 1e-9, 6_000, max_value=5, relation="replace")
    before = ledger.spent()
    found = ss.release(events, ss.Hill(0.5), valued, key="key", value="n", size=60, ledger=ledger)
    assert isinstance(found, ss.Outcome)
    assert 0.2 < ledger.spent() - before <= 0.5 + 1e-9
    most = int(np.unique(KEYS, return_counts=True)[1].max())
    keyed = ss.Privacy(0.5, 1e-9, 100, max_value=most, unit="key", relation="replace")
    with pytest.raises(ss.UnitMismatch):
        ss.release(events, ss.Atkinson(0.5), keyed, key="key", size=60, ledger=ledger)
    more = ss.Privacy(1.2, 1e-9, max_value=5, relation="replace")
    with pytest.raises(ss.BudgetExceeded):
        ss.release(events, ss.Hill(0.5), more, key="key", value="n", size=60, ledger=ledger)


COMMANDS = {
    "hill": (["--statistic", "hill", "--order", "0.5", "--size", "50"], "Hill number of order 0.5"),
    "shannon": (["--statistic", "shannon", "--mechanism", "exact"], "Shannon entropy"),
    "distinct": (["--statistic", "distinct"], "distinct keys"),
    "profile": (["--statistic", "profile", "--order", "0,0.5", "--size", "64"], "order 0.5"),
    "atkinson": (
        ["--statistic", "atkinson", "--order", "0.5", "--max-value", "6000", "--size", "50"],
        "Atkinson index",
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_knows_them_all(events: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, says = COMMANDS[name]
    call = ["release", str(events), "--key", "key", "--epsilon", "1", "--delta", "1e-9", *options]
    assert run(call) == 0
    assert says in capsys.readouterr().out
    assert run([*call, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["epsilon"] <= 1.0
    assert ("points" in content) == (name == "profile")
    assert run(["plan", "--epsilon", "1", "--delta", "1e-9", "--pairs", "6000", *options]) == 0
    assert run(["exact", str(events), "--key", "key", *options[: 4 if "--order" in options else 2]]) == 0


WRONG = {
    "an order of a moment": (["--statistic", "moment", "--order", "0.5"], "the order of a moment is --p"),
    "no order": (["--statistic", "renyi"], "--order must be given"),
    "p of a Hill number": (["--statistic", "hill", "--p", "0.5"], "hill has --order instead"),
    "an order of entropy": (["--statistic", "shannon", "--order", "1"], "shannon has no order"),
    "two orders": (["--statistic", "renyi", "--order", "0,1"], "--order must be given for renyi, as one number"),
    "no number": (["--statistic", "hill", "--order", "half"], "is not an order"),
    "an unknown statistic": (["--statistic", "gini"], "gini"),
    "an order out of range": (["--statistic", "hill", "--order", "3"], "must be 0, or between 0.05 and 2"),
    "inequality of pairs": (
        ["--statistic", "atkinson", "--order", "0.5", "--unit", "pair"],
        "every key is a person, and the number of people is public",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_say_what_is_wrong(events: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, says = WRONG[name]
    assert run(["release", str(events), "--key", "key", "--epsilon", "1", "--delta", "1e-9", *options]) != 0
    assert says in " ".join(capsys.readouterr().err.replace("│", " ").split())
