"""Plug-ins: user files that register models, encodings, datasets, metrics, tasks or protocols.

A plug-in is one Python file named by the user; nothing else is executed. The identity of a trial that uses it contains
the hash of its content. Worker processes get the content read at the start, so that the file may be edited meanwhile.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.abc import ExecutionLoader
from importlib.util import decode_source, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.files import require_file
from graphtrial.core.plugins import permissions
from graphtrial.core.plugins.registries import imported_registries, registries
from graphtrial.core.registry import Contents, Resolver

Source = tuple[str, bytes]
"""Path and content of a plug-in."""

MODULE_PREFIX = "graphtrial_plugin_"


@dataclass(frozen=True)
class Plugin:
    """A loaded plug-in: path, content, and the (kind, name) of its registrations and (kind, resolver) of patterns."""

    path: str
    content: bytes
    things: tuple[tuple[str, str], ...]
    resolvers: tuple[tuple[str, Resolver[Any]], ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """File name."""
        return Path(self.path).name

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class UserCode:
    """Plug-ins and allowed names, to be loaded in another process."""

    sources: tuple[Source, ...] = ()
    allowed: tuple[str, ...] = ()

    def load(self) -> None:
        """Allow the names and load the plug-ins in this process."""
        permissions.allow(*self.allowed)
        for source in self.sources:
            load_source(source)


_loaded: dict[str, Plugin] = {}


def load_plugin(path: Path | str) -> Plugin:
    """Execute a plug-in file and record its registrations; a changed file replaces its earlier version."""
    file = Path(path)
    require_file(file, "the plug-in ")
    try:
        content = file.read_bytes()
        resolved = str(file.resolve())
    except (OSError, ValueError, RuntimeError) as error:
        raise GraphTrialError(f"cannot read the plug-in {path}: {getattr(error, 'strerror', None) or error}") from error
    return load_source((resolved, content))


def load_source(source: Source) -> Plugin:
    """Load a plug-in from its content, such as in a worker process.

    Any exception it raises becomes a one-line error, and the registries are rolled back.
    """
    path, content = source
    previous = _loaded.get(path)
    if previous is not None and previous.content != content:
        unload_plugin(previous)
    for plugin in _loaded.values():
        if (plugin.name, plugin.content) == (Path(path).name, content):
            return plugin  # the same file, perhaps in another folder
    before = _contents()
    try:
        _execute(path, content)
        plugin = _new_plugin(path, content, before)
    except BaseException as error:  # a plug-in may raise anything, SystemExit too
        _roll_back(before)
        if content not in (plugin.content for plugin in _loaded.values()):
            sys.modules.pop(_module_name(content), None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise GraphTrialError(f"plug-in {Path(path).name}{_describe_error(path, error)}") from error
    _loaded[path] = plugin
    return plugin


def unload_plugin(plugin: Plugin) -> None:
    """Unregister everything a plug-in registered."""
    if not _loaded.pop(plugin.path, None):
        return
    for kind, registry in registries().items():
        now = registry.contents()
        gone = {name for thing_kind, name in plugin.things if thing_kind == kind}
        resolvers = tuple(resolver for resolver in now.resolvers if (kind, resolver) not in plugin.resolvers)
        things = {name: thing for name, thing in now.things.items() if name not in gone}
        titles = {name: title for name, title in now.titles.items() if name not in gone}
        registry.restore(Contents(things, titles, resolvers))
    sys.modules.pop(_module_name(plugin.content), None)


def registrant(thing: Any) -> Plugin | None:
    """Return the plug-in that registered this object, if any."""
    for plugin in _loaded.values():
        if any(registries()[kind].contents().things.get(name) is thing for kind, name in plugin.things):
            return plugin
    return None


def plugin_of_module(module: str) -> Plugin:
    """Return the plug-in loaded under this module name."""
    for plugin in _loaded.values():
        if _module_name(plugin.content) == module:
            return plugin
    raise GraphTrialError(f"the plug-in that was loaded as {module} is not loaded any more: give it by --plugin")


def user_code(used: Mapping[str, str]) -> UserCode:
    """Return the plug-ins among the origins of a trial and the allow-list, to be loaded in another process."""
    digests = set(used.values())
    sources = tuple((plugin.path, plugin.content) for plugin in _loaded.values() if plugin.digest in digests)
    return UserCode(sources, permissions.allowed())


def describe_user_error(error: BaseException) -> str | None:
    """Return file, line and message of an exception raised in a plug-in or allowed module, or None."""
    modules = (sys.modules.get(name.partition(":")[0]) for name in permissions.allowed())
    files = {*_loaded, *(file for module in modules if (file := getattr(module, "__file__", None)))}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            return f"{Path(frame.filename).name}, line {frame.lineno}: {in_one_line(error)}"
    return None


def _contents() -> dict[str, Contents[Any]]:
    return {kind: registry.contents() for kind, registry in imported_registries().items()}


def _completed(before: Mapping[str, Contents[Any]]) -> dict[str, Contents[Any]]:
    """Return earlier contents with those of registries that were imported since: their built-ins."""
    new = {kind: registry for kind, registry in imported_registries().items() if kind not in before}
    return {**before, **{kind: registry.built_in() for kind, registry in new.items()}}


def _roll_back(contents: Mapping[str, Contents[Any]]) -> None:
    for kind, old in _completed(contents).items():
        registries()[kind].restore(old)


def _new_plugin(path: str, content: bytes, before: Mapping[str, Contents[Any]]) -> Plugin:
    """Return the plug-in with its additions to the registries; replacing an entry or adding none is an error."""
    after, before = _contents(), _completed(before)
    for kind, old in before.items():
        for name, thing in old.things.items():
            if after[kind].things.get(name) is not thing:
                raise GraphTrialError(f"it replaces the {kind} '{name}', which is not its own; choose another name")
    things = sorted(
        (kind, name) for kind, new in after.items() for name in new.things if name not in before[kind].things
    )
    resolvers = [
        (kind, resolver) for kind, new in after.items() for resolver in new.resolvers[len(before[kind].resolvers) :]
    ]
    if not things and not resolvers:
        raise GraphTrialError(
            "it registers nothing: decorate a class with @MODELS.register('its-name') "
            f"(or that of {', '.join(sorted(one.plural for one in registries().values()))})"
        )
    return Plugin(path, content, tuple(things), tuple(resolvers))


class _Loader(ExecutionLoader):
    """Module loader for source code held in memory."""

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
    module, before = module_from_spec(spec), _protected_modules(name)
    sys.modules[name] = module  # dataclasses and get_type_hints look up their module
    try:
        loader.exec_module(module)
        replaced = [key for key, old in before.items() if key != name and sys.modules.get(key) is not old]
        if replaced:
            raise GraphTrialError(f"it replaces the module {replaced[0]} in sys.modules")
    except BaseException:
        sys.modules.pop(name, None)
        sys.modules.update(before)
        raise


def _protected_modules(own: str) -> dict[str, ModuleType]:
    """Return the loaded modules that a plug-in must not replace: this package, and a plug-in of the same content."""
    protected = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("graphtrial", own)}
    return {name: module for name, module in protected.items() if module is not None}


def _describe_error(path: str, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}: {error.msg}"
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    words = str(error) if isinstance(error, GraphTrialError) else in_one_line(error)
    return f"{f', line {own[-1]}' if own else ''}: {words}"
