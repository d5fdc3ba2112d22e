"""A row of results as pages see it: its names, its address, its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from graphtrial.report.grid import Cell
from graphtrial.report.names import file_name
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.summary import Summary
from graphtrial.results.titles import dataset_title, distinguishing_settings, label_title, model_title, row_title
from graphtrial.training import PROTOCOLS
from graphtrial.trials.store import TrialRecord

STYLES = {
    "differs (worse)": "worse",
    "differs (better)": "better",
    "inconclusive": "unsure",
    "reproduced": "agrees",
    "not comparable": "open",
}
"""The verdicts, the worst first, with their styles."""


@dataclass(frozen=True)
class RowView:
    """A row, the settings in which it differs from rows that look the same, and where its page is."""

    row: ResultRow
    differs: str = ""

    @cached_property
    def id(self) -> str:
        """What `graphtrial reproduce` calls the row."""
        return self.row.id

    @cached_property
    def name(self) -> str:
        """The row as one types it."""
        return self.row.name

    @cached_property
    def title(self) -> str:
        """The row in words."""
        return row_title(self.row, self.differs)

    @cached_property
    def label(self) -> str:
        """The model in words, with the settings in which rows of the same model differ."""
        return ", ".join(filter(None, [label_title(self.row), self.differs]))

    @property
    def dataset_title(self) -> str:
        """The display name of the dataset."""
        return dataset_title(self.dataset)

    @property
    def model_title(self) -> str:
        """The display name of the model or kernel."""
        return model_title(self.row.first.spec)

    @property
    def page(self) -> str:
        """The address of the row's page from the top of the site."""
        return f"rows/{self.id}.html"

    @property
    def data(self) -> str:
        """The address of the row's trials as JSON."""
        return f"rows/{self.id}.json"

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.row.first.spec.dataset

    @property
    def model(self) -> str:
        """The name of the model or kernel."""
        return self.row.first.spec.model.name

    @cached_property
    def test(self) -> Summary | None:
        """The test scores."""
        return self.row.scores("test")

    @property
    def verdict(self) -> Cell:
        """The verdict as a cell with its reason."""
        found = self.row.verdict
        if found.kind == "nothing published":
            return Cell("")
        return Cell(found.label, sort=list(STYLES).index(found.label), hint=found.reason, pill=STYLES[found.label])

    @cached_property
    def badges(self) -> tuple[tuple[str, str], ...]:
        """What is not as published about the row, in a word, with its explanation."""
        return tuple((departure.badge, departure.reason) for departure in self.row.departures)

    @cached_property
    def trials(self) -> list[TrialRecord]:
        """The trials, seed by seed."""
        return sorted(self.row.trials, key=lambda trial: (trial.spec.seed, trial.spec.split))

    @property
    def protocol(self) -> str:
        """The name of the protocol without its version."""
        return self.row.first.spec.protocol.partition("@")[0]

    @property
    def rules(self) -> str:
        """The protocol, and in words what is not as published."""
        return ", ".join([f"protocol {self.protocol}", *(badge for badge, _ in self.badges)])

    @cached_property
    def table(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        """What rows of one table share: dataset, state of the data, protocol, and what is not as published."""
        return self.dataset, self.row.first.spec.data, self.row.first.spec.protocol, self.badges

    @property
    def planned(self) -> int | None:
        """How many trials the protocol asks for, where it is known."""
        if self.protocol not in PROTOCOLS:
            return None
        protocol = PROTOCOLS.get(self.protocol)
        return len(protocol.seeds) * protocol.splits

    @property
    def done(self) -> int:
        """How many trials have a score."""
        return 0 if self.test is None else self.test.n

    @property
    def open(self) -> dict[str, int]:
        """How many trials have no score, by status."""
        return {status: n for status, n in self.row.statuses.items() if status not in ("done", "time")}


def row_views(rows: Sequence[ResultRow]) -> list[RowView]:
    """Return the rows with the settings that tell equal-looking ones apart."""
    return [RowView(row, differs) for row, differs in zip(rows, distinguishing_settings(rows), strict=True)]


def labels(rows: Sequence[RowView]) -> list[str]:
    """Return the names of rows for a chart, without a depth that all of them share."""
    depths = {view.row.setting("layers") for view in rows}
    return [row_title(view.row, view.differs, with_depth=len(depths) > 1 or len(rows) == 1) for view in rows]


def has_page(trial: TrialRecord) -> bool:
    """Tell whether a trial has a page of its own: a training, or a failure; a fold of a kernel is a line of its row."""
    return trial.spec.kind.has_epochs or bool(trial.error)


def trial_page(trial: TrialRecord) -> str:
    """Return the address of a trial's page from the top of the site."""
    return f"trials/{file_name(trial.id)}.html"


def table_page(paper: str, number: int) -> str:
    """Return the address of the page of a published table from the top of the site; papers are ours to name."""
    return f"papers/{paper}-table-{number}.html"


def dataset_page(dataset: str) -> str:
    """Return the address of a dataset's page from the top of the site."""
    return f"datasets/{file_name(dataset)}.html"


def model_page(model: str) -> str:
    """Return the address of a model's page from the top of the site."""
    return f"models/{file_name(model)}.html"
