"""`Sketch`: a transform from pairs to stored collectors."""

from __future__ import annotations

from typing import Any

from ...bounding.groups import Name
from ...collector import Collector
from ...errors import ArgumentTypeError, check_type
from ...plan import Plan
from ...reading.columns import OnBad, zeros_under
from ...reading.libraries import need
from ...release.question import Question
from ..secret_from import SecretFrom, TheSecret
from ..stored_plan import largest_value, refuse_whole_keys
from .collect_fn import CollectFn, secret_of
from .elements import ElementReader, have_values
from .source import Read, by_group, reference_or_none, windows_of_a_pair

beam = need("apache_beam", "beam")


class Sketch(beam.PTransform):  # type: ignore[misc, name-defined]
    """Collectors as bytes, to be stored, merged and released once: `pairs | Sketch(plan, secret=...)`.

    Elements are as for `Release`. In the global window and without groups the result is the bytes of one collector
    under the secret itself. Otherwise it is (name, bytes) for each group and window, under `secret.child(name)`; a name
    with several parts is the JSON of its list. With a `shard`, that is the shard's name wherever it is merged.
    """

    def __init__(
        self, plan: Plan, *, secret: SecretFrom, by: bool = False, shard: str | None = None,
        clip: bool = Question.clip, on_bad: OnBad = Question.on_bad,
    ) -> None:  # fmt: skip
        super().__init__()
        check_type("plan", plan, Plan, "must be a Plan", "Pass the result of ss.plan(...)")
        reference = reference_or_none(secret)
        if reference is None:
            raise ArgumentTypeError(
                "secret", None, "must be given for a stored sketch",
                "Pass SecretFrom.file(...), so that the secret is kept",
            )  # fmt: skip
        refuse_whole_keys(plan)
        self._plan, self._secret, self._by, self._shard, self._clip = plan, TheSecret(reference), by, shard, clip
        zeros = zeros_under(plan.privacy.relation)
        self._reader = ElementReader(False, by, have_values(plan.privacy), largest_value(plan, clip), on_bad, zeros)

    def expand(self, pcoll: Any) -> Any:
        """Keyed by group and window, combined."""
        windowed = windows_of_a_pair(pcoll.windowing) is not None
        named = pcoll | "Read" >> beam.ParDo(Read(self._reader, windowed, by_group))
        if not windowed and not self._by:
            seed = pcoll.pipeline | "Names" >> beam.Create([((), ((), 0))])
            named = (named, seed) | "AlsoEmpty" >> beam.Flatten()
        fn = CollectFn(self._plan, self._secret, weighted=self._reader.weighted, clip=self._clip, separate=True)
        return named | beam.CombinePerKey(fn) | "Stored" >> beam.Map(_stored, self._secret, self._shard)


def _stored(element: tuple[Name, bytes], secret: TheSecret, shard: str | None) -> Any:
    name, blob = element
    if shard is not None:
        collector = Collector.from_bytes(blob, secret_of(secret.find(), name, True))
        collector.rename(shard)
        blob = collector.to_bytes()
    return blob if not name else (name, blob)
