"""Check the cache of prepared data, the raw files and the mirror against their checksums."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import cache_home, sha256_of
from graphtrial.doctor.clean import cache_folders, stale_in
from graphtrial.doctor.finding import Finding, State, size, some

MIN_FREE_BYTES = 1_000_000_000
CACHES = ("datasets", "encodings", "kernels", "tours")


def check_cache() -> Iterator[Finding]:
    """Check the cache: writable, disk space, checksums, leftovers."""
    home = cache_home()
    yield from check_folder("cache", home)
    if not home.is_dir():
        return
    for name in CACHES:
        yield from _check_arrays(home / name)
    yield from _check_custom_datasets(home)
    yield from check_leftovers("cache", cache_folders())


def check_leftovers(area: str, folders: list[Path]) -> Iterator[Finding]:
    """Find temporary folders of processes that have ended."""
    stale = stale_in(folders)
    if stale:
        advice = "left by processes that were killed; `graphtrial doctor --clean` removes them"
        names = some([path.name for path in stale])
        yield Finding(area, "leftovers", "note", f"{len(stale)} temporary folders: {names}", advice)


def check_folder(area: str, folder: Path, *, writable: bool = True) -> Iterator[Finding]:
    """Check whether a folder is writable, which is an error if `writable` is required, and its free disk space."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        advice = "choose another with GRAPHTRIAL_HOME (data) or --store (results)"
        state: State = "wrong" if writable else "note"
        yield Finding(area, "folder", state, f"{folder} cannot be written: {error.strerror}", advice)
        return
    yield Finding(area, "folder", "ok", str(folder) if folder.is_dir() else f"{folder}, not created yet")
    free = shutil.disk_usage(existing).free
    full = free < MIN_FREE_BYTES
    advice = "free disk space: a large dataset takes gigabytes" if full else ""
    yield Finding(area, "disk", "wrong" if full else "ok", f"{size(free)} free", advice)


def check_raw_files() -> Iterator[Finding]:
    """Check the raw files in the mirror and the raw cache against their published checksums."""
    from graphtrial.datasets import DATASETS
    from graphtrial.io.sources import find, mirror, published_hash

    try:
        folder = mirror()
    except GraphTrialError as error:
        yield Finding("mirror", "folder", "wrong", str(error))
        return
    result = str(folder) if folder else "none; missing files are downloaded"
    yield Finding("mirror", "folder", "ok", result)
    files = {file.name: file for name in DATASETS for source in DATASETS.get(name)().sources for file in source.files}
    intact, unknown, damaged = 0, 0, []
    for file in files.values():
        path, expected = find(file), published_hash(file)
        if path is None:
            continue
        if expected is None:
            unknown += 1
        elif sha256_of(path) == expected:
            intact += 1
        else:
            damaged.append(str(path))
    result = f"{intact} match their checksum" + (f", {unknown} have no published checksum" if unknown else "")
    advice = "download them again" if damaged else ""
    if damaged:
        result += f", {len(damaged)} do not: {some(damaged)}"
    yield Finding("mirror", "raw files", "wrong" if damaged else "ok", result, advice)


def _check_arrays(folder: Path) -> Iterator[Finding]:
    from graphtrial.graphs import storage

    if not folder.is_dir():
        return
    sets = [path.parent for path in sorted(folder.rglob(storage.MANIFEST)) if ".tmp" not in str(path)]
    count = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
    damaged = []
    for path in sets:
        try:
            storage.load(path)
        except CorruptFileError:
            damaged.append(str(path.relative_to(folder)))
    if damaged:
        result = f"{len(damaged)} of {len(sets)} sets of arrays are damaged: {some(damaged)}"
        advice = f"they are computed again when next used, or delete them in {folder}"
        yield Finding("cache", folder.name, "wrong", result, advice)
    else:
        yield Finding("cache", folder.name, "ok", f"{len(sets)} sets of arrays, {size(count)}, all checksums match")


def _check_custom_datasets(home: Path) -> Iterator[Finding]:
    from graphtrial.datasets.custom import recipe

    wrong = []
    for name in recipe.names():
        try:
            dataset = recipe.read(name)
            files = [home / "raw" / file.name for file in dataset.sources] if dataset else []
            if any(not path.is_file() for path in files):
                raise CorruptFileError(f"a raw file of '{name}' is missing")
            changed = [
                file
                for file, path in zip(dataset.sources if dataset else (), files, strict=True)
                if sha256_of(path) != file.sha256
            ]
            if changed:
                raise CorruptFileError(f"{os.path.basename(changed[0].name)} of '{name}' was changed")
        except GraphTrialError as error:
            wrong.append(str(error))
    if wrong:
        advice = "import the data again with --replace, or `graphtrial data delete` it"
        yield Finding("cache", "custom datasets", "wrong", some(wrong), advice)
    elif recipe.names():
        yield Finding("cache", "custom datasets", "ok", f"{len(recipe.names())} recipes and their files are intact")
