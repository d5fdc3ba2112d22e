"""Build the wheel, install it, and use it outside the source tree.

By default the wheel is installed over the packages of this environment, in seconds: it shows that the wheel has every
file and that commands find them. `--fresh` installs into an empty environment, without constraints except on torch:
it also shows that the declared requirements suffice. `--lowest` installs their lowest declared versions there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)>=([0-9.]+)$")
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.nbi", "*.nbc")
LISTS = ("datasets", "models", "encodings", "protocols", "studies")
TRIAL = ("csl", "gcn", "--width", "8", "--splits", "1", "--seeds", "1", "--max-epochs", "2", "--workers", "0")


def build_wheel(folder: Path) -> Path:
    """Build the wheel from a copy of the source tree, without leftovers of earlier builds."""
    copy = folder / "source"
    shutil.copytree(SOURCE, copy / "src", ignore=IGNORED)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), str(copy))
    return next(folder.glob("graphtrial-*.whl"))


def missing_files(wheel: Path, source: Path) -> list[str]:
    """Return the files of the source tree of the package that a wheel lacks or has with other contents."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    return [name for name, file in _files(source) if packed.get(name) != file.read_bytes()]


def _files(source: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted((source / "graphtrial").rglob("*")):
        parts = file.relative_to(source).parts
        if file.is_file() and "__pycache__" not in parts:
            yield "/".join(parts), file


def lowest_versions(requirements: list[str]) -> list[str]:
    """Return each requirement at its lowest version; torch, of which few builds are at hand, is left out."""
    pairs = [match for line in requirements if (match := REQUIREMENT.match(line))]
    return [f"{match[1]}=={match[2]}" for match in pairs if match[1] != "torch"]


def layered_environment(folder: Path, wheel: Path) -> Path:
    """Install the wheel beside the packages of this environment, and return its folder of programs."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    pip(sys.executable, "install", "--no-deps", "--no-index", str(wheel), into=folder / "bin" / "python")
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "packages-of-tests.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    return folder / "bin"


def fresh_environment(folder: Path, wheel: Path, python: str, lowest: bool) -> Path:
    """Install the wheel and its requirements into an empty environment, and return its folder of programs."""
    run(python, "-m", "venv", str(folder))
    torch = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    inside = str(folder / "bin" / "python")
    pip(inside, "install", torch)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    pip(inside, "install", *(lowest_versions(declared) if lowest else []), str(wheel))
    pip(inside, "check")
    return folder / "bin"


def use(programs: Path, folder: Path) -> None:
    """Call the installed program in an empty folder."""
    folder.mkdir()
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    program = str(programs / "graphtrial")
    place = run(str(programs / "python"), "-c", "import graphtrial; print(graphtrial.__file__)", within=folder)
    expect(Path(place.strip()).is_relative_to(programs.parent), "the installed wheel is imported")
    expect(run(program, "--version", within=folder).split() == ["graphtrial", wanted], f"--version is {wanted}")
    facts = json.loads(run(program, "--version", "--json", within=folder))
    expect("error" not in facts, f"--version --json: {facts.get('error', 'no error')}")
    for kind in LISTS:
        count = len(json.loads(run(program, "list", kind, "--json", within=folder)))
        expect(count > 5, f"list {kind}: {count}")
    run(program, "validate", "demo", within=folder)
    expect("csl" in run(program, "status", "--shipped", within=folder).lower(), "the shipped results are read")
    row = json.loads(run(program, "run", *TRIAL, "--json", within=folder))
    expect(row["statuses"] == {"done": 1} and row["epochs"] == 2, "a model is trained for two epochs and tested")
    run(program, "report", "--no-pictures", within=folder)
    expect(bool(list(folder.rglob("index.html"))), "a report is written")


def expect(holds: bool, subject: str) -> None:
    """Print what was checked; end where it does not hold."""
    print(f"{'ok' if holds else 'FAILED'}: {subject}", flush=True)
    if not holds:
        raise SystemExit(1)


def pip(python: str, *words: str, into: Path | None = None) -> None:
    """Run pip quietly; `into` is the interpreter of another environment, which needs no pip of its own."""
    other = () if into is None else ("--python", str(into))
    run(python, "-m", "pip", *other, *words, "--quiet", "--disable-pip-version-check")


def run(*command: str, within: Path | None = None) -> str:
    """Run a command, outside the source tree if `within` is a folder, and return its output; an error ends this."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    if within is not None:
        environment |= {"GRAPHTRIAL_HOME": str(within / "home"), "GRAPHTRIAL_OFFLINE": "1"}
    result = subprocess.run(command, cwd=within, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"FAILED: {' '.join(command)}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def main() -> None:
    """Build, check, install, use."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="install into an empty environment")
    parser.add_argument("--lowest", action="store_true", help="with the lowest declared versions (implies --fresh)")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the fresh environment")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphtrial-smoke-") as name:
        folder = Path(name).resolve()
        wheel = build_wheel(folder)
        absent = missing_files(wheel, SOURCE)
        size = f"{wheel.stat().st_size / 1e6:.1f} MB"
        expect(not absent, f"{wheel.name}, {size}, lacks {', '.join(absent) or 'no file'}")
        if options.fresh or options.lowest:
            programs = fresh_environment(folder / "environment", wheel, options.python, options.lowest)
        else:
            programs = layered_environment(folder / "environment", wheel)
        use(programs, folder / "elsewhere")
    print(f"smoke test passed in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
