"""Plug-ins: files of the user's own that register models, encodings, datasets, tasks or protocols.

A plug-in is one Python file that the user names; nothing else is ever executed. Trials that use one of its things have
the hash of its content in their identity, so a changed file gives other trials. Worker processes get the content that
was read in the beginning, so editing the file does not disturb a study that runs.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.abc import ExecutionLoader
from importlib.util import decode_source, find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from graphtrial.errors import GraphTrialError
from graphtrial.registry import Registry

Source = tuple[str, bytes]
"""The path of a plug-in and its content."""

MODULE_PREFIX = "graphtrial_plugin_"


@dataclass(frozen=True)
class Plugin:
    """A loaded plug-in: where it came from, its content, and the (kind, name) of everything it registered."""

    path: str
    content: bytes
    things: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name

    @property
    def digest(self) -> str:
        """The SHA-256 of the content."""
        return hashlib.sha256(self.content).hexdigest()


_loaded: dict[str, Plugin] = {}


def load_plugin(path: Path | str) -> Plugin:
    """Execute a plug-in file and keep what it registers; a file that changed since it was loaded replaces itself."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise GraphTrialError(f"cannot read the plug-in {path}: {error.strerror}") from error
    return load_source((str(file.resolve()), content))


def load_source(source: Source) -> Plugin:
    """Load a plug-in whose content is at hand already, in a worker process for example."""
    path, content = source
    known = _loaded.get(path)
    if known is not None:
        if known.content == content:
            return known
        unload_plugin(known)
    before = _names()
    try:
        _execute(path, content)
    except (Exception, SystemExit) as error:
        _forget(_names() - before)
        raise GraphTrialError(f"plug-in {Path(path).name}{_what_went_wrong(path, error)}") from error
    plugin = Plugin(path, content, tuple(sorted(_names() - before)))
    if not plugin.things:
        del sys.modules[_module_name(content)]
        raise GraphTrialError(
            f"plug-in {plugin.name} registers nothing: decorate a class with @MODELS.register('its-name') "
            f"(or that of {', '.join(sorted(f'{registry.kind}s' for registry in _registries()))})"
        )
    _loaded[path] = plugin
    return plugin


def unload_plugin(plugin: Plugin) -> None:
    """Forget a plug-in and everything it registered."""
    if _loaded.pop(plugin.path, None):
        _forget(plugin.things)
        sys.modules.pop(_module_name(plugin.content), None)


def origins(things: Iterable[tuple[Registry[Any], str]]) -> dict[str, str]:
    """Return the name and SHA-256 of every file outside this package that these things come from."""
    found = {}
    for registry, name in things:
        plugin = next((p for p in _loaded.values() if (registry.kind, name) in p.things), None)
        origin = (plugin.name, plugin.digest) if plugin else origin_of(registry.get(name))
        if origin is not None:
            found[origin[0]] = origin[1]
    return dict(sorted(found.items()))


def origin_of(thing: Any) -> tuple[str, str] | None:
    """Return the name and SHA-256 of the file outside this package that defines a thing, if it is outside."""
    module = getattr(thing, "__module__", None) or ""
    if module.partition(".")[0] in ("graphtrial", ""):
        return None
    if module.startswith(MODULE_PREFIX):
        plugin = next(p for p in _loaded.values() if p.digest.startswith(module.removeprefix(MODULE_PREFIX)))
        return plugin.name, plugin.digest
    return module, hashlib.sha256(_source(thing)).hexdigest()


def sources(used: Mapping[str, str]) -> list[Source]:
    """Return the loaded plug-ins among the `origins` of a trial, to be loaded elsewhere."""
    return [(plugin.path, plugin.content) for plugin in _loaded.values() if used.get(plugin.name) == plugin.digest]


def _registries() -> tuple[Registry[Any], ...]:
    from graphtrial.datasets import DATASETS
    from graphtrial.encodings import ENCODINGS
    from graphtrial.nn import MODELS
    from graphtrial.tasks import TASKS
    from graphtrial.training import PROTOCOLS

    if find_spec("sklearn") is None:
        return MODELS, ENCODINGS, DATASETS, TASKS, PROTOCOLS
    from graphtrial.kernels import KERNELS

    return MODELS, ENCODINGS, DATASETS, TASKS, PROTOCOLS, KERNELS


def _names() -> set[tuple[str, str]]:
    return {(registry.kind, name) for registry in _registries() for name in registry.filed()}


def _forget(things: Iterable[tuple[str, str]]) -> None:
    registries = {registry.kind: registry for registry in _registries()}
    for kind, name in things:
        registries[kind].remove(name)


class _Loader(ExecutionLoader):
    """Makes a module of content that was read before."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_source(self, fullname: str) -> str:
        return decode_source(self.content)


def _module_name(content: bytes) -> str:
    return MODULE_PREFIX + hashlib.sha256(content).hexdigest()[:16]


def _execute(path: str, content: bytes) -> None:
    name = _module_name(content)
    loader = _Loader(path, content)
    spec = spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError("it cannot be loaded as a module")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _what_went_wrong(path: str, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}: {error.msg}"
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    kind = "" if isinstance(error, GraphTrialError) else f"{type(error).__name__}: "
    return f"{f', line {own[-1]}' if own else ''}: {kind}{' '.join(str(error).split())}"


def _source(thing: Any) -> bytes:
    """Return the source file that defines a thing, or, in a notebook, the source of the thing alone."""
    try:
        file = inspect.getsourcefile(thing)
        if file and Path(file).is_file():
            return Path(file).read_bytes()
        return inspect.getsource(thing).encode()
    except (OSError, TypeError) as error:
        raise GraphTrialError(
            f"{thing!r} has no source that could be made part of a trial's identity; define it in a file"
        ) from error
