"""A row of results as pages see it: its names, its address, its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from graphtrial.report.deviations import badges
from graphtrial.report.rows import ResultRow
from graphtrial.report.site.grid import Cell
from graphtrial.report.site.names import file_name
from graphtrial.report.stats import Summary
from graphtrial.studies.store import TrialRecord
from graphtrial.training import PROTOCOLS

STYLES = {"reproduced": "agrees", "differs (better)": "better", "differs (worse)": "worse"}


@dataclass(frozen=True)
class RowView:
    """A row and where its page is."""

    row: ResultRow

    @cached_property
    def id(self) -> str:
        """What `graphtrial reproduce` calls the row."""
        return self.row.id

    @cached_property
    def name(self) -> str:
        """The row in short."""
        return self.row.name

    @property
    def page(self) -> str:
        """The address of the row's page from the top of the site."""
        return f"rows/{self.id}.html"

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
        found, marks = self.row.verdict, badges(self.row)
        if found.kind == "nothing published":
            why = "; ".join(deviation.reason for deviation in self.row.deviations)
            return Cell(marks, hint=why, pill="open") if marks else Cell("")
        return Cell(f"{found.label} {marks}".strip(), hint=found.reason, pill=STYLES.get(found.label, "open"))

    @cached_property
    def trials(self) -> list[TrialRecord]:
        """The trials, seed by seed."""
        return sorted(self.row.trials, key=lambda trial: (trial.spec.seed, trial.spec.split))

    @property
    def protocol(self) -> str:
        """The name of the protocol without its version."""
        return self.row.first.spec.protocol.partition("@")[0]

    @cached_property
    def rules(self) -> str:
        """The protocol, and how data and rules differ from the published ones."""
        notes = "".join(f"; {found.badge.upper()}: {found.reason}" for found in self.row.deviations)
        return f"protocol {self.protocol}{notes}"

    @property
    def table(self) -> str:
        """What rows of one table share: dataset and rules."""
        return f"{self.dataset}, {self.rules}"

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


def trial_page(trial: TrialRecord) -> str:
    """Return the address of a trial's page from the top of the site."""
    return f"trials/{file_name(trial.id)}.html"


def dataset_page(dataset: str) -> str:
    """Return the address of a dataset's page from the top of the site."""
    return f"datasets/{file_name(dataset)}.html"


def model_page(model: str) -> str:
    """Return the address of a model's page from the top of the site."""
    return f"models/{file_name(model)}.html"
