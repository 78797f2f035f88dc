"""Power cuts at every call of a release, what was not synced is lost: recorded, spent and printed, in this order."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from attack_tools import filled
from power_cut import Call, left_behind, recorded_calls

import stablesketch as ss
from stablesketch.ledger import composition

SCRIPT = """
import os
import stablesketch as ss
here = os.getcwd()
collector = ss.Collector.from_bytes(open("../collector.ssk", "rb").read(), ss.Secret.load(here + "/secret.key"))
release = collector.release(ledger=ss.Ledger(here + "/budget.db"))
os.write(1, repr(release.value).encode())
"""


class Cut:
    """A folder before a release, and the calls that the release made."""

    def __init__(self, tmp_path: Path, plan: ss.Plan, script: str = SCRIPT) -> None:
        if shutil.which("strace") is None:
            pytest.skip("SKIPPED ATTACK: there is no strace to record what a release writes")
        home = tmp_path / "disk"
        home.mkdir()
        ledger = ss.Ledger(home / "budget.db", epsilon=4.0, delta=1e-6)
        ledger.charge(epsilon=0.1, statistic="before", relation="replace of pairs")
        secret = ss.Secret.generate()
        secret.save(home / "secret.key")
        self.fingerprint = secret.fingerprint.hex()
        (tmp_path / "collector.ssk").write_bytes(filled(plan, secret).to_bytes())
        self.values: set[float] = set()
        self.before, self.after = tmp_path / "before", tmp_path / "after"
        shutil.copytree(home, self.before)
        try:
            calls = recorded_calls(script, home)
        except OSError:
            pytest.skip("SKIPPED ATTACK: strace may not trace processes here")
        # The model knows the folder by one name: as if the release had been made where its copy is.
        self.calls = [
            Call(
                call.name, call.handle,
                tuple(text.replace(os.fsencode(home), os.fsencode(self.before)) for text in call.texts),
                call.number, call.flags, call.result,
            )
            for call in calls
        ]  # fmt: skip
        first = next(i for i, call in enumerate(self.calls) if call.texts and call.texts[0].endswith(b"secret.key"))
        self.moments = range(first, len(self.calls) + 1)

    def check(self, count: int, seed: int) -> str:
        printed = left_behind(self.before, self.calls, count, self.after, seed)
        composition.forget()
        ledger = ss.Ledger(self.after / "budget.db")
        ledger.verify()
        recorded = {record.fingerprint for record in ledger.records()}
        assert "before" in {record.statistic for record in ledger.records()}
        about = ss.Secret.inspect(self.after / "secret.key")  # an error if it is neither fresh nor spent
        if about.spent or printed:
            assert self.fingerprint in recorded
        if printed:
            assert about.spent
        for record in ledger.records():
            if record.fingerprint == self.fingerprint:  # what was paid for is there, and always the same
                release = ss.Release.from_json(ledger.published(record.number) or "")
                self.values.add(release.value)
                assert len(self.values) == 1
        return "paid and spent" if about.spent else "paid only" if self.fingerprint in recorded else "nothing"


def cut_at(cut: Cut, step: int, seeds: range) -> dict[str, int]:
    found = {"nothing": 0, "paid only": 0, "paid and spent": 0}
    for count in [*cut.moments[::step], cut.moments[-1]]:
        for seed in seeds:
            found[cut.check(count, seed)] += 1
    print(found)
    return found


def test_power_cuts(tmp_path: Path, plan: ss.Plan) -> None:
    found = cut_at(Cut(tmp_path, plan), 15, range(3))
    assert min(found["nothing"], found["paid and spent"]) >= 1


def test_a_release_that_does_not_sync_is_caught(tmp_path: Path, plan: ss.Plan) -> None:
    """The test of the test: the secret is marked, and the mark is lost."""
    cut = Cut(tmp_path, plan, "import os\nos.fsync = lambda handle: None" + SCRIPT)
    with pytest.raises(AssertionError):
        cut.check(cut.moments[-1], 0)
    assert cut.check(cut.moments[-1], 1) == "paid and spent"


@pytest.mark.slow
def test_power_cuts_at_every_call(tmp_path: Path, plan: ss.Plan) -> None:
    found = cut_at(Cut(tmp_path, plan), 1, range(int(os.environ.get("STABLESKETCH_CUTS", "3"))))
    assert min(found.values()) >= 1
