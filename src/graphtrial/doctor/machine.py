"""Machine and packages."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from graphtrial.core.parallel import cores
from graphtrial.doctor.finding import Finding, size, some

NEEDED = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*(?:>=\s*([0-9.]+))?[^;]*(?:;\s*(.*))?$")
LITTLE_MEMORY = 2_000_000_000
SAFE_TORCH = (2, 10, 0)


def look_at_machine() -> Iterator[Finding]:
    """Tell the processor, the memory, and whether the kernels compile."""
    area, count = "machine", cores()
    says = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding(area, "system", "ok", says)
    yield Finding(area, "threads", "ok", f"one per trial; {count} trials at once on {count} cores")
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        page = os.sysconf("SC_PAGE_SIZE")
        free, total = page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")
        little = total < LITTLE_MEMORY * count
        advice = f"each trial takes half a gigabyte or more: run fewer at once, --workers {max(1, count // 2)}"
        says = f"{size(total)}, of which {size(free)} are free at this moment"
        yield Finding(area, "memory", "note" if little else "ok", says, advice if little else "")
    yield _kernels(area)


def look_at_packages() -> Iterator[Finding]:
    """Tell which packages are there, in which versions, and which extras lack something."""
    yield Finding("packages", "graphtrial", "ok", version("graphtrial"))
    lacking: dict[str, list[str]] = {}
    for line in requires("graphtrial") or []:
        match = NEEDED.match(line)
        if match is None or match[1] == "graphtrial":
            continue
        name, least, marker = match[1], match[2] or "0", match[3] or ""
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", marker)
        if extra is None and marker:  # for another version of Python
            continue
        found = _version(name)
        fits = found is not None and _numbers(found) >= _numbers(least)
        if extra is None:
            says = found or "not installed"
            advice = "" if fits else f"pip install '{name}>={least}'"
            yield Finding("packages", name, "ok" if fits else "wrong", says, advice)
        elif not fits and extra[1] != "dev":
            lacking.setdefault(extra[1], []).append(f"{name} {found} is too old" if found else name)
    if (torch := _version("torch")) and _numbers(torch) < SAFE_TORCH:
        says = "importing a torch file of a stranger could run code (CVE-2026-24747)"
        yield Finding("packages", "torch files", "note", says, "pip install 'torch>=2.10', or import other formats")
    for name, absent in sorted(lacking.items()):
        advice = f"if you need it: pip install 'graphtrial[{name}]'"
        yield Finding("packages", f"extra {name}", "note", f"without {some(absent)}", advice)


def _kernels(area: str) -> Finding:
    try:
        from graphtrial.ops import kernels

        kernels.warm_up()
    except Exception as error:  # noqa: BLE001 - whatever stops the compiler is what the user must hear
        advice = "reinstall numba and llvmlite in the versions of constraints.txt"
        return Finding(area, "kernels", "wrong", f"they do not compile: {type(error).__name__}: {error}", advice)
    return Finding(area, "kernels", "ok", "they compile")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:3])
