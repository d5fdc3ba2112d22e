"""Names of files for things whose names may hold anything."""

from __future__ import annotations

import hashlib
import re


def file_name(name: str) -> str:
    """Return a name that is safe in any folder and in any address; different names never give the same one."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    return plain if plain and plain == name else f"{plain or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
