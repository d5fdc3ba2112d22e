"""Check machine and packages."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import requires, version

from graphtrial.core.parallel import cores
from graphtrial.core.plugins.packages import installed_version
from graphtrial.doctor.finding import Finding, size, some

REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*(?:>=\s*([0-9.]+))?[^;]*(?:;\s*(.*))?$")
MEMORY_PER_CORE = 2_000_000_000
SAFE_TORCH = (2, 10, 0)


def check_machine() -> Iterator[Finding]:
    """Check cores, memory, and whether the Numba kernels compile."""
    area, count = "machine", cores()
    result = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding(area, "system", "ok", result)
    yield Finding(area, "threads", "ok", f"one per trial; {count} trials in parallel on {count} cores")
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        page = os.sysconf("SC_PAGE_SIZE")
        free, total = page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")
        little = total < MEMORY_PER_CORE * count
        advice = f"each trial takes half a gigabyte or more: run fewer in parallel, --workers {max(1, count // 2)}"
        result = f"{size(total)}, of which {size(free)} are free"
        yield Finding(area, "memory", "note" if little else "ok", result, advice if little else "")
    yield _kernels(area)


def check_packages() -> Iterator[Finding]:
    """Check the versions of required packages, and find missing packages of extras."""
    yield Finding("packages", "graphtrial", "ok", version("graphtrial"))
    missing: dict[str, list[str]] = {}
    for line in requires("graphtrial") or []:
        match = REQUIREMENT.match(line)
        if match is None or match[1] == "graphtrial":
            continue
        name, least, marker = match[1], match[2] or "0", match[3] or ""
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", marker)
        if extra is None and marker:  # for another version of Python
            continue
        installed = installed_version(name)
        fits = installed is not None and _numbers(installed) >= _numbers(least)
        if extra is None:
            result = installed or "not installed"
            advice = "" if fits else f"pip install '{name}>={least}'"
            yield Finding("packages", name, "ok" if fits else "wrong", result, advice)
        elif not fits and extra[1] != "dev":
            missing.setdefault(extra[1], []).append(f"{name} {installed} is too old" if installed else name)
    if (torch := installed_version("torch")) and _numbers(torch) < SAFE_TORCH:
        result = "importing an untrusted torch file could run code (CVE-2026-24747)"
        yield Finding("packages", "torch files", "note", result, "pip install 'torch>=2.10', or import other formats")
    for name, absent in sorted(missing.items()):
        advice = f"if you need it: pip install 'graphtrial[{name}]'"
        yield Finding("packages", f"extra {name}", "note", f"without {some(absent)}", advice)


def _kernels(area: str) -> Finding:
    try:
        from graphtrial.ops import kernels
        from graphtrial.tape import runner

        kernels.warm_up()
        runner.warm_up()
    except Exception as error:  # noqa: BLE001 - any error of the compiler is reported
        advice = "reinstall numba and llvmlite in the versions of constraints.txt"
        return Finding(area, "kernels", "wrong", f"they do not compile: {type(error).__name__}: {error}", advice)
    return Finding(area, "kernels", "ok", "they compile")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:3])
