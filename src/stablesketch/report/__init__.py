"""A page about a release that anybody can open: the number, its price, what is protected, and how to check it."""

from .report import Context, Named, report_page

__all__ = ["Context", "Named", "report_page"]
