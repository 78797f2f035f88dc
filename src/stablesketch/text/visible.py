"""Shows text that came with data so that it can only be read, never obeyed.

The name of a group, a column or a file can contain anything: escape sequences that a terminal obeys, marks that reverse
the direction of a line, invisible characters, half of a surrogate pair. Wherever such a name is shown to people, these
are escaped as Python escapes them; JSON keeps the exact name.
"""

from __future__ import annotations

import re
import unicodedata

# Control, format (zero-width, right-to-left), surrogate, private, unassigned; line and paragraph separators.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and marks that are invisible
_PLAIN = re.compile(r"[ -~]*")
_PERHAPS_HIDDEN = re.compile(r"[^ -~]")


def visible(text: str, keep: str = "") -> str:
    r"""The text with every invisible character, and every one that a terminal obeys, escaped; those in `keep` stay.

    >>> visible("a\x1b[31mred\u202e")
    'a\\x1b[31mred\\u202e'
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(character if character in keep or _is_seen(character) else _written(character) for character in text)


def places(text: str) -> int:
    """The number of columns that a text takes: Chinese, Japanese and Korean letters take two, combining marks none.

    >>> places("Paris"), places("東京"), places("e\u0301")
    (5, 4, 1)
    """
    return sum(
        2 if unicodedata.east_asian_width(one) in "WF" else unicodedata.category(one) not in ("Mn", "Me")
        for one in text
    )


def writable(text: str) -> bool:
    """Whether UTF-8 can encode it: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_visible(text: str) -> str:
    r"""JSON with the same characters escaped as JSON escapes them, \u001b; its meaning is unchanged."""
    return _PERHAPS_HIDDEN.sub(lambda found: _in_json(found[0]), text)


def _in_json(character: str) -> str:
    if _is_seen(character):
        return character
    return re.sub(r"....", r"\\u\g<0>", character.encode("utf-16-be", "surrogatepass").hex())


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _HIDDEN and character not in _BLANK


def _written(character: str) -> str:
    written = character.encode("unicode_escape").decode()
    return written if written != character else f"\\u{ord(character):04x}"
