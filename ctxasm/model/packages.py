"""What to install where an import fails: a module is not always called as the package that brings it."""

from __future__ import annotations

import sys

PACKAGES = {
    "Stemmer": "PyStemmer",
    "docx": "python-docx",
    "markdown_it": "markdown-it-py",
    "psycopg": "psycopg[binary]",
    "toktok": "toktok-rs",
}
"""By the name of the module, where it is more than hyphens that differs."""


def missing_package(error: Exception) -> str:
    """What is missing and how to get it, as a sentence; "" where it is no package from outside that is not there."""
    top = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if not isinstance(error, ModuleNotFoundError) or top in ("", "ctxasm") or top in sys.stdlib_module_names:
        return ""
    package = PACKAGES.get(top, top.replace("_", "-"))
    asked = f"'{package}'" if "[" in package else package
    module = "" if error.name == package else f" (it brings {error.name})"
    return f"the package {package} is not installed{module}: run `pip install {asked}`"
