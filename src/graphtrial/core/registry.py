"""Generic registry: lazy built-ins, entry points, `module:attr` paths, name suggestions; duplicates are errors."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean, short_repr
from graphtrial.core.index import module_of
from graphtrial.core.plugins import permissions
from graphtrial.core.plugins.entry_points import installed, not_allowed
from graphtrial.core.plugins.imports import import_attribute

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
R = TypeVar("R")

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*(/[A-Za-z0-9][A-Za-z0-9_.+-]*)*")
"""Valid names: other characters have a meaning on the command line, in studies or in file names."""
MAX_NAME_LENGTH = 100


@dataclass(frozen=True)
class Resolver(Generic[T]):
    """Resolves names that are not listed, by a pattern: entry and title of a name, or None for a name not its own."""

    find: Callable[[str], T | None]
    title: Callable[[str], str | None]


@dataclass(frozen=True)
class Contents(Generic[T]):
    """Snapshot of a registry."""

    things: dict[str, T]
    titles: dict[str, str]
    resolvers: tuple[Resolver[T], ...]


class Registry(Generic[T]):
    """Classes or objects of one kind by name.

    Built-ins register themselves when their module is imported: that of a name in the index (`graphtrial.core.index`)
    alone, otherwise all modules of `packages`, so that a new entry is a new file and nothing else. Installed packages
    register through the entry point group `graphtrial.<plural>`. An entry point or `module:attr` is imported only if it
    is allowed (`graphtrial.core.plugins.permissions`), and must satisfy the predicate `fits` (described by `wanted` in
    errors) and have the attributes `declared`; it is not called here.
    """

    def __init__(
        self,
        kind: str,
        *packages: str,
        fits: Callable[[Any], bool] = lambda thing: True,
        wanted: str = "anything",
        declared: tuple[str, ...] = (),
        plural: str | None = None,
    ) -> None:
        self.kind = kind
        self.plural = plural or f"{kind}s"
        self.packages = packages
        self._fits = fits
        self._wanted = wanted
        self._declared = declared
        self._things: dict[str, T] = {}
        self._resolved: dict[str, T] = {}
        self._resolvers: list[Resolver[T]] = []
        self._titles: dict[str, str] = {}
        self._loaded = False

    def register(self, name: str, *, title: str | None = None) -> Callable[[R], R]:
        """Return a decorator that registers an object under `name`; tables and pages show its `title`."""

        def decorate(thing: R) -> R:
            self.add(name, thing, title=title)  # type: ignore[arg-type]
            return thing

        return decorate

    def add(self, name: str, thing: T, *, title: str | None = None) -> None:
        """Register `thing` under `name`; a duplicate name is an error."""
        if not isinstance(name, str) or len(name) > MAX_NAME_LENGTH or not NAME.fullmatch(name):
            raise GraphTrialError(
                f"no {self.kind} can be called {short_repr(name)}: a name has up to {MAX_NAME_LENGTH} letters, digits "
                "and any of . _ + - /, and begins with a letter or digit"
            )
        if name in self._things and self._things[name] is not thing:
            raise GraphTrialError(
                f"two {self.kind}s are called '{name}': {short_repr(self._things[name])} and {short_repr(thing)}"
            )
        if title is not None and not (
            isinstance(title, str) and title.isprintable() and 0 < len(title) <= MAX_NAME_LENGTH
        ):
            raise GraphTrialError(f"the title of {self.kind} '{name}' must be a short text, not {short_repr(title)}")
        self._things[name] = self._check(name, thing)
        if title is not None:
            self._titles[name] = title

    def remove(self, name: str) -> None:
        """Unregister `name`, if it is registered."""
        self._load_builtins()
        self._things.pop(name, None)
        self._titles.pop(name, None)
        self._resolved.clear()  # a resolved entry may derive from it

    def add_resolver(
        self, find: Callable[[str], T | None], *, title: Callable[[str], str | None] = lambda name: None
    ) -> None:
        """Resolve names that are not listed by `find`, and their titles by `title`; both return None for others."""
        self._resolvers.append(Resolver(find, title))

    def get(self, name: str) -> T:
        """Return the entry `name`: registered, resolved by a pattern, or an allowed `module:attr` or entry point."""
        if not isinstance(name, str):
            raise UnknownNameError(f"the name of the {self.kind} must be a string, not {short_repr(name)}")
        if self._is_registered(name):
            return self._things[name]
        if name in self._resolved:
            return self._resolved[name]
        for resolver in tuple(self._resolvers):
            entry = resolver.find(name)
            if entry is not None:
                self._resolved[name] = entry  # later look-ups return the same object
                return entry
        if ":" in name:
            permissions.require_path(name, self.kind)
            return self._check(name, import_attribute(name))
        point = self._entry_points().get(name)
        if point is not None:
            permissions.require_entry_point(name, self.kind, point.value)
            self._resolved[name] = self._check(name, import_attribute(f"{point.module}:{point.attr}"))
            return self._resolved[name]
        names, short = self.names(), name[:MAX_NAME_LENGTH]
        raise UnknownNameError(
            f"no {self.kind} called '{short}'.{did_you_mean(short, names)} "
            f"`graphtrial list {self.plural}` shows all {len(names)}; --plugin adds your own."
        )

    def title(self, name: str) -> str:
        """Return the display name of an entry, as papers write it; `name` itself by default.

        Imports nothing but the built-ins, so that it is safe for names from an untrusted store.
        """
        if self._is_registered(name) and name in self._titles:
            return self._titles[name]
        return next((title for resolver in self._resolvers if (title := resolver.title(name))), name)

    def names(self) -> list[str]:
        """Return all names, sorted, including entry points that are not allowed yet."""
        self._load_builtins()
        return sorted({*self._things, *self._entry_points()})

    def not_allowed(self) -> dict[str, str]:
        """Return the entry points that are not allowed, with their import paths."""
        return {name: value for name, value in not_allowed(self.plural, self).items() if NAME.fullmatch(name)}

    def contents(self) -> Contents[T]:
        """Return a snapshot of the registrations."""
        self._load_builtins()
        return Contents(dict(self._things), dict(self._titles), tuple(self._resolvers))

    def built_in(self) -> Contents[T]:
        """Return the registrations of the modules of this package alone."""
        now = self.contents()
        things = {name: thing for name, thing in now.things.items() if str(thing.__module__).startswith(self.packages)}
        titles = {name: title for name, title in now.titles.items() if name in things}
        return Contents(things, titles, tuple(r for r in now.resolvers if r.find.__module__.startswith("graphtrial.")))

    def restore(self, contents: Contents[T]) -> None:
        """Restore a snapshot."""
        self._things, self._titles = dict(contents.things), dict(contents.titles)
        self._resolvers = list(contents.resolvers)
        self._resolved.clear()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names that can be looked up, without entry points that are not allowed."""
        return iter([name for name in self.names() if name in self._things or permissions.is_allowed(name)])

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if (
            self._is_registered(name)
            or name in self._resolved
            or any(resolver.find(name) for resolver in tuple(self._resolvers))
        ):
            return True
        # last, because scanning installed packages takes milliseconds
        return permissions.is_allowed(name) and name in self._entry_points()

    def _check(self, name: str, thing: Any) -> T:
        if inspect.isabstract(thing):
            missing = ", ".join(sorted(thing.__abstractmethods__))
            raise GraphTrialError(f"'{name}' is an abstract {self.kind}: it does not define {missing}")
        if not self._fits(thing):
            subject = f"the class {thing.__qualname__}" if isinstance(thing, type) else f"a {type(thing).__name__}"
            raise GraphTrialError(f"'{name}' is not a valid {self.kind} but {subject}: give {self._wanted}")
        absent = [key for key in self._declared if getattr(thing, key, None) in (None, "", ())]
        if absent:
            raise GraphTrialError(f"{self.kind} '{name}' does not say its {', '.join(absent)}")
        check_arguments: T = thing
        return check_arguments

    def _entry_points(self) -> dict[str, EntryPoint]:
        return {name: point for name, point in installed(self.plural).items() if NAME.fullmatch(name)}

    def _is_registered(self, name: str) -> bool:
        """Import what may register a name, one module if the index has it, and return whether it is registered."""
        module = None if self._loaded else module_of(self.plural, self.packages, name)
        if module is not None:
            importlib.import_module(module)  # also where a user's entry has this name, which is an error
            if name in self._things:
                return True
        if NAME.fullmatch(name):  # a path such as `package:Model` is never registered
            self._load_builtins()
        return name in self._things

    def _load_builtins(self) -> None:
        if self._loaded:
            return
        self._loaded = True  # first, because the modules below may use this registry on import
        try:
            for name in self.packages:
                package = importlib.import_module(name)
                for module in pkgutil.iter_modules(package.__path__):
                    importlib.import_module(f"{name}.{module.name}")
        except BaseException:
            self._loaded = False  # load again next time instead of leaving a part of the entries
            raise


def version_of(registry: Registry[Any], name: str) -> int:
    """Return the declared `version` of an entry, 1 by default; it is incremented whenever its results change."""
    version = getattr(registry.get(name), "version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise GraphTrialError(f"the version of {registry.kind} '{name}' must be an integer from 1 on, not {version!r}")
    return version


def is_subclass(thing: Any, base: type) -> bool:
    """Return whether an object is a proper subclass of `base`."""
    return isinstance(thing, type) and issubclass(thing, base) and thing is not base
