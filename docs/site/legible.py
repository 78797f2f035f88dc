"""Marks what readers of a page could not read on their screen; style.css says what each mark does.

- A word with a hyphen in code stays in one line; a path may be broken after a slash, and an assignment after its sign.
- A number such as 1e-9 or 800-226 stays in one line, and the name of a module may be broken after a dot.
- A table cell with a sentence in it is not squeezed into a column of single words.
- A wide picture scrolls on a phone, and the widest opens by itself. A screenshot has a second one for dark pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]

_CODE = re.compile(r"<pre.*?</pre>|<code>.*?</code>", re.DOTALL)
_HYPHENATED = re.compile(r"(?<![\w-])[\w-]*-[\w-]+")  # an option, or a word such as person-window
_NOT_TEXT = re.compile(r"(<(pre|code|math)\b.*?</\2>|<[^>]*>)", re.DOTALL)
_NUMBER = re.compile(r"[\w.]*\w(?:-\d[\w.]*)+")  # with a hyphen before a digit
_MODULE = re.compile(r"(?<=>)stablesketch\.[\w.]+(?=<a class=\"headerlink\")")  # in the title of its page
_BREAKABLE = re.compile(r"(?<=\w[/=])(?=\w)")
_CELL = re.compile(r"<td(?=[ >])([^>]*)>(.*?)</td>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_SENTENCE = 20  # characters
_PICTURE = re.compile(r'<img ([^>]*?src="([^"]*?(images/[\w-]+\.(?:svg|png)))"[^>]*>)')
# Points: the type of what is drawn wider is too small at the width of a phone, or of the text on a large screen.
_WIDE, _WIDEST = 400, 700


def on_page_content(html: str, **_: Any) -> str:
    """The page with its marks."""
    html = _CODE.sub(lambda match: match[0] if match[0].startswith("<pre") else _code(match[0]), html)
    html = _MODULE.sub(lambda name: name[0].replace(".", ".<wbr>"), html)
    html = _CELL.sub(_cell, _numbers(html))
    return _PICTURE.sub(lambda match: _picture(*match.groups()), html)


def _code(code: str) -> str:
    text = code.removeprefix("<code>").removesuffix("</code>")
    if "<" in text:  # it has elements of its own, whose attributes must not be changed
        return code
    words = _HYPHENATED.sub(lambda word: f'<span class="option">{word[0]}</span>', _BREAKABLE.sub("\0", text))
    return f"<code>{words}</code>".replace("\0", "<wbr>")


def _numbers(html: str) -> str:
    parts = _NOT_TEXT.split(html)  # a text, what is none, the name of its element, a text, ...
    texts = (_NUMBER.sub(r'<span class="joined">\g<0></span>', text) for text in parts[::3])
    return "".join(text + other for text, other in zip(texts, [*parts[1::3], ""], strict=True))


def _cell(cell: re.Match[str]) -> str:
    text = _TAG.sub("", cell[2]).strip()
    long = len(text) > _SENTENCE and " " in text
    return f'<td class="sentence"{cell[1]}>{cell[2]}</td>' if long else cell[0]


def _picture(rest: str, address: str, path: str) -> str:
    """The image, for light and for dark pages where there are two; linked, if it is one of the widest."""
    if 'class="' in rest:  # the landing page has one for every width
        return f"<img {rest}"
    width = _width(path)
    style = f'style="--drawn: {width:.0f}px" ' if width > _WIDE else ""
    wide = ["wide"] if style else []
    dark = path.replace(".png", "-dark.png")
    if dark != path and (DOCS / dark).exists():
        pair = ((address, "on-light"), (address.replace(".png", "-dark.png"), "on-dark"))
        return "".join(_image(rest.replace(address, each), style, [*wide, mode], each, width) for each, mode in pair)
    return _image(rest, style, wide, address, width)


def _image(rest: str, style: str, classes: list[str], address: str, width: float) -> str:
    named = f'class="{" ".join(classes)}" ' if classes else ""
    image = f"<img {named}{style}{rest}"
    return f'<a href="{address}" title="Open the picture by itself">{image}</a>' if width > _WIDEST else image


def _width(picture: str) -> float:
    """In points; a pixel of a screenshot is three quarters of one."""
    if picture.endswith(".png"):
        return 0.75 * int.from_bytes((DOCS / picture).read_bytes()[16:20], "big")
    svg = (DOCS / picture).read_text(encoding="utf-8")
    return float(re.search(r'<svg [^>]*?viewBox="0 0 ([\d.]+)', svg)[1])  # type: ignore[index]
