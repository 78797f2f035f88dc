"""`Release` and `Sketch`: transforms from pairs to private numbers, or to collectors that are stored.

**Windows and groups.** A window is a group that is named by its time: each has a secret of its own, is planned like a
group, and which of them are shown is chosen privately, as groups are (doors/groups.py), since that a window or a group
has a release at all tells that it has pairs. In the global window, a list of public `groups` all have a release, also
those without pairs. `public_windows` promises that which windows have pairs is known anyway. A pair in k windows at
once, as sliding windows have it, changes k of them, and the budget is divided by k.

**Once.** A window is released when it closes. Triggers that fire several times and windows that take late data would
release a state twice, so they are refused; so are windows that merge, whose name is not known when a pair comes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...collector import Collector
from ...doors.columns import Columns
from ...doors.groups import GroupBudget, Name, selected
from ...doors.libraries import need
from ...doors.outcome import GroupRelease
from ...doors.release import group_names
from ...doors.sizing import Sizing
from ...doors.task import Task
from ...errors import ArgumentError, ArgumentTypeError
from ...plan import Mechanism, Plan
from ...privacy import Privacy
from ...release import Release as Released
from ...statistic import Statistic
from ..secret_from import SecretFrom, TheSecret, check_absent
from .collect_fn import CollectFn, secret_of

if TYPE_CHECKING:
    from ...ledger import Ledger

__all__ = ["Release", "Sketch"]

beam = need("apache_beam", "beam")
_windows = need("apache_beam.transforms.window", "beam")
_triggers = need("apache_beam.transforms.trigger", "beam")


class Release(beam.PTransform):  # type: ignore[misc, name-defined]  # Beam is untyped
    """Private numbers from a PCollection of pairs: `pairs | Release(ss.Moment(0.5), privacy)`.

    Elements are keys, or (key, value) where `privacy.max_value` is above 1; a tuple as key is a composite key. With
    `by=True`, or a list of public `groups`, they are (group, pair), and a group is a text or a tuple of them. In the
    global window and without groups the result is one `Release`; otherwise a `GroupRelease` for each group and window,
    in its window, whose ε and δ are those of all of them together. With unit="key" every key has to come once, with its
    total: put `beam.CombinePerKey(sum)` before it. What is chosen and refused is said at the head of
    engines/beam/transform.py.

    `secret` is a reference that every worker can follow; what it leads to is never used itself, but derived from with
    128 random bits that are drawn when the transform is made. So make the pipeline anew for each run: one that is
    stored and run again, as a template is, would use a secret twice. Without `secret` a fresh one stays in this
    process, which is enough for runners whose workers are threads of it.

    `ledger` is charged when the transform is applied, for all that it may release, before anything runs.
    """

    def __init__(
        self,
        statistic: Statistic,
        privacy: Privacy,
        *,
        by: bool = False,
        groups: Sequence[str | Sequence[str]] | None = None,
        public_windows: bool = False,
        error: float | None = None,
        size: int | None = None,
        memory: str | int | None = None,
        expected: float | None = None,
        mechanism: Mechanism = "sketch",
        clip: bool = False,
        selection_share: float = 0.1,
        confidence: float = 0.95,
        secret: SecretFrom | None = None,
        ledger: Ledger | None = None,
        label: str = "",
    ) -> None:
        super().__init__()
        if not isinstance(privacy, Privacy):
            raise ArgumentTypeError("privacy", privacy, "not a Privacy", "Pass ss.Privacy(1.0, 1e-9, pairs=...)")
        self._statistic, self._privacy = statistic, privacy
        self._sizing = Sizing(error, size, memory, expected, mechanism)
        self._groups = None if groups is None else group_names(groups)
        self._by, self._public_windows = by or groups is not None, public_windows
        self._clip, self._confidence, self._share = clip, confidence, selection_share
        self._secret = TheSecret(_checked(secret) or SecretFrom.this_process(), secrets.token_hex(16))
        self._ledger, self._label = ledger, label

    def expand(self, pcoll: Any) -> Any:
        """Keyed by group and window, combined, released."""
        times = _windows_of_a_pair(pcoll.windowing)
        windowed = times is not None
        task = self._task(windowed)
        if windowed and self._public_windows and self._groups is not None:
            raise ArgumentError(
                "groups", "...", "a window without a release for a listed group would tell that it has no pairs there",
                "Leave public_windows out; then what is shown is chosen privately",
            )  # fmt: skip
        shares = None
        if task.columns.by:
            public = self._groups is not None if not windowed else self._public_windows and not self._by
            shares = task.group_budget(task.privacy, times=times or 1, public=public)
        plan = self._sizing.plan(self._statistic, task.privacy if shares is None else shares.privacy)
        spent = (plan.epsilon, plan.delta) if shares is None else shares.spent(plan.epsilon, plan.delta)
        if self._ledger is not None:
            self._ledger.charge(
                epsilon=spent[0], delta=spent[1], statistic=str(self._statistic), relation=self._privacy.relation,
                pairs_per_person=self._privacy.pairs_per_person, label=self._label,
            )  # fmt: skip
        weighted = self._privacy.max_value > 1
        named = pcoll | beam.ParDo(_Named(weighted, self._by, windowed, self._groups))
        if not windowed and (shares is None or self._groups is not None):
            there = [()] if self._groups is None else self._groups
            seeds = pcoll.pipeline | "Names" >> beam.Create([(name, (name,)) for name in there])
            named = (named, seeds) | "AlsoEmpty" >> beam.Flatten()
        blobs = named | beam.CombinePerKey(CollectFn(plan, self._secret, weighted=weighted, clip=self._clip))
        return blobs | "Once" >> beam.ParDo(
            _Released(plan, self._secret, self._confidence, shares, spent, self._privacy.relation)
        )

    def _task(self, windowed: bool) -> Task:
        """The same as a task on one machine, so that the same is checked and divided in the same way."""
        parts = [*(["group"] if self._by else []), *(["window"] if windowed else [])]
        width = len(self._groups[0]) if self._groups else 1
        by = [f"group {i}" for i in range(width)] if self._by and not windowed else parts
        columns = Columns(("key",), "value" if self._privacy.max_value > 1 else None, tuple(by))
        return Task(
            self._statistic, self._privacy, columns, self._sizing, groups=None if windowed else self._groups,
            selection_share=self._share, clip=self._clip, confidence=self._confidence,
        )  # fmt: skip


class Sketch(beam.PTransform):  # type: ignore[misc, name-defined]
    """Collectors as bytes, to be stored, merged and released once: `pairs | Sketch(plan, secret=...)`.

    Elements are as for `Release`. In the global window and without groups the result is the bytes of one collector
    under the secret itself. Otherwise it is (name, bytes) for each group and window, under `secret.child(name)`; a name
    of several parts is the JSON of its list. With a `shard` each is that shard of whatever it is merged into.
    """

    def __init__(
        self, plan: Plan, *, secret: SecretFrom, by: bool = False, shard: str | None = None, clip: bool = False
    ) -> None:
        super().__init__()
        if not isinstance(plan, Plan):
            raise ArgumentTypeError("plan", type(plan), "not a Plan", "Pass what ss.plan(...) gave")
        reference = _checked(secret)
        if reference is None:
            raise ArgumentTypeError(
                "secret", None, "what is stored needs a secret that is kept", "Pass SecretFrom.file(...)"
            )
        self._plan, self._secret, self._by, self._shard, self._clip = plan, TheSecret(reference), by, shard, clip

    def expand(self, pcoll: Any) -> Any:
        """Keyed by group and window, combined."""
        windowed = _windows_of_a_pair(pcoll.windowing) is not None
        weighted = self._plan.privacy.max_value > 1
        named = pcoll | beam.ParDo(_Named(weighted, self._by, windowed, None))
        if not windowed and not self._by:
            seed = pcoll.pipeline | "Names" >> beam.Create([((), ((),))])
            named = (named, seed) | "AlsoEmpty" >> beam.Flatten()
        fn = CollectFn(self._plan, self._secret, weighted=weighted, clip=self._clip, separate=True)
        return named | beam.CombinePerKey(fn) | "Stored" >> beam.Map(_stored, self._secret, self._shard)


def _stored(element: tuple[Name, bytes], secret: TheSecret, shard: str | None) -> Any:
    name, blob = element
    if shard is not None:
        collector = Collector.from_bytes(blob, secret_of(secret.find(), name, True))
        collector._rename(shard)
        blob = collector.to_bytes()
    return blob if not name else (name, blob)


class _Named(beam.DoFn):  # type: ignore[misc, name-defined]
    """Elements → (name, (name, key, value)), the name being that of the group and of the window."""

    def __init__(self, weighted: bool, by: bool, windowed: bool, groups: Sequence[Name] | None) -> None:
        super().__init__()
        self._weighted, self._by, self._windowed = weighted, by, windowed
        self._groups = None if groups is None else frozenset(groups)

    def process(self, element: Any, window: Any = beam.DoFn.WindowParam) -> Iterator[Any]:
        """One element."""
        name: Name = ()
        if self._by:
            group, element = element
            name = (group,) if isinstance(group, str) else tuple(group)
            if self._groups is not None and name not in self._groups:
                return
        if self._windowed:
            name = (*name, f"{_time(window.start)}/{_time(window.end)}")
        key, value = element if self._weighted else (element, 1)
        yield name, (name, key, value)


class _Released(beam.DoFn):  # type: ignore[misc, name-defined]
    """Collectors → releases; where there is a selection, of those that pass it."""

    def __init__(
        self, plan: Plan, secret: TheSecret, confidence: float, shares: GroupBudget | None,
        spent: tuple[float, float], relation: str,
    ) -> None:  # fmt: skip
        super().__init__()
        self._plan, self._secret, self._confidence = plan.to_json(), secret, confidence
        self._shares, self._spent, self._relation = shares, spent, relation

    def process(self, element: tuple[Name, bytes]) -> Iterator[Released | GroupRelease]:
        """One collector."""
        name, blob = element
        collector = Collector.from_bytes(blob, secret_of(self._secret.spend(name), name, False))
        if self._shares is None:
            yield collector.release(confidence=self._confidence)
            return
        if self._shares.selection_epsilon and not list(selected([(name, collector._held().pairs)], self._shares)):
            return
        own = collector.release(confidence=self._confidence)
        epsilon, delta = self._spent
        yield GroupRelease(name, replace(own, epsilon=epsilon, delta=delta, relation=self._relation))


def _time(stamp: Any) -> str:
    return str(stamp.to_rfc3339())


def _windows_of_a_pair(windowing: Any) -> int | None:
    """How many windows a pair is in; None if there is but the global one."""
    if not isinstance(windowing.triggerfn, _triggers.DefaultTrigger) or windowing.allowed_lateness != 0:
        raise ArgumentError(
            "windowing", f"{windowing.triggerfn}, lateness {windowing.allowed_lateness}",
            "a window that fires again would be released again", "Use the default trigger, and no allowed lateness",
        )  # fmt: skip
    fn = windowing.windowfn
    if isinstance(fn, _windows.GlobalWindows):
        return None
    if isinstance(fn, _windows.FixedWindows):
        return 1
    if isinstance(fn, _windows.SlidingWindows):
        return -int(-fn.size.micros // fn.period.micros)  # rounded up
    raise ArgumentError(
        "windowing", type(fn).__name__, "how many windows a pair is in, and which, is not known when it comes",
        "Use the global window, FixedWindows or SlidingWindows",
    )  # fmt: skip


def _checked(secret: object) -> SecretFrom | None:
    if secret is None:
        return None
    if isinstance(secret, SecretFrom):
        if secret.fetches:
            pickled = need("apache_beam.internal.cloudpickle.cloudpickle", "beam").dumps(secret)
            check_absent(secret.find(), pickled)
        return secret
    raise ArgumentTypeError(
        "secret", type(secret), "workers need a reference to the secret, not the secret, which would be stored",
        "Save it and pass SecretFrom.file(path), or .environment(name), .callable(function)",
    )  # fmt: skip
