"""Small texts from outside: the questions of the planner's page, and the kept head of a ledger."""

from __future__ import annotations

import json

from fuzz_seeds import same, shown

from stablesketch.ledger.chain import position_from, position_text
from stablesketch.planner_page.answer import answer

_QUESTION = {
    "statistic": "hill", "order": "0.5", "mechanism": "sketch", "relation": "add_remove", "people": "no",
    "groups": "none", "public_groups": "5", "groups_per_person": "1", "pairs_per_person": "1", "max_value": "1",
    "epsilon": "1", "delta": "1e-6", "memory": "4000", "pairs": "100000",
}  # fmt: skip


def questions() -> list[bytes]:
    changes: list[dict[str, str]] = [
        {}, {"people": "yes", "pairs_per_person": "3"}, {"groups": "public"}, {"mechanism": "exact"},
        {"mechanism": "bare", "relation": "replace"},
    ]  # fmt: skip
    return [json.dumps({**_QUESTION, **change}).encode() for change in changes]


def read_question(text: str) -> None:
    """As the server passes it on: names and values are texts."""
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(asked, dict) or len(text) > 2_000:
        return  # longer addresses are refused before
    found = answer({str(name): str(value) for name, value in asked.items()})
    shown(json.dumps(found))


def heads() -> list[bytes]:
    return [position_text((number, bytes(range(32)))).encode() for number in (0, 17, 2**40)]


def read_head(text: str) -> None:
    same(position_text(position_from(text)), text)
