"""A figure as the bytes of a file: PNG, SVG, or a page of HTML with the SVG inside. Equal figures give equal bytes."""

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
# In a page the colours follow the page, so that the picture is right on a dark one too: page/style.css.
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
    """Refuses a name with another suffix, before anything is computed."""
    if path.suffix.lower() not in _KINDS:
        raise ArgumentError("plot", str(path), "must end in .png, .svg or .html", "Choose another name")


def picture_bytes(figure: Figure, path: Path, title: str, alt: str) -> bytes:
    """The bytes of the file `path`; `title` and `alt` describe the picture in words."""
    check_picture_path(path)
    kind = path.suffix.lower()
    if kind == ".html":
        body = f'<h1>{escaped(title)}</h1>\n<figure class="wide">{inline_svg(figure, alt)}</figure>'
        return document(title, body).encode()
    return themed(_saved(figure, "svg", title)) if kind == ".svg" else _saved(figure, "png", title)


def themed(svg: bytes) -> bytes:
    """The picture, in the dark colours of our pages if its reader prefers them.

    Every colour is also written where it is used, for programs without style sheets.
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
    """The picture as an element of a page, in its colours, with a description for those who cannot see it."""
    text = _saved(figure, "svg", alt).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    for colour, variable in _VARIABLES.items():
        text = re.sub(rf"{colour}\b", f"var({variable})", text, flags=re.IGNORECASE)
    return re.sub(r"<svg [^>]*?(viewBox=\"[^\"]+\")[^>]*>", rf'<svg \1 role="img" aria-label="{escaped(alt)}">', text)


@style.in_style
def _saved(figure: Figure, kind: str, title: str) -> bytes:
    """An SVG has no ground of its own; a PNG has a white one, since it cannot change its colours."""
    buffer = io.BytesIO()
    metadata = {"Software": None, "Title": title} if kind == "png" else {"Date": None, "Creator": None, "Title": title}
    with warnings.catch_warnings():
        # Letters that the font has not are drawn as boxes; a release that is spent is not lost over that.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.draw_without_rendering()  # what stands beside the axes has its place only once they have theirs
        figure.savefig(buffer, format=kind, dpi=140, metadata=metadata, transparent=kind == "svg")
    return buffer.getvalue()
