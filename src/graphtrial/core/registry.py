"""One generic registry: lazy built-ins, entry points, `module:attr` plug-ins, "did you mean", duplicates are errors."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from graphtrial.core import permissions
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean, shown
from graphtrial.core.imports import import_attribute

T = TypeVar("T")
R = TypeVar("R")

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*(/[A-Za-z0-9][A-Za-z0-9_.+-]*)*")
"""What a thing can be called: other signs mean something on the command line, in studies or in file names."""
LONGEST_NAME = 100


@dataclass(frozen=True)
class Family(Generic[T]):
    """Names that nobody listed: the thing and the title of one of them, or nothing for any other name."""

    find: Callable[[str], T | None]
    title: Callable[[str], str | None]


@dataclass(frozen=True)
class Contents(Generic[T]):
    """What a registry holds at one moment."""

    things: dict[str, T]
    titles: dict[str, str]
    families: tuple[Family[T], ...]


class Registry(Generic[T]):
    """Things of one kind by name.

    Built-ins register themselves when their module is imported; all modules of `packages` are imported at the first
    look-up, so adding a thing means adding a file and nothing else. Installed packages add theirs through the entry
    point group `graphtrial.<kind>s`. An entry point and a `module:attr` are imported only where they were allowed
    (`graphtrial.core.permissions`), and must be what `fits` accepts, in words `wanted`, with the attributes `declared`;
    nothing of them is called here.
    """

    def __init__(
        self,
        kind: str,
        *packages: str,
        fits: Callable[[Any], bool] = lambda thing: True,
        wanted: str = "anything",
        declared: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.packages = packages
        self._fits = fits
        self._wanted = wanted
        self._declared = declared
        self._things: dict[str, T] = {}
        self._found: dict[str, T] = {}
        self._families: list[Family[T]] = []
        self._titles: dict[str, str] = {}
        self._loaded = False

    def register(self, name: str, *, title: str | None = None) -> Callable[[R], R]:
        """Return a decorator that files the decorated thing under `name`; tables and pages show its `title`."""

        def file_it(thing: R) -> R:
            self.add(name, thing, title=title)  # type: ignore[arg-type]
            return thing

        return file_it

    def add(self, name: str, thing: T, *, title: str | None = None) -> None:
        """File `thing` under `name`; a second thing of the same name is an error."""
        if not isinstance(name, str) or len(name) > LONGEST_NAME or not NAME.fullmatch(name):
            raise GraphTrialError(
                f"no {self.kind} can be called {shown(name)}: a name has up to {LONGEST_NAME} letters, digits and "
                "any of . _ + - /, and begins with a letter or digit"
            )
        if name in self._things and self._things[name] is not thing:
            raise GraphTrialError(
                f"two {self.kind}s are called '{name}': {shown(self._things[name])} and {shown(thing)}"
            )
        if title is not None and not (
            isinstance(title, str) and title.isprintable() and 0 < len(title) <= LONGEST_NAME
        ):
            raise GraphTrialError(f"the title of {self.kind} '{name}' must be a short text, not {shown(title)}")
        self._things[name] = self._checked(name, thing)
        if title is not None:
            self._titles[name] = title

    def remove(self, name: str) -> None:
        """Forget the thing called `name`, if there is one."""
        self._things.pop(name, None)
        self._titles.pop(name, None)
        self._found.clear()  # what a family found may be made of it

    def add_family(
        self, find: Callable[[str], T | None], *, title: Callable[[str], str | None] = lambda name: None
    ) -> None:
        """Let `find` answer for names that nobody listed, and `title` for their titles; nothing for any other name."""
        self._families.append(Family(find, title))

    def get(self, name: str) -> T:
        """Return the thing called `name`, of a family that knows it, or what an allowed `module:attr` points to."""
        self._load_builtins()
        if not isinstance(name, str):
            raise UnknownNameError(f"the name of the {self.kind} must be a text, not {shown(name)}")
        if name in self._things:
            return self._things[name]
        if name in self._found:
            return self._found[name]
        for family in tuple(self._families):
            found = family.find(name)
            if found is not None:
                self._found[name] = found  # a name means one and the same thing from now on
                return found
        if ":" in name:
            permissions.require_path(name, self.kind)
            return self._checked(name, import_attribute(name))
        point = self._announced().get(name)
        if point is not None:
            permissions.require_entry_point(name, self.kind, point.value)
            self._found[name] = self._checked(name, import_attribute(f"{point.module}:{point.attr}"))
            return self._found[name]
        names, short = self.names(), name[:LONGEST_NAME]
        raise UnknownNameError(
            f"no {self.kind} called '{short}'.{did_you_mean(short, names)} "
            f"`graphtrial list {self.kind}s` shows all {len(names)}; --plugin adds your own."
        )

    def title(self, name: str) -> str:
        """Return the display name of a thing, as papers write it; a name without one is its own.

        Nothing is imported for it but the built-ins, so that any name of a stranger's store may be asked about.
        """
        self._load_builtins()
        if name in self._titles:
            return self._titles[name]
        return next((found for family in self._families if (found := family.title(name))), name)

    def names(self) -> list[str]:
        """Return every name, sorted, with those that installed packages announce and that need a permission."""
        self._load_builtins()
        return sorted({*self._things, *self._announced()})

    def withheld(self) -> dict[str, str]:
        """Return the entry points that nobody allowed, and what each would import."""
        return {
            name: point.value
            for name, point in sorted(self._announced().items())
            if name not in self and not permissions.is_allowed(name)
        }

    def contents(self) -> Contents[T]:
        """Return what is filed so far."""
        self._load_builtins()
        return Contents(dict(self._things), dict(self._titles), tuple(self._families))

    def restore(self, contents: Contents[T]) -> None:
        """Go back to what was filed then."""
        self._things, self._titles = dict(contents.things), dict(contents.titles)
        self._families = list(contents.families)
        self._found.clear()

    def __iter__(self) -> Iterator[str]:
        """Yield the names that can be looked up as things are, without those that need a permission."""
        return iter([name for name in self.names() if name in self._things or permissions.is_allowed(name)])

    def __contains__(self, name: object) -> bool:
        self._load_builtins()
        if not isinstance(name, str):
            return False
        if name in self._things or name in self._found or any(family.find(name) for family in tuple(self._families)):
            return True
        # Looking through installed packages takes milliseconds.
        return permissions.is_allowed(name) and name in self._announced()

    def _checked(self, name: str, thing: Any) -> T:
        if inspect.isabstract(thing):
            lacks = ", ".join(sorted(thing.__abstractmethods__))
            raise GraphTrialError(f"'{name}' is no {self.kind} yet: it does not define {lacks}")
        if not self._fits(thing):
            what = f"the class {thing.__qualname__}" if isinstance(thing, type) else f"a {type(thing).__name__}"
            raise GraphTrialError(f"'{name}' is no {self.kind} but {what}: give {self._wanted}")
        absent = [key for key in self._declared if getattr(thing, key, None) in (None, "", ())]
        if absent:
            raise GraphTrialError(f"{self.kind} '{name}' does not say its {', '.join(absent)}")
        checked: T = thing
        return checked

    def _announced(self) -> dict[str, EntryPoint]:
        points = entry_points(group=f"graphtrial.{self.kind}s")
        return {point.name: point for point in points if NAME.fullmatch(point.name)}

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


def is_subclass(thing: Any, base: type) -> bool:
    """Tell whether a thing is a subclass of `base` and not `base` itself."""
    return isinstance(thing, type) and issubclass(thing, base) and thing is not base
