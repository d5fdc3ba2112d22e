"""One generic registry: lazy built-ins, entry points, `module:attr` plug-ins, "did you mean", duplicates are errors."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from graphtrial.errors import GraphTrialError, UnknownNameError, did_you_mean

T = TypeVar("T")
R = TypeVar("R")


class Registry(Generic[T]):
    """Things of one kind by name.

    Built-ins register themselves when their module is imported; all modules of `packages` are imported at the first
    look-up, so adding a thing means adding a file and nothing else. Installed packages add theirs through the entry
    point group `graphtrial.<kind>s`, which is loaded only when that very name is asked for.
    """

    def __init__(self, kind: str, *packages: str) -> None:
        self.kind = kind
        self.packages = packages
        self._things: dict[str, T] = {}
        self._families: list[Callable[[str], T | None]] = []
        self._titles: dict[str, str] = {}
        self._titles_of_families: list[Callable[[str], str | None]] = []
        self._loaded = False

    def register(self, name: str, *, title: str | None = None) -> Callable[[R], R]:
        """Return a decorator that files the decorated thing under `name`; tables and pages show its `title`."""

        def file_it(thing: R) -> R:
            self.add(name, thing, title=title)  # type: ignore[arg-type]
            return thing

        return file_it

    def add(self, name: str, thing: T, *, title: str | None = None) -> None:
        """File `thing` under `name`; a second thing of the same name is an error."""
        if name in self._things and self._things[name] is not thing:
            raise GraphTrialError(f"two {self.kind}s are called '{name}': {self._things[name]!r} and {thing!r}")
        self._things[name] = thing
        if title is not None:
            self._titles[name] = title

    def remove(self, name: str) -> None:
        """Forget the thing called `name`, if there is one."""
        self._things.pop(name, None)
        self._titles.pop(name, None)

    def add_family(
        self, find: Callable[[str], T | None], *, title: Callable[[str], str | None] = lambda name: None
    ) -> None:
        """Let `find` answer for names that nobody listed, and `title` for their titles; nothing for any other name."""
        self._families.append(find)
        self._titles_of_families.append(title)

    def get(self, name: str) -> T:
        """Return the thing called `name`, of a family that knows it, or what `module:attr` points to."""
        self._load_builtins()
        if name in self._things:
            return self._things[name]
        for find in self._families:
            found = find(name)
            if found is not None:
                self._things[name] = found  # a name means one and the same thing from now on
                return found
        if ":" in name:
            return cast(T, import_attribute(name))
        for point in entry_points(group=f"graphtrial.{self.kind}s"):
            if point.name == name:
                self.add(name, point.load())
                return self._things[name]
        names = self.names()
        raise UnknownNameError(
            f"no {self.kind} called '{name}'.{did_you_mean(name, names)} "
            f"`graphtrial list {self.kind}s` shows all {len(names)}; --plugin adds your own."
        )

    def title(self, name: str) -> str:
        """Return the display name of a thing, as papers write it; a name without one is its own.

        Nothing is imported for it but the built-ins, so that any name of a stranger's store may be asked about.
        """
        self._load_builtins()
        if name in self._titles:
            return self._titles[name]
        return next((found for title in self._titles_of_families if (found := title(name))), name)

    def names(self) -> list[str]:
        """Return every name, sorted."""
        self._load_builtins()
        return sorted({*self._things, *(point.name for point in entry_points(group=f"graphtrial.{self.kind}s"))})

    def filed(self) -> list[str]:
        """Return the names filed so far, sorted: without those that installed packages only announce."""
        self._load_builtins()
        return sorted(self._things)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        self._load_builtins()
        return name in self._things or name in self.names()  # looking through installed packages takes milliseconds

    def _load_builtins(self) -> None:
        if self._loaded:
            return
        self._loaded = True  # first, because the modules below may ask this registry themselves
        try:
            for name in self.packages:
                package = importlib.import_module(name)
                for module in pkgutil.iter_modules(package.__path__):
                    importlib.import_module(f"{name}.{module.name}")
        except BaseException:
            self._loaded = False  # half a registry would call the other half unknown
            raise


def version_of(registry: Registry[Any], name: str) -> int:
    """Return the `version` that a thing declares, 1 by default; it is raised whenever the thing's results change."""
    version = getattr(registry.get(name), "version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise GraphTrialError(
            f"the version of {registry.kind} '{name}' must be a whole number from 1 on, not {version!r}"
        )
    return version


def import_attribute(path: str) -> Any:
    """Import `package.module:attribute`."""
    module_name, _, attribute = path.partition(":")
    if not module_name or module_name.startswith("."):
        raise UnknownNameError(f"cannot import '{module_name}' of '{path}': write it as package.module:attribute")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        hint = f"; for a file of your own use --plugin {module_name}.py" if Path(f"{module_name}.py").is_file() else ""
        raise UnknownNameError(f"cannot import '{module_name}' of '{path}': {error}{hint}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise UnknownNameError(
            f"module '{module_name}' has no '{attribute}'.{did_you_mean(attribute, dir(module))}"
        ) from None
