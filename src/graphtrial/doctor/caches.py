"""The cache of prepared data, the raw files and the mirror: every byte against its checksum."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import cache_home, sha256_of
from graphtrial.doctor.clean import left_in, places_of_cache
from graphtrial.doctor.finding import Finding, State, size, some

SCARCE_BYTES = 1_000_000_000
ROOMS = ("datasets", "encodings", "kernels", "tours")


def look_at_cache() -> Iterator[Finding]:
    """Look at the folder of prepared data: can it be written, is there room, is everything in it intact."""
    home = cache_home()
    yield from look_at_folder("cache", home)
    if not home.is_dir():
        return
    for room in ROOMS:
        yield from _room(home / room)
    yield from _own(home)
    yield from look_for_leftovers("cache", places_of_cache())


def look_for_leftovers(area: str, places: list[Path]) -> Iterator[Finding]:
    """Look for temporary folders of processes that are gone."""
    left = left_in(places)
    if left:
        advice = "left by processes that were killed; `graphtrial doctor --clean` removes them"
        names = some([path.name for path in left])
        yield Finding(area, "leftovers", "note", f"{len(left)} temporary folders: {names}", advice)


def look_at_folder(area: str, folder: Path, *, needed: bool = True) -> Iterator[Finding]:
    """Look whether a folder can be written, if that is `needed`, and how much room there is."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        advice = "choose another with GRAPHTRIAL_HOME (data) or --store (results)"
        state: State = "wrong" if needed else "note"
        yield Finding(area, "folder", state, f"{folder} cannot be written: {error.strerror}", advice)
        return
    yield Finding(area, "folder", "ok", str(folder) if folder.is_dir() else f"{folder}, which is not made yet")
    free = shutil.disk_usage(there).free
    scarce = free < SCARCE_BYTES
    advice = "make room: a large dataset takes gigabytes, and a full disk ends a study" if scarce else ""
    yield Finding(area, "disk", "wrong" if scarce else "ok", f"{size(free)} free", advice)


def look_at_raw_files() -> Iterator[Finding]:
    """Look whether each raw file on this machine, in the mirror or the raw cache, is the published one."""
    from graphtrial.datasets import DATASETS
    from graphtrial.io.sources import find, known_hash, mirror

    try:
        folder = mirror()
    except GraphTrialError as error:
        yield Finding("mirror", "folder", "wrong", str(error))
        return
    says = str(folder) if folder else "none; files that are not here are downloaded"
    yield Finding("mirror", "folder", "ok", says)
    files = {file.name: file for name in DATASETS for source in DATASETS.get(name)().sources for file in source.files}
    intact, unknown, damaged = 0, 0, []
    for file in files.values():
        path, expected = find(file), known_hash(file)
        if path is None:
            continue
        if expected is None:
            unknown += 1
        elif sha256_of(path) == expected:
            intact += 1
        else:
            damaged.append(str(path))
    says = f"{intact} are the published ones" + (f", {unknown} have no published checksum" if unknown else "")
    advice = "fetch them again and replace them" if damaged else ""
    if damaged:
        says += f", {len(damaged)} are not: {some(damaged)}"
    yield Finding("mirror", "raw files", "wrong" if damaged else "ok", says, advice)


def _room(folder: Path) -> Iterator[Finding]:
    from graphtrial.graphs import storage

    if not folder.is_dir():
        return
    sets = [path.parent for path in sorted(folder.rglob(storage.MANIFEST)) if ".tmp" not in str(path)]
    count = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
    damaged = []
    for place in sets:
        try:
            storage.load(place)
        except CorruptFileError:
            damaged.append(str(place.relative_to(folder)))
    if damaged:
        says = f"{len(damaged)} of {len(sets)} sets of arrays are damaged: {some(damaged)}"
        advice = f"nothing is lost: they are made again when next used, or delete them below {folder}"
        yield Finding("cache", folder.name, "wrong", says, advice)
    else:
        yield Finding("cache", folder.name, "ok", f"{len(sets)} sets of arrays, {size(count)}, every checksum agrees")


def _own(home: Path) -> Iterator[Finding]:
    from graphtrial.datasets.custom import recipe

    wrong = []
    for name in recipe.names():
        try:
            made = recipe.read(name)
            files = [home / "raw" / file.name for file in made.sources] if made else []
            if any(not path.is_file() for path in files):
                raise CorruptFileError(f"a raw file of '{name}' is missing")
            changed = [
                f for f, path in zip(made.sources if made else (), files, strict=True) if sha256_of(path) != f.sha256
            ]
            if changed:
                raise CorruptFileError(f"{os.path.basename(changed[0].name)} of '{name}' was changed")
        except GraphTrialError as error:
            wrong.append(str(error))
    if wrong:
        advice = "import the data again with --replace, or `graphtrial data delete` it"
        yield Finding("cache", "own data", "wrong", some(wrong), advice)
    elif recipe.names():
        yield Finding("cache", "own data", "ok", f"{len(recipe.names())} recipes and their files are intact")
