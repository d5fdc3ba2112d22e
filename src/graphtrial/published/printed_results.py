"""Published results, one `PublishedResult` per printed row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from graphtrial.published.data_files import read_lines


@dataclass(frozen=True)
class PublishedScore:
    """A printed score: mean, standard deviation, minimum and maximum over `n` runs, as far as the paper prints them.

    `text` is the score as printed, with the digits of the paper. `ci95_half_width` is a 95 % bootstrap interval, which
    Wiki-CS gives instead of a standard deviation; `std_all_runs` is the second one of TUDataset, over all runs instead
    of over repetitions.
    """

    mean: float
    std: float | None = None
    min: float | None = None
    max: float | None = None
    n: int | None = None
    text: str = ""
    std_is_upper_bound: bool = False
    std_all_runs: float | None = None
    ci95_half_width: float | None = None


@dataclass(frozen=True)
class PublishedModel:
    """A registered model with the settings that are not its defaults."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class PrintedNames:
    """Dataset, model and variant as named in the paper."""

    dataset: str
    model: str
    variant: Mapping[str, Any]


@dataclass(frozen=True)
class Position:
    """Position in a printed table: line, group of columns, and the first cells of the line."""

    line: int = 0
    group: int = 0
    heading: str = ""
    label: str = ""
    before: Sequence[str] = ()


@dataclass(frozen=True)
class PublishedResult:
    """One row of a published table.

    `datasets`, `models` and `encoding` identify matching trials: several `models` where one number is printed for
    all of them, none where no model can be built; a row with a `reason` matches no trial. `source` is the origin of
    the settings. `params` is the printed parameter count, `params_exact` that of the model, if there is one;
    `erratum` explains a difference. `incomparable` says why the score of a matching trial gives no verdict.
    `repetition` (from 1) and `target` are set for one repetition of the experiment and for one target. `status` is
    `ok`, `diverged`, `oom` or `not-used`; only `ok` has a score. `inferred`: a label, size or value was
    reconstructed, as described in `note`. `doubtful`: the cell is unreliable.

    `table` is a number where the layout of the table is known (`TABLES`), else its name. `origin` is `own` for a
    measurement of the paper, the only one that gives a verdict, else `quoted`, `leaderboard`, `rebuttal`, `issue` or
    `unclear`; `citation` says where it was read. `protocol` has the rules that the number was measured by,
    any of the paper by default.
    """

    paper: str
    table: int | str
    label: str
    datasets: Sequence[str]
    models: tuple[PublishedModel, ...]
    encoding: str
    metric: str
    higher_is_better: bool
    status: str
    printed: PrintedNames
    position: Position = Position()
    origin: str = "own"
    citation: str = ""
    protocol: str | None = None
    layers: int | None = None
    params: int | None = None
    params_exact: int | None = None
    erratum: str | None = None
    incomparable: str | None = None
    source: str = ""
    reason: str | None = None
    repetition: int | None = None
    target: str | None = None
    test: PublishedScore | None = None
    train: PublishedScore | None = None
    val: PublishedScore | None = None
    epochs: float | None = None
    epoch_seconds: float | None = None
    total_hours: float | None = None
    inferred: bool = False
    doubtful: bool = False
    note: str = ""

    @cached_property
    def experiment(self) -> tuple[object, ...]:
        """Key of the trials behind a row, shared by its metrics, targets and repetitions."""
        printed = self.printed
        variant = sorted((key, value) for key, value in printed.variant.items() if key != "target")
        return (self.paper, self.table, printed.dataset, printed.model, *variant, self.layers, self.params)

    @property
    def where(self) -> str:
        """Paper and table, and whose measurement it is unless the paper's own."""
        table = f"table {self.table}" if isinstance(self.table, int) else self.table
        return f"{self.paper}, {table}" + ("" if self.origin == "own" else f" ({self.origin})")

    @property
    def description(self) -> str:
        """Short description for messages."""
        printed = self.printed
        return f"{printed.dataset} {printed.model} {dict(printed.variant)} layers {self.layers} params {self.params}"


@cache
def published_results(paper: str | None = None, table: int | str | None = None) -> tuple[PublishedResult, ...]:
    """Return the published rows of all papers, of one, or of one of its tables, in the order of the papers."""
    if paper is None:
        return tuple(_result(line) for line in read_lines("results.jsonl"))
    return tuple(row for row in published_results() if row.paper == paper and table in (None, row.table))


def experiments(paper: str, table: int | str) -> list[PublishedResult]:
    """Return the first row of each experiment of a table."""
    return list({row.experiment: row for row in reversed(published_results(paper, table))}.values())[::-1]


def _result(line: Mapping[str, Any]) -> PublishedResult:
    nested = {
        "models": tuple(PublishedModel(**model) for model in line["models"]),
        "printed": PrintedNames(**line["printed"]),
        "position": Position(**line.get("position", {})),
        **{split: PublishedScore(**line[split]) for split in ("test", "train", "val") if split in line},
    }
    return PublishedResult(**{**line, **nested})
