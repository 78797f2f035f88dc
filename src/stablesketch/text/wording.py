"""Messages in the caller's own terms.

A text names an argument or a statistic by `arg` or `stat`, never by a fixed spelling. Each interface spells it when the
text is shown: Python as `max_value=5` and `ss.Hill(0.5)`, the command line as `--max-value 5` and `--statistic hill
--order 0.5` (cli/in_options.py). Where the two need different words, `either` has both. Inside a text, a name is
enclosed in Unicode noncharacters, which are for internal use by programs and never part of exchanged text. F-strings
carry them like any other text, and no data look like them.

>>> in_python(f"Pass {arg('max_value', 5)} or {stat('Hill', 0.5)}, or leave out {arg('by')}.")
'Pass max_value=5 or ss.Hill(0.5), or leave out by=.'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

_START, _NEXT, _END = "\ufdd0", "\ufdd1", "\ufdd2"
MentionKind = Literal["subject", "argument", "statistic", "either"]


class Mention(NamedTuple):
    """An argument or a statistic named in a text, with its values as written in Python and as typed in a shell."""

    kind: MentionKind
    name: str
    written: tuple[str, ...]
    typed: tuple[str, ...]

    def in_python(self) -> str:
        """The spelling in Python."""
        if self.kind == "either":
            return self.written[0]
        if self.kind == "statistic":
            return f"ss.{self.name}({', '.join(self.written)})"
        return self.name if self.kind == "subject" else f"{self.name}={''.join(self.written)}"


def arg(name: str, *value: object) -> str:
    """An argument, by its name in Python, with the value to pass, if any."""
    return _marked("argument", name, value)


def subject(name: str) -> str:
    """An argument as a noun in its sentence: "size must be positive", "a smaller size"."""
    return _marked("subject", name, ())


def either(python: str, typed: str) -> str:
    """Different words for each interface: a call in Python, a command on the command line.

    >>> in_python(f"Create a ledger: {either('ss.Ledger(path)', 'stablesketch ledger new FILE')}.")
    'Create a ledger: ss.Ledger(path).'
    """
    return f"{_START}{_NEXT.join(['either', '', python, typed])}{_END}"


def stat(name: str, *values: object) -> str:
    """A statistic, by the name of its class."""
    return _marked("statistic", name, values)


def in_python(text: str) -> str:
    """The text with everything it names spelt as in Python."""
    return spelt(text, Mention.in_python)


def spelt(text: str, spelling: Callable[[Mention], str]) -> str:
    """The text with everything it names spelt by `spelling`."""
    plain, *marked = text.split(_START)
    return plain + "".join(_spelt(piece, spelling) for piece in marked)


def _spelt(piece: str, spelling: Callable[[Mention], str]) -> str:
    inside, end, after = piece.partition(_END)
    kind, *fields = inside.split(_NEXT)
    if not end or kind not in get_args(MentionKind) or not len(fields) % 2:
        return _START + piece  # not marked by this module
    return spelling(Mention(kind, fields[0], tuple(fields[1::2]), tuple(fields[2::2]))) + after  # type: ignore[arg-type]


def _marked(kind: MentionKind, name: str, values: tuple[object, ...]) -> str:
    fields = [form(value) for value in values for form in (_written, _typed)]
    return f"{_START}{_NEXT.join([kind, name, *fields])}{_END}"


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return repr(value).removesuffix(".0") if isinstance(value, float) else repr(value)


def _typed(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_typed, value))
    if not isinstance(value, str):
        return _written(value)
    import shlex  # only errors need it

    return shlex.quote(value)
