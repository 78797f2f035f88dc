"""Pages of HTML that need nothing else: one style sheet for all of them, dark and light, on screen and on paper."""

from .page import check_page_path, dark_colours, document, escaped

__all__ = ["check_page_path", "dark_colours", "document", "escaped"]
