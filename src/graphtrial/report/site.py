"""The site: rows and trials of a store, and files of pages and tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from graphtrial import __version__
from graphtrial.published import PAPERS
from graphtrial.report.addresses import paper_page, table_page, trial_page
from graphtrial.report.cells import badges_html, cell_html
from graphtrial.report.exports import FORMATS, export
from graphtrial.report.grid import Grid
from graphtrial.report.row_page import RowPage
from graphtrial.results.printed import PrintedTable, printed_tables
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.store.searches import SearchRecord, load_searches

FEW_ROWS = 6
"""Tables of up to this many rows have no filter."""


@dataclass(frozen=True)
class Prepared:
    """Metadata and plots of a prepared dataset."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Site:
    """All rows and trials of a store, the output folder, and the option that names the store on the command line.

    `url` is where the site will be published, which link previews and search engines need; it ends with a slash.
    `search_trials` is the number of trials of hyperparameter searches, which have no test score and are not shown.
    """

    store: Store
    rows: list[RowPage]
    trials: list[TrialRecord]
    folder: Path
    prepare: Callable[[str, str], Prepared] | None
    store_option: str
    url: str = ""
    search_trials: int = 0

    @cached_property
    def datasets(self) -> dict[str, list[RowPage]]:
        """The rows of each dataset, datasets by name."""
        return _grouped((view.dataset, view) for view in self.rows)

    @cached_property
    def models(self) -> dict[str, list[RowPage]]:
        """The rows of each model, models by name."""
        return _grouped((view.model, view) for view in self.rows)

    @cached_property
    def row_of(self) -> dict[str, RowPage]:
        """The row of each trial, by the id of the trial."""
        return {trial.id: view for view in self.rows for trial in view.row.trials}

    @cached_property
    def printed(self) -> list[PrintedTable]:
        """The tables of the papers, matched with our rows."""
        return printed_tables([view.row for view in self.rows])

    @cached_property
    def compared(self) -> dict[int, list[RowPage]]:
        """The rows that are compared with a published one, by its `id()`."""
        views: dict[int, list[RowPage]] = {}
        for view in self.rows:
            if view.row.verdict.is_comparison:
                views.setdefault(id(view.row.published), []).append(view)
        return views

    @cached_property
    def view_of(self) -> dict[str, RowPage]:
        """The rows by their ids."""
        return {view.id: view for view in self.rows}

    @cached_property
    def stored(self) -> dict[str, TrialRecord]:
        """The trials of the store by id; in a row, the trial of an incomplete fold has no scores."""
        return {trial.id: trial for trial in self.trials}

    @cached_property
    def searches(self) -> dict[str, SearchRecord]:
        """The hyperparameter searches of the store by id."""
        return {search.id: search for search in load_searches(self.store)}

    def history(self, trial: TrialRecord) -> list[Epoch]:
        """Return the epochs of a trial; only a training has any."""
        return self.store.history(trial.id) if trial.spec.kind.has_epochs else []

    @cached_property
    def _templates(self) -> Environment:
        jinja = Environment(
            loader=PackageLoader("graphtrial.report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        jinja.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
        jinja.filters["element_text"] = element_text
        citations = {name: paper.citation for name, paper in PAPERS.items()}
        jinja.globals.update(
            table_page=table_page, paper_page=paper_page, papers=citations, cell_html=cell_html, badges_html=badges_html
        )
        jinja.globals.update(version=__version__, formats=FORMATS, few_rows=FEW_ROWS)
        return jinja

    def page(self, path: str, template: str, **values: Any) -> None:
        """Render a page; `root` is the relative URL from it to the root of the site."""
        root = "../" * path.count("/")
        self.write(path, self._templates.get_template(template).render(root=root, path=path, site=self, **values))

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file of the site."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", errors="replace"))

    def table(self, grid: Grid) -> Grid:
        """Export a table in its formats to `tables/`, and return it."""
        for kind in grid.formats:
            self.write(f"tables/{grid.name}.{kind}", export(grid, kind))
        return grid

    def address_of(self, trial: TrialRecord) -> str:
        """Return the URL of the page of a trial, or of its row if it has none."""
        row = self.row_of.get(trial.id)
        return trial_page(trial) if row is None or row.has_page(trial) else row.page

    def reproduce(self, name: str) -> str:
        """Return the command that runs a trial or a row again and compares."""
        return f"graphtrial reproduce {name}{self.store_option}"


def pretty(value: Any) -> str:
    """Return a value as indented JSON; one space keeps the many pages of trials small."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


def compact(value: Any) -> str:
    """Return a value as JSON without whitespace."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def element_text(text: str) -> Markup:
    """Escape the text of an element; quotes stay, which keeps JSON short."""
    return Markup(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _grouped(pairs: Any) -> dict[str, list[RowPage]]:
    groups: dict[str, list[RowPage]] = {}
    for key, view in pairs:
        groups.setdefault(key, []).append(view)
    return dict(sorted(groups.items()))
