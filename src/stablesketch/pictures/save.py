"""A figure as the bytes of a file: PNG, SVG, or a page of HTML with the SVG inside. Equal figures give equal bytes."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..page import document, escaped
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
}


def check_picture_path(path: Path) -> None:
    """Refuses a picture of another kind, before anything is computed for it."""
    if path.suffix.lower() not in _KINDS:
        raise ArgumentError("plot", str(path), "must end in .png, .svg or .html", "Choose another name")


def picture_bytes(figure: Figure, path: Path, title: str, alt: str) -> bytes:
    """What goes into the file `path`; `title` and `alt` describe the picture in words."""
    check_picture_path(path)
    kind = path.suffix.lower()
    if kind == ".html":
        body = f'<h1>{escaped(title)}</h1>\n<figure class="wide">{inline_svg(figure, alt)}</figure>'
        return document(title, body).encode()
    return _saved(figure, kind[1:], title)


def inline_svg(figure: Figure, alt: str) -> str:
    """The picture as an element of a page, in the colours of the page, its words for those who do not see it."""
    text = _saved(figure, "svg", alt, transparent=True).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    for colour, variable in _VARIABLES.items():
        text = re.sub(rf"{colour}\b", f"var({variable})", text, flags=re.IGNORECASE)
    return re.sub(r"<svg [^>]*?(viewBox=\"[^\"]+\")[^>]*>", rf'<svg \1 role="img" aria-label="{escaped(alt)}">', text)


@style.in_style
def _saved(figure: Figure, kind: str, title: str, transparent: bool = False) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Software": None, "Title": title} if kind == "png" else {"Date": None, "Creator": None, "Title": title}
    with warnings.catch_warnings():
        # Letters that the font has not are drawn as boxes; a release that is spent is not lost over that.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.draw_without_rendering()  # what stands beside the axes has its place only once they have theirs
        figure.savefig(buffer, format=kind, dpi=140, metadata=metadata, transparent=transparent)
    return buffer.getvalue()
