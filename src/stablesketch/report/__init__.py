"""Explanations of a release: a page that anyone can open, and an entry for a registry of deployments."""

from .registry import check_registry_path, registry_entry
from .report import Context, Named, report_page

__all__ = ["Context", "Named", "check_registry_path", "registry_entry", "report_page"]
