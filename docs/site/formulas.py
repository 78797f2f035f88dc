"""Formulas: `$...$` in a line and `$$` blocks of Markdown become MathML, which browsers typeset by themselves.

The Markdown extension arithmatex finds them (never in code), this hook converts them. GitHub renders the same source.
A formula that cannot be converted ends the build, and so does one that GitHub would show differently.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from math_core import LatexError, LatexToMathML
from mkdocs.exceptions import PluginError

# With the bracket before and the punctuation after it: browsers would begin a line with a full stop.
_FOUND = re.compile(r'(\(?)<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\2>([.,;:)]*)', re.DOTALL)
_EATEN = re.compile(r"\\[!-/:-@\[-`{-~]")  # Markdown on GitHub takes the backslash away
_LONG = 30  # characters; browsers do not break a formula
_PRIME = re.compile(r"<msup>(<mi>\w+</mi>)<mo>′</mo></msup>")  # raised by itself, and too small as an exponent
_CONVERTER = LatexToMathML(fancy_error=False)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The page with its formulas as MathML."""
    try:
        return _FOUND.sub(_typeset, html)
    except ValueError as reason:
        raise PluginError(f"{page.file.src_uri}: {reason}") from None


def _typeset(found: re.Match[str]) -> str:
    """A formula with what it must not be parted from; a block, and a long one in a line, may scroll on a phone."""
    before, element, source, after = found.groups()
    formula = unescape(source).strip()
    if element == "div":
        return f'{before}<div class="formula">{mathml(formula, block=True)}</div>{after}'
    made = f"{before}{mathml(formula, block=False)}{after}"
    if len(formula) > _LONG:
        return f'<span class="formula">{made}</span>'
    return f'<span class="joined">{made}</span>' if before or after else made


def mathml(formula: str, block: bool) -> str:
    """A formula in LaTeX as an element of MathML."""
    if eaten := _EATEN.search(formula):
        raise ValueError(f"${formula}$ has {eaten[0]}, which GitHub changes. Write a name, such as \\lbrace or \\quad.")
    try:
        made = _CONVERTER.convert_with_local_state(formula, displaystyle=block)
    except LatexError as reason:
        raise ValueError(f"${formula}$ cannot be typeset: {reason}") from None
    return _PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">′</mo></mrow>', made)
