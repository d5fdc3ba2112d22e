"""A result row on pages: titles, URL, badges, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from graphtrial.report.grid import Cell
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.summary import Summary
from graphtrial.results.titles import dataset_title, label_title, model_title, row_title
from graphtrial.training import PROTOCOLS
from graphtrial.trials.store import TrialRecord

STYLES = {
    "differs (worse)": "worse",
    "differs (better)": "better",
    "inconclusive": "unsure",
    "reproduced": "agrees",
    "not comparable": "open",
}
"""Verdicts, worst first, with their CSS classes."""
MOST_PAGES = 20
"""Trials of a row that have a learning curve in its chart and a page of their own: those of 4 seeds and 5 folds."""


@dataclass(frozen=True)
class RowPage:
    """A result row with its titles and the URL of its page."""

    row: ResultRow

    @cached_property
    def id(self) -> str:
        """Identifier for `graphtrial reproduce`."""
        return self.row.id

    @cached_property
    def name(self) -> str:
        """Name of the row on the command line."""
        return self.row.name

    @cached_property
    def title(self) -> str:
        """Title of the row."""
        return row_title(self.row)

    @cached_property
    def label(self) -> str:
        """Title of the model, with the settings that distinguish rows of the same model."""
        return ", ".join(filter(None, [label_title(self.row), self.row.differs_in]))

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
        """URL of the page of the row."""
        return f"rows/{self.id}.html"

    @property
    def data(self) -> str:
        """URL of the trials of the row as JSON."""
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
        verdict = self.row.verdict
        if verdict.kind == "nothing published":
            return Cell("")
        return Cell(
            verdict.label, sort=list(STYLES).index(verdict.label), hint=verdict.reason, pill=STYLES[verdict.label]
        )

    @cached_property
    def badges(self) -> tuple[tuple[str, str], ...]:
        """Badges of the departures from the published experiment, with their reasons."""
        return tuple((departure.badge, departure.reason) for departure in self.row.departures)

    @cached_property
    def trials(self) -> list[TrialRecord]:
        """The trials, seed by seed."""
        return sorted(self.row.trials, key=lambda trial: (trial.spec.seed, trial.spec.split))

    def has_page(self, trial: TrialRecord) -> bool:
        """Whether a trial of the row has its own page: failures and the trainings of its chart have.

        A fold of a kernel or of nested selection and every further training is a line of the row, and its epochs are in
        the JSON file.
        """
        kind = trial.spec.kind
        return bool(trial.error) or (kind.has_epochs and not kind.is_nested and trial.id in self._charted)

    @cached_property
    def _charted(self) -> frozenset[str]:
        return frozenset(trial.id for trial in self.trials[:MOST_PAGES])

    @property
    def protocol(self) -> str:
        """The name of the protocol without its version."""
        return self.row.first.spec.protocol.partition("@")[0]

    @property
    def rules(self) -> str:
        """The protocol and the badges."""
        return ", ".join([f"protocol {self.protocol}", *(badge for badge, _ in self.badges)])

    @cached_property
    def table(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        """Key of the table of the row: dataset, hash of the data, protocol, badges."""
        return self.dataset, self.row.first.spec.data, self.row.first.spec.protocol, self.badges

    @property
    def planned(self) -> int | None:
        """Number of trials of the protocol, none where it is not registered."""
        if self.protocol not in PROTOCOLS:
            return None
        protocol = PROTOCOLS.get(self.protocol)
        return len(protocol.seeds) * protocol.splits

    @property
    def done(self) -> int:
        """Number of trials with a score."""
        return sum("test" in trial.scores for trial in self.row.trials)

    @property
    def open(self) -> dict[str, int]:
        """Number of trials without a score, by status."""
        return {status: n for status, n in self.row.statuses.items() if status not in ("done", "time")}


def labels(rows: Sequence[RowPage]) -> list[str]:
    """Return the titles of rows for a chart, without the depth if it is the same for all."""
    depths = {page.row.setting("layers") for page in rows}
    return [row_title(page.row, with_depth=len(depths) > 1 or len(rows) == 1) for page in rows]
