"""A figure as the bytes of a file: PNG, SVG, or an HTML page with the SVG inside. Equal figures give equal bytes."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..page import dark_colours, document, escaped
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KINDS = (".png", ".svg", ".html")
# Inside a page, the picture takes the colours of the page (page/style.css), so that it also suits dark mode.
_VARIABLES = {
    style.BLUE: "--blue",
    style.VERMILION: "--vermilion",
    style.GREEN: "--green",
    style.SKY: "--sky",
    style.INK: "--ink",
    style.GREY: "--quiet",
    style.GRID: "--grid",
    style.WHITE: "--paper",
}


def check_picture_path(path: Path) -> None:
    """Refuses any other suffix before anything is computed."""
    if path.suffix.lower() not in _KINDS:
        raise ArgumentError("plot", str(path), "must end in .png, .svg or .html", "Choose another name")


def picture_bytes(figure: Figure, path: Path, title: str, alt: str) -> bytes:
    """The bytes of the file `path`; `title` and `alt` describe the picture in words."""
    check_picture_path(path)
    kind = path.suffix.lower()
    if kind == ".html":
        drawn = f'<figure class="wide scrolls" tabindex="0">{inline_svg(figure, alt)}</figure>'
        return document(title, f'<h1 class="wide">{escaped(title)}</h1>\n{drawn}').encode()
    return themed(_saved(figure, "svg", title)) if kind == ".svg" else _saved(figure, "png", title)


def themed(svg: bytes) -> bytes:
    """The picture with the dark colours of our pages for readers who prefer them.

    Every colour is also written where it is used, for programs that ignore style sheets.
    """
    dark = dark_colours()
    rules = "".join(
        f'[style*="{what}: {colour.lower()}"] {{ {what}: {dark[variable]} !important }}\n'
        for colour, variable in _VARIABLES.items()
        for what in ("fill", "stroke")
    )
    sheet = f"<style>\n@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n</style>\n</defs>"
    return svg.replace(b"</defs>", sheet.encode(), 1)


def inline_svg(figure: Figure, alt: str) -> str:
    """The picture as an element of a page, in the page's colours, with a description for those who cannot see it."""
    text = _saved(figure, "svg", alt).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    for colour, variable in _VARIABLES.items():
        text = re.sub(rf"{colour}\b", f"var({variable})", text, flags=re.IGNORECASE)
    return re.sub(r"<svg [^>]*?(viewBox=\"[^\"]+\")[^>]*>", rf'<svg \1 role="img" aria-label="{escaped(alt)}">', text)


@style.in_style
def _saved(figure: Figure, kind: str, title: str) -> bytes:
    """An SVG has a transparent background; a PNG has a white one, because it cannot change its colours."""
    buffer = io.BytesIO()
    metadata = {"Software": None, "Title": title} if kind == "png" else {"Date": None, "Creator": None, "Title": title}
    with warnings.catch_warnings():
        # Letters missing from the font are drawn as boxes: a spent release must not be lost because of them.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.draw_without_rendering()  # what is beside the axes can be placed only after the axes
        figure.savefig(buffer, format=kind, dpi=140, metadata=metadata, transparent=kind == "svg")
    return buffer.getvalue()
