"""Settings of a class of another library, from the annotated arguments of its constructor."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from graphtrial.core.arguments import Width
from graphtrial.core.signatures import declared_arguments, declared_hints

REQUIRED = inspect.Parameter.empty
NONE = "none"
"""Value of a setting that stands for Python's None, which has no notation on the command line or in a study."""
DIVISORS = ("heads", "num_heads", "towers")
"""Arguments that divide the width."""
DEFAULTS = {"aggregators": "mean min max std", "scalers": "identity amplification attenuation"}
"""Values of arguments without a default: those of the paper of PNA."""


@dataclass(frozen=True)
class Argument:
    """Type hint and default of a constructor argument; `REQUIRED` without a default."""

    hint: Any
    default: Any


@dataclass(frozen=True)
class Setting:
    """A constructor argument that is a number, a text or a boolean; `is_list` is written as names with spaces."""

    hint: Any
    default: Any
    is_list: bool = False

    def value(self, given: Any) -> Any:
        """Convert the value of the setting to that of the argument."""
        if given == NONE and isinstance(given, str):
            return None
        return given.split() if self.is_list and isinstance(given, str) and (" " in given or self._only_list) else given

    @property
    def _only_list(self) -> bool:
        return self.default is None or " " in str(self.default)


@functools.lru_cache(maxsize=512)
def constructor_arguments(kind: type) -> dict[str, Argument]:
    """Return the arguments of a constructor, and of the layers to which its `init_conv` passes the other ones on."""
    own = _declared(kind)
    return {**own, **{name: one for name, one in _passed_on(kind).items() if name not in own}}


def find_settings(kind: type, filled: Sequence[str]) -> dict[str, Setting]:
    """Return the arguments that a user may set: all but those `filled` by the data, and but objects with a default."""
    settings = {
        name: _setting(name, argument) for name, argument in constructor_arguments(kind).items() if name not in filled
    }
    return {name: setting for name, setting in settings.items() if setting is not None}


def _setting(name: str, argument: Argument) -> Setting | None:
    hint, default = argument.hint, DEFAULTS.get(name) if argument.default is REQUIRED else argument.default
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    allowed = [
        part for part in parts if part in (bool, int, float, str, Any) or get_origin(part) in (Literal, Annotated)
    ]
    is_list = any(get_origin(part) in (list, tuple, Sequence) and get_args(part)[0] is str for part in parts)
    if is_list and isinstance(default, list | tuple):
        default = " ".join(default)
    if is_list and str not in allowed:
        allowed.append(str)
    optional = argument.default is None or type(None) in parts
    if not allowed or not (default is None or isinstance(default, bool | int | float | str)):
        return None
    if optional and str not in allowed:
        allowed.append(Literal["none"])
    if name in DIVISORS and allowed == [int]:
        allowed = [Width]
    one = allowed[0] if len(allowed) == 1 else Union[tuple(allowed)]  # noqa: UP007 - of a list
    return Setting(one, NONE if optional and default is None else default, is_list)


def _declared(kind: type) -> dict[str, Argument]:
    hints = declared_hints(kind)
    return {name: Argument(hints[name], one.default) for name, one in declared_arguments(kind).items()}


def _passed_on(kind: type) -> dict[str, Argument]:
    """Return the arguments that reach the layers of PyG's `BasicGNN` through `**kwargs`, read from its `init_conv`.

    They are those that it takes out by `kwargs.pop(name, default)` and those of the layer classes that it names, but
    for the ones that it passes itself.
    """
    maker: Any = getattr(kind, "init_conv", None)
    variadic = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(kind).parameters.values())
    if not inspect.isfunction(maker) or not variadic:
        return {}
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(maker)))
    except (OSError, SyntaxError):
        return {}
    popped = dict(_popped(tree))
    calls = [call for call in _calls(tree) if any(keyword.arg is None for keyword in call.keywords)]
    given = {keyword.arg for call in calls for keyword in call.keywords}
    first = max((len(call.args) for call in calls), default=0)
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    layers: list[Any] = [maker.__globals__.get(name) for name in dict.fromkeys(names)]
    arguments = {
        name: one
        for layer in filter(is_layer, layers)
        for name, one in list(_declared(layer).items())[first:]
        if name not in given and name not in popped
    }
    return {**popped, **arguments}


def is_layer(thing: Any) -> bool:
    """Return whether an object is a message-passing class of PyG, without importing PyG."""
    return isinstance(thing, type) and any(
        f"{base.__module__}.{base.__name__}" == "torch_geometric.nn.conv.message_passing.MessagePassing"
        for base in thing.__mro__[1:]
    )


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _popped(tree: ast.AST) -> Iterator[tuple[str, Argument]]:
    for call in _calls(tree):
        taken = isinstance(call.func, ast.Attribute) and call.func.attr in ("pop", "get") and len(call.args) == 2
        name, default = call.args if taken else (None, None)
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and isinstance(default, ast.Constant):
            yield name.value, Argument(type(default.value) if default.value is not None else Any, default.value)
