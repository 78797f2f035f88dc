"""Numbers as users type them: every integer of numpy is taken wherever one of Python is, and nothing else is.

A float that happens to be whole, text, a fraction or a truth value is refused with the name of the argument, never
converted. Numbers that need not be whole take floats and integers of Python and numpy alike.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import stablesketch as ss
from stablesketch.audit.samples import audit_samples
from stablesketch.engines.spark.work import checked_open
from stablesketch.planner_page.server import PlannerServer
from stablesketch.privacy.distinct import phantoms_for
from stablesketch.sketch.distinct import DistinctRegisters

PRIVACY = ss.Privacy(1.0, 1e-9)
BARE = ss.Privacy(1.0, 1e-6, 100, relation="replace")
PLAN = ss.plan(ss.Moment(0.5), PRIVACY, mechanism="exact")
FRAME = pd.DataFrame({"key": ["a", "b", "a"], "who": [1, 2, 3], "where": ["x", "y", "y"]})
NAMES = itertools.count()


class Accepted(Exception):
    """Raised where the checks are behind us."""


def accepted(*_: object) -> Any:
    raise Accepted


def audited(**given: Any) -> str:
    with pytest.raises(Accepted):
        ss.audit(PLAN, open_collector=accepted, progress=False, **given)
    return "accepted"


def secret() -> ss.Secret:
    return ss.Secret.from_bytes(bytes(range(32)))


def ledger(folder: Path, **given: Any) -> ss.Ledger:
    return ss.Ledger(folder / f"{next(NAMES)}.ledger", epsilon=3.0, delta=1e-6, **given)


def charged(folder: Path, **given: Any) -> tuple[float, float]:
    record = ledger(folder).charge(statistic="s", relation="add_remove of pairs", **given)
    return record.epsilon, record.delta


def question(**given: Any) -> ss.Question:
    return ss.question(ss.Hill(1), PRIVACY, key="key", **given)


def folded(pairs: Any) -> bytes:
    collector = PLAN.open(secret(), "shard")
    collector.add_folded(collector.fingerprint(["a"]), np.array([3]), pairs)
    return collector.to_bytes()


def updated(threads: Any) -> bytes:
    collector = PLAN.open(secret(), "shard")
    collector.update(["a", "b"], threads=threads)
    return collector.to_bytes()


def served(port: Any) -> str:
    with PlannerServer(port):
        return "served"


def phantoms(count: Any) -> bytes:
    sketch = DistinctRegisters(64, secret())
    sketch.add_phantoms(count)
    return sketch.to_bytes()


# What is called with each number, by the argument that takes it; the folder is for ledgers.
WHOLE: dict[str, tuple[int, Callable[[Any, Path], object]]] = {
    "plan size": (500, lambda n, _: ss.plan(ss.Moment(0.5), PRIVACY, size=n).to_json()),
    "plan size each": (64, lambda n, _: ss.plan(ss.Hill(0.5), PRIVACY, size=[n, 0]).to_json()),
    "plan entries_per_key": (16, lambda n, _: ss.plan(ss.Moment(0.5), PRIVACY, entries_per_key=n).to_json()),
    "plan memory": (16384, lambda n, _: ss.plan(ss.Moment(0.5), PRIVACY, memory=n).to_json()),
    "Privacy pairs": (1000, lambda n, _: ss.Privacy(1.0, 1e-9, n, relation="replace").to_dict()),
    "Privacy pairs_per_person": (3, lambda n, _: ss.Privacy(1.0, 1e-9, pairs_per_person=n).to_dict()),
    "Privacy max_value": (5, lambda n, _: ss.Privacy(1.0, 1e-9, max_value=n).to_dict()),
    "question groups_per_person": (2, lambda n, _: question(person="who", by="where", groups_per_person=n)),
    "exact pairs_per_person": (2, lambda n, _: str(ss.exact(FRAME, key="key", person="who", pairs_per_person=n))),
    "exact groups_per_person": (
        2,
        lambda n, _: str(ss.exact(FRAME, key="key", person="who", by="where", groups_per_person=n)),
    ),
    "Ledger pairs_per_person": (4, lambda n, at: ledger(at, pairs_per_person=n).pairs_per_person),
    "Ledger preview": (3, lambda n, at: str(ledger(at).preview(PLAN, times=n))),
    "Ledger schedule": (3, lambda n, at: str(ledger(at).schedule(PLAN, releases=n))),
    "Ledger published": (1, lambda n, at: ledger(at).published(n)),
    "audit trials": (3000, lambda n, _: audited(trials=n)),
    "Sketch size": (60, lambda n, _: ss.Sketch(0.5, n, secret()).to_bytes()),
    "Sketch buckets": (10, lambda n, _: ss.Sketch(0.5, 60, secret(), buckets=n).to_bytes()),
    "EntropySketch size": (60, lambda n, _: ss.EntropySketch(n).size),
    "Collector threads": (2, lambda n, _: updated(n)),
    "Collector add_folded": (3, lambda n, _: folded(n)),
    "DistinctRegisters phantoms": (3, lambda n, _: phantoms(n)),
    "Secret.derive": (16, lambda n, _: secret().derive("key", n)),
    "HHI scale": (10_000, lambda n, _: (str(ss.HHI(n)), ss.plan(ss.HHI(n), PRIVACY).to_json())),
    "PrivacyCurve size": (5, lambda n, _: ss.PrivacyCurve(0.5, n, 1.1).epsilon(1e-6)),
    "paper n": (100, lambda n, _: ss.paper.sensitivity(n, 10, 1, 0.5)),
    "paper size": (5, lambda n, _: ss.paper.epsilon(100, 10, 1, 0.5, n)),
    "Spark open_groups": (7, lambda n, _: checked_open(n)),
    "page port": (0, lambda n, _: served(n)),
}
REAL: dict[str, tuple[float, Callable[[Any, Path], object]]] = {
    "plan expected": (500.0, lambda x, _: ss.plan(ss.Moment(0.5), PRIVACY, expected=x).to_json()),
    "plan error": (0.25, lambda x, _: ss.plan(ss.Moment(0.5), PRIVACY, error=x).to_json()),
    "plan sampling": (0.5, lambda x, _: ss.plan(ss.Moment(0.5), BARE, sampling=x, mechanism="bare", size=5).to_json()),
    "Sampling rate": (0.5, lambda x, _: ss.Sampling(x)),
    "Privacy epsilon": (2.0, lambda x, _: ss.Privacy(x, 1e-9).to_dict()),
    "Privacy delta": (0.125, lambda x, _: ss.Privacy(1.0, x).to_dict()),
    "Hill order": (2.0, lambda x, _: (str(ss.Hill(x)), ss.plan(ss.Hill(x), PRIVACY).to_json())),
    "Moment order": (0.5, lambda x, _: str(ss.Moment(x))),
    "question confidence": (0.75, lambda x, _: question(confidence=x)),
    "question selection_share": (0.25, lambda x, _: question(by="where", person="who", selection_share=x)),
    "AutoMaxValue share": (0.25, lambda x, _: ss.AutoMaxValue(share=x)),
    "AutoMaxValue quantile": (0.75, lambda x, _: ss.AutoMaxValue(quantile=x)),
    "Collector confidence": (0.75, lambda x, _: PLAN.open(secret()).release(confidence=x)),
    "Sketch confidence": (0.75, lambda x, _: ss.Sketch(0.5, 60, secret()).estimate(confidence=x)),
    "Ledger epsilon": (2.0, lambda x, at: ss.Ledger(at / f"{next(NAMES)}.ledger", epsilon=x, delta=1e-6).epsilon),
    "Ledger charge": (2.0, lambda x, at: charged(at, epsilon=x)),
    "Ledger charge delta": (2.0**-24, lambda x, at: charged(at, epsilon=1.0, delta=x)),
    "Ledger curve": (0.5, lambda x, at: ledger(at).curve([x])),
    "Ledger spent_delta": (2.0, lambda x, at: ledger(at).spent_delta(x)),
    "audit confidence": (0.75, lambda x, _: audited(confidence=x)),
    "audit_samples delta": (
        0.5,
        lambda x, _: str(audit_samples(np.arange(100.0), np.arange(100.0), lambda _: 0.5, delta=x)),
    ),
    "StableLaw order": (0.5, lambda x, _: ss.StableLaw(x)),
    "PrivacyCurve rho": (2.0, lambda x, _: ss.PrivacyCurve(0.5, 5, x).epsilon(1e-6)),
    "distinct law": (2.0, lambda x, _: phantoms_for(PRIVACY).delta(x)),
}
NO_NUMBERS = [True, np.True_, "1", b"1", Fraction(1, 2), Decimal("0.5"), 1j, np.complex128(1), np.timedelta64(1)]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint16], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("where", WHOLE)
def test_an_integer_of_numpy_is_one(where: str, kind: type, tmp_path: Path) -> None:
    number, call = WHOLE[where]
    assert call(kind(number), tmp_path) == call(number, tmp_path)


@pytest.mark.parametrize("where", WHOLE)
def test_nothing_else_is_an_integer(where: str, tmp_path: Path) -> None:
    number, call = WHOLE[where]
    kinds: list[Callable[[int], Any]] = [float, np.float64, np.float32, Fraction, Decimal, np.timedelta64]
    kinds += [] if where == "plan memory" else [str]  # which takes text, "64K" for example
    for other in [*(kind(number) for kind in kinds), np.array([number]), *NO_NUMBERS]:
        with pytest.raises(ss.ArgumentError):
            call(other, tmp_path)


@pytest.mark.parametrize("where", REAL)
def test_a_number_is_a_float_or_an_integer(where: str, tmp_path: Path) -> None:
    number, call = REAL[where]
    kinds = [np.float64, np.float32, np.float16]
    if number.is_integer():
        kinds += [int, np.int64, np.int32, np.uint8] if number < 256 else [int, np.int64]
    for kind in kinds:
        assert call(kind(number), tmp_path) == call(number, tmp_path), kind


@pytest.mark.parametrize("where", REAL)
def test_nothing_else_is_a_number(where: str, tmp_path: Path) -> None:
    number, call = REAL[where]
    for other in [Fraction(number), Decimal(number), str(number), np.array([number]), *NO_NUMBERS]:
        with pytest.raises(ss.ArgumentError):
            call(other, tmp_path)


def asks_for_bool(path: Path) -> bool:
    """Whether a module tells truth values from numbers itself."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return any(
        isinstance(call.func, ast.Name)
        and call.func.id == "isinstance"
        and any(isinstance(each, ast.Name) and each.id == "bool" for each in ast.walk(call.args[1]))
        for call in calls
    )


def test_one_module_decides_what_a_number_is() -> None:
    source = Path(ss.__file__).parent
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if asks_for_bool(path)}
    assert found == {
        "engines/beam/elements.py",  # arguments that are True or False
        "engines/spark/line_formats.py",  # true and false in JSON
        "plan/asked.py",  # an argument that is True or False
        "privacy/discrete_laplace.py",  # a Fraction
        "privacy/exact_moment.py",  # a Fraction
        "sketch/columns/canonical.py",  # keys
        "sketch/columns/values.py",  # refused as values, with words of their own
    }
