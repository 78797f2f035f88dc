"""Releases the statistics of toy.py by every way there is, in a process of their own, and prints what came out as JSON.

    python toy_releases.py FOLDER

In a process of their own, so that no other test meets them in the registries.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import secrets
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import toy

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.plan.mechanism import mechanism_of

KEYS = [f"app {i * i % 700}" for i in range(4_000)]
TOTALS = np.array(list(Counter(KEYS).values()), dtype=np.float64)
GROUPS = ["north" if i % 3 else "south" for i in range(4_000)]
PRIVACY = ss.Privacy(epsilon=2.0, delta=1e-9)
STATISTICS = {"uneven": toy.Uneven(3), "uneven_share": toy.UnevenShare(3)}


def described(release: ss.Release) -> dict[str, Any]:
    assert ss.Release.from_json(release.to_json()) == release
    return {
        "value": release.value, "low": release.low, "high": release.high, "epsilon": release.epsilon,
        "statistic": release.statistic,
    }  # fmt: skip


def by_python(statistic: Any) -> dict[str, Any]:
    """By plan, two shards, bytes and a merge; and in one call."""
    plan = ss.plan(statistic, PRIVACY, mechanism="exact")
    again = ss.Plan.from_json(plan.to_json())
    assert again == plan
    bits = bytes(range(32))
    whole = plan.open(ss.Secret.from_bytes(bits))
    whole.update(KEYS)
    shards = [again.open(ss.Secret.from_bytes(bits), shard=name) for name in ("a", "b")]
    for shard, keys in zip(shards, (KEYS[:1_000], KEYS[1_000:]), strict=True):
        shard.update(keys)
    merged = ss.Collector.from_bytes(shards[0].to_bytes(), ss.Secret.from_bytes(bits))
    merged.merge(shards[1])
    found, other = whole.release(), merged.release()
    assert found.value == other.value
    called = ss.release(pa.table({"app": KEYS}), statistic, PRIVACY, key="app", mechanism="exact")
    usual = ss.release(pa.table({"app": KEYS}), statistic, PRIVACY, key="app")
    audit = ss.audit(plan, 200, progress=False)
    return {
        "plan": str(plan), "json": plan.to_json(), "without": without_its_number(plan),
        "planned": described(found), "called": described(called.release),
        "usual": described(usual.release), "audit": audit.passed, "noise": mean_noise(toy.Uneven(3)),
        "sized": sized(),
        "refused": [
            refusal(error=0.05), refusal(size=64), refusal(size=64, mechanism="exact"), refusal(memory="64K"),
            refusal(mechanism="bare"),
        ],
    }  # fmt: skip


def without_its_number(plan: ss.Plan) -> str:
    """What is said of a plan that lacks the number of its own."""
    content = json.loads(plan.to_json())
    for one in (content, *content.get("parts", [])):
        one["numbers"].pop("own", None)
    try:
        return str(ss.Plan.from_json(json.dumps(content)))
    except ss.BlobError as error:
        return str(error)


def sized() -> dict[str, Any]:
    """A plan of what is computed from a sketch and from what has no size."""
    plan = ss.plan(toy.UnevenShare(3), PRIVACY, size=1_024)
    alone = ss.plan(ss.Distinct(), PRIVACY, size=1_024)
    return {"plan": str(plan), "error": plan.error, "alone": alone.error, "sizes": plan.sizes}


def refusal(**asked: Any) -> str:
    """What is said of something that the toy's mechanism has not."""
    try:
        return str(ss.plan(toy.Uneven(3), PRIVACY, **asked))
    except (ss.ArgumentError, ss.PlanInfeasible) as error:
        return str(error)


def mean_noise(statistic: Any) -> float:
    """Of 40 releases, in scales b as the plan says it."""
    plan = ss.plan(statistic, PRIVACY, mechanism="exact")
    off = []
    for number in range(40):
        collector = plan.open(ss.Secret.from_bytes(bytes([number, *range(31)])))
        collector.update(KEYS)
        off.append(abs(collector.release().value - statistic.exact(TOTALS)[0]))
    return sum(off) / len(off) / mechanism_of(plan).noise_scale(plan)


def by_ledger(statistic: Any, folder: Path) -> dict[str, Any]:
    ledger = ss.Ledger(folder / f"{statistic.name}.db", epsilon=10.0, delta=1e-6)
    table = pa.table({"app": KEYS, "side": GROUPS})
    one = ss.release(table, statistic, PRIVACY, key="app", mechanism="exact", ledger=ledger)
    groups = ss.release(table, statistic, PRIVACY, key="app", by="side", mechanism="exact", ledger=ledger)
    ledger.verify()
    return {
        "one": described(one.release), "groups": {each.name: described(each.release) for each in groups},
        "spent": ledger.spent(), "records": [record.statistic for record in ledger.records()],
    }  # fmt: skip


def by_command(name: str, folder: Path) -> dict[str, Any]:
    """A plan, a release with report, picture and ledger, the exact value, and an option of its own."""
    events, budget = folder / "events.csv", folder / f"{name}-shell.db"
    events.write_text("app\n" + "\n".join(KEYS) + "\n")
    ss.Ledger(budget, epsilon=10.0, delta=1e-6)
    private = ["--statistic", name, "--modulus", "3", "--epsilon", "2", "--delta", "1e-9", "--mechanism", "exact"]
    files = {kind: folder / f"{name}.{kind}" for kind in ("html", "svg", "json")}
    outputs = ["--report", str(files["html"]), "--plot", str(files["svg"]), "-o", str(files["json"])]
    commands = {
        "plan": ["plan", *private],
        "drawn": ["plan", *private, "--plot", str(folder / f"{name}-plan.svg")],
        "release": ["release", str(events), "--key", "app", *private, "--ledger", str(budget), *outputs],
        "exact": ["exact", str(events), "--key", "app", "--statistic", name, "--modulus", "3", "--json"],
        "help": ["release", "--help"],
        "refused": ["plan", "--statistic", "shannon", "--modulus", "3", "--epsilon", "2", "--delta", "1e-9"],
    }
    found: dict[str, Any] = {}
    for title, arguments in commands.items():
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        found[title] = {"code": code, "out": out.getvalue(), "err": err.getvalue()}
    for kind, file in files.items():
        found[kind] = file.read_text(encoding="utf-8") if file.exists() else ""
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    secrets._sysrand = random.Random(1)  # type: ignore[attr-defined]  # the same secrets each time
    found = {
        name: {
            "python": by_python(statistic), "ledger": by_ledger(statistic, folder), "shell": by_command(name, folder),
        }
        for name, statistic in STATISTICS.items()
    }  # fmt: skip
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
