"""Versions of installed and required packages, without importing them."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version


def installed_version(package: str) -> str | None:
    """Return the version of an installed package; `None` where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def requirement(package: str) -> str:
    """Return the versions of a package that are supported here, such as `numba>=0.61`."""
    lines = requires("graphtrial") or []
    return next((line for line in lines if re.split(r"[^\w.-]", line)[0] == package), package)
