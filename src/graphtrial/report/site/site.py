"""The site while it is written: what it is about, and how pages and tables become files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from graphtrial import __version__
from graphtrial.report.site.exports import FORMATS, export
from graphtrial.report.site.grid import Grid
from graphtrial.report.site.views import RowView
from graphtrial.studies.store import Store, TrialRecord

FEW_ROWS = 6
"""A table of so few rows needs no filter."""


@dataclass(frozen=True)
class Prepared:
    """What a caller that may look at datasets knows of one: its facts and pictures of it."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Site:
    """All rows and trials of a store, the folder to write to, and how a reader names the store on the command line."""

    store: Store
    rows: list[RowView]
    trials: list[TrialRecord]
    folder: Path
    prepared: Mapping[str, Prepared]
    store_option: str

    @cached_property
    def datasets(self) -> dict[str, list[RowView]]:
        """The rows of each dataset, datasets by name."""
        return _grouped((view.dataset, view) for view in self.rows)

    @cached_property
    def models(self) -> dict[str, list[RowView]]:
        """The rows of each model, models by name."""
        return _grouped((view.model, view) for view in self.rows)

    @cached_property
    def row_of(self) -> dict[str, RowView]:
        """The row that each trial belongs to, by the id of the trial."""
        return {trial.id: view for view in self.rows for trial in view.row.trials}

    @cached_property
    def _templates(self) -> Environment:
        jinja = Environment(
            loader=PackageLoader("graphtrial.report.site"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        jinja.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
        jinja.globals.update(version=__version__, formats=FORMATS, few_rows=FEW_ROWS)
        return jinja

    def page(self, path: str, template: str, **values: Any) -> None:
        """Write one page; `root` leads from it to the top of the site."""
        root = "../" * path.count("/")
        self.write(path, self._templates.get_template(template).render(root=root, path=path, site=self, **values))

    def write(self, path: str, text: str) -> None:
        """Write one file; the whole site takes its place at once when all files are there."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="replace")

    def table(self, grid: Grid) -> Grid:
        """Write a table in all formats to `tables/`, and return it for a page."""
        for kind in FORMATS:
            self.write(f"tables/{grid.name}.{kind}", export(grid, kind))
        return grid

    def reproduce(self, name: str) -> str:
        """Return the command that runs a trial or a row again and compares."""
        return f"graphtrial reproduce {name}{self.store_option}"


def pretty(value: Any) -> str:
    """Return a value as JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _grouped(pairs: Any) -> dict[str, list[RowView]]:
    groups: dict[str, list[RowView]] = {}
    for key, view in pairs:
        groups.setdefault(key, []).append(view)
    return dict(sorted(groups.items()))
