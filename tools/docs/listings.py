"""What the reference lists: registered components with their docstrings, and commands with their help."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import typer

import graphtrial as gt
from graphtrial.cli.listing import LISTINGS
from graphtrial.kernels import KERNELS

DIRECTIVE = re.compile(r"^::: (registered|commands)(?: (\w+))?$", re.MULTILINE)
OPTIONS = "    options: {heading_level: 3, show_root_heading: false, show_root_toc_entry: false, members: false}"


def expanded(markdown: str) -> str:
    """Replace `::: registered models` and `::: commands` by what they list."""
    return DIRECTIVE.sub(lambda match: commands() if match[1] == "commands" else registered(match[2]), markdown)


def registered(kind: str) -> str:
    """Return one section for each registered component: its name, docstring and settings with their defaults."""
    registry = KERNELS if kind == "kernels" else getattr(gt, kind.upper())
    settings = {entry["name"]: entry["settings"] for entry in LISTINGS[kind]() if "settings" in entry}
    return "\n\n".join(_section(name, registry.get(name), settings.get(name)) for name in sorted(registry))


def _section(name: str, component: Any, settings: dict[str, Any] | list[str] | None) -> str:
    shown = getattr(component, "layer_class", component)
    shown = shown if inspect.isclass(shown) or inspect.isfunction(shown) else type(shown)
    defaults = settings if isinstance(settings, dict) else dict.fromkeys(settings or ())
    texts = [key if value is None else f"{key} = {json.dumps(value)}" for key, value in defaults.items()]
    line = "Settings: " + ", ".join(f"`{text}`" for text in texts) + "." if texts else ""
    return f"## {name} {{ #{name} }}\n\n::: {shown.__module__}.{shown.__qualname__}\n{OPTIONS}\n\n{line}"


def commands() -> str:
    """Return one section for each command: its help as the terminal shows it."""
    from graphtrial.cli.main import app

    listed = _walk(typer.main.get_command(app), "graphtrial")
    return "\n\n".join(f"## {name}\n\n```text\n{command.get_help(context)}\n```" for name, command, context in listed)


def _walk(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, Any, Any]]:
    context = type(command).context_class(command, info_name=name, parent=parent, terminal_width=100)
    path = context.command_path
    if getattr(command, "commands", None):
        for child in command.list_commands(context):
            yield from _walk(command.get_command(context, child), child, context)
    elif not command.hidden:
        yield path, command, context
