"""Pictures of plans and releases, in one style that everyone can read, as PNG, SVG or HTML files."""

from .plan_picture import drawn_measurement, plan_bytes, plan_picture
from .release_picture import release_bytes, release_picture
from .save import check_picture_path, picture_bytes

__all__ = [
    "check_picture_path",
    "drawn_measurement",
    "picture_bytes",
    "plan_bytes",
    "plan_picture",
    "release_bytes",
    "release_picture",
]
