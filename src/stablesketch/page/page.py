"""The frame that all HTML pages share. Style and script are in the page itself, so it works without a network."""

from __future__ import annotations

import html
import re
from importlib import resources
from pathlib import Path

from ..errors import ArgumentError
from ..text.visible import visible


def check_page_path(path: Path) -> None:
    """Refuses a path that does not end in .html."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError("report", str(path), "must end in .html", "Choose another name: the report is a web page")


def escaped(text: str) -> str:
    """Text for HTML, in elements and in attributes."""
    return html.escape(visible(text, keep="\n\t"), quote=True)


def unbroken(text: str) -> str:
    """Commands for HTML: a line is broken between words, never after the hyphens of an option."""
    return re.sub(r"[^ \n]+", r'<span class="unbroken">\g<0></span>', escaped(text))


def document(title: str, body: str, script: str = "") -> str:
    """A whole page. `body` is HTML and `script` JavaScript, both used as they are; `title` is plain text.

    The policy in its head forbids the page to fetch anything from elsewhere, whatever it contains.
    """
    style = _style()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    if script:
        policy += "; script-src 'unsafe-inline'; connect-src 'self'"
        script = f"<script>\n{script}</script>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        f"{script}</body>\n</html>\n"
    )


def dark_colours() -> dict[str, str]:
    """The colours of a page in dark mode, by the names of their variables."""
    _, _, dark = _style().partition("@media (prefers-color-scheme: dark)")
    return dict(re.findall(r"(--\w+): (#\w{6})", dark[: dark.index("}")]))


def _style() -> str:
    return resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
