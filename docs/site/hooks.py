"""What makes a site of pages that are also read in the repository: links out of docs/ are led to pages of the site.

- CONTRIBUTING.md and its like become pages; the site begins with landing.md, and docs/README.md is its list of pages.
- The landing page takes its picture and its command, with what that prints, from the README.
- A link to a Python file becomes one to a page with the docstrings of that module, proofs included, and its source.
- The link to the repository is the address that pyproject.toml gives, or that of the workflow that builds the site.

Other links out of docs/ are left as they are, and mkdocs refuses them.
"""

from __future__ import annotations

import os
import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[2]
# A file of the repository → the page it becomes.
MOVED = {
    "docs/site/landing.md": "index.md",
    "docs/README.md": "contents.md",
    **{name: name.lower() for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")},
}
SOURCES = {page: source for source, page in MOVED.items()}
PAGES = {"README.md": "index.md", **MOVED}

_LINK = re.compile(r"(?<=\]\()([^)#\s:]+)((?:#[^)\s]*)?)(?=\))")
_MODULE = re.compile(r"src/(stablesketch/[\w/]+)\.py")


def on_config(config: Any) -> Any:
    """Names the repository, if it has an address."""
    urls = tomllib.loads(_text("pyproject.toml"))["project"]["urls"]
    here = os.environ.get("GITHUB_REPOSITORY")
    address = urls.get("Source") or (here and f"{os.environ['GITHUB_SERVER_URL']}/{here}")
    if address:
        config.repo_url, config.repo_name = address, "Repository"
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are not in docs/."""
    for name, page in MOVED.items():
        content = re.sub(r"^README: (.+)$", _from_readme, _text(name), flags=re.MULTILINE)
        files.append(File.generated(config, page, content=content))
    for path in sorted({found for file in list(files) for found in _linked_modules(file)}):
        module = path.replace("/", ".").removesuffix(".__init__")
        text = f"# {module}\n\n::: {module}\n    options:\n      show_root_heading: false\n      show_source: true\n"
        files.append(File.generated(config, _page_of(path), content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _from_readme(wanted: re.Match[str]) -> str:
    """The first picture of the README, or what stands under one of its headings, with links as from docs/site."""
    pattern = r"!\[.*?\]\(.*?\)" if wanted[1] == "picture" else rf"(?<=^## {wanted[1]}\n).*?(?=^## )"
    found = re.search(pattern, _text("README.md"), re.DOTALL | re.MULTILINE)
    if found is None:
        raise PluginError(f"The landing page shows {wanted[1]!r} of README.md, which is no longer there.")
    shown = found[0].replace("](docs/", "](../")
    if wanted[1] == "picture":
        narrow = shown.replace(".svg)", "-phone.svg)")
        return f"{shown}{{ .on-wide }}\n{narrow}{{ .on-phone }}"
    return shown


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leads the links of a page to where their targets are on the site."""
    here = page.file.src_uri
    return _LINK.sub(lambda match: _led(match[1], here) + match[2], markdown)


def _linked_modules(file: File) -> set[str]:
    if not file.src_uri.endswith(".md"):
        return set()
    targets = (_in_repository(match[1], file.src_uri) for match in _LINK.finditer(file.content_string))
    return {match[1] for target in targets if (match := _MODULE.fullmatch(target))}


def _led(target: str, here: str) -> str:
    found = _in_repository(target, here)
    module = _MODULE.fullmatch(found)
    if module:
        page = _page_of(module[1])
    elif found in PAGES:
        page = PAGES[found]
    elif found.startswith("docs/"):
        page = found.removeprefix("docs/")
    else:
        return target
    return posixpath.relpath(page, posixpath.dirname(here) or ".")


def _in_repository(target: str, here: str) -> str:
    """Where a link leads, from the folder of the repository that the page is in."""
    folder = posixpath.dirname(SOURCES.get(here, f"docs/{here}"))
    return posixpath.normpath(posixpath.join(folder, target))


def _page_of(module: str) -> str:
    return f"code/{module.replace('/', '.')}.md"
