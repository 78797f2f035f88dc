"""Self-contained HTML pages, with one style sheet for all: dark and light, on screen and on paper."""

from .page import check_page_path, dark_colours, document, escaped, unbroken

__all__ = ["check_page_path", "dark_colours", "document", "escaped", "unbroken"]
