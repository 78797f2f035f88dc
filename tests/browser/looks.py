"""The main pages of the site as they look: their first screen, as 32 by 20 patches of colour.

A patch is the mean of 40 by 40 pixels, or 12 by 40 on a phone, so other words or another font change little, and a
column that has moved, a style sheet that is missing or a picture on the wrong ground change much.

    python tests/browser/looks.py

takes the pictures in tests/data/looks/ anew. Look at the pages before you commit that.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

FOLDER = Path(__file__).parents[1] / "data" / "looks"
PAGES = ("index", "start", "statistics", "tutorials/groups", "reference/plans")
MODES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 800}},
}
MOST = 0.10  # of the patches may look different
FAR = 40  # of 255, in the channel that differs most


def look(page: Any) -> Image.Image:
    page.evaluate("document.fonts.ready")
    seen = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    return seen.resize((32, 20), Image.Resampling.BOX)


def path_of(name: str, mode: str) -> Path:
    return FOLDER / f"{name.replace('/', '-')}-{mode}.png"


def difference(seen: Image.Image, name: str, mode: str) -> float:
    """The share of patches that are far from those that are stored."""
    patches = ImageChops.difference(seen, Image.open(path_of(name, mode)).convert("RGB")).get_flattened_data()
    return sum(max(patch) > FAR for patch in patches) / (32 * 20)


def main() -> None:
    from browser_helpers import CHROMIUM
    from playwright.sync_api import sync_playwright

    sys.path.append(str(Path(__file__).parents[1] / "shared"))
    from built_site import build_site

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = build_site(Path(folder))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for mode, settings in MODES.items():
            page = browser.new_context(**settings).new_page()
            for name in PAGES:
                page.goto((site / f"{name}.html").as_uri())
                look(page).save(path_of(name, mode))
        browser.close()


if __name__ == "__main__":
    main()
