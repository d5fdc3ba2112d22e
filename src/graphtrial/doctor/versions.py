"""Versions of everything that a result may depend on, for bug reports; no names of machines, users or folders."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import requires, version
from typing import Any

from graphtrial.core.errors import in_one_line
from graphtrial.core.plugins.packages import installed_version

BESIDE = ("llvmlite",)
"""Packages that are no requirements of ours, but whose versions matter."""


def versions() -> dict[str, Any]:
    """Return the versions of graphtrial, Python, system and packages, and where and how trials are computed.

    Packages are not imported to read their versions, except torch, which knows the devices. A broken installation
    is described too: what cannot be determined is the error.
    """
    return {
        "graphtrial": version("graphtrial"),
        "python": platform.python_version(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "packages": {name: installed for name in _packages() if (installed := installed_version(name))},
        "variables": sorted(name for name in os.environ if name.startswith("GRAPHTRIAL_")),
        **_computation(),
    }


def _packages() -> list[str]:
    """Return the names of all requirements, extras included."""
    names = (re.match(r"[A-Za-z0-9_.-]+", line) for line in requires("graphtrial") or [])
    return sorted({*(name[0] for name in names if name), *BESIDE} - {"graphtrial"}, key=str.lower)


def _computation() -> dict[str, Any]:
    try:
        from graphtrial.core.hardware.compute import AUTOMATIC
        from graphtrial.core.hardware.devices import describe_device
        from graphtrial.ops.vector_paths import has_vectors
        from graphtrial.trials.environment import environment
        from graphtrial.trials.store.schema import SCHEMA_VERSION

        devices = AUTOMATIC.devices()
        facts = environment()
        kernels = f"compiled, {'vector instructions' if has_vectors() else 'without vector instructions'}"
        return {
            **{name: facts[name] for name in ("cpu", "cores", "code", "numerics")},
            "store_schema": SCHEMA_VERSION,
            "devices": [describe_device(device) for device in devices],
            "kernels": kernels if devices == ("cpu",) else "portable",
        }
    except Exception as error:  # noqa: BLE001 - a broken package is what the report is about
        return {"error": f"{type(error).__name__}: {in_one_line(error)}"}
