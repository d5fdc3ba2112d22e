"""Versions of installed and required packages, without importing them."""

from __future__ import annotations

import re


def installed_version(package: str) -> str | None:
    """Return the version of an installed package; `None` where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # here: it is a tenth of `graphtrial --help`

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def requirement(package: str) -> str:
    """Return the versions of a package that are supported here, such as `numba>=0.61`."""
    from importlib.metadata import requires

    lines = requires("graphtrial") or []
    return next((line for line in lines if re.split(r"[^\w.-]", line)[0] == package), package)
