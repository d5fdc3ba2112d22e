"""Result rows: trials of the store grouped by everything but split and seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphtrial.core.spec import digest
from graphtrial.encodings import encoding_settings
from graphtrial.encodings.notation import parts_of, short_encoding
from graphtrial.metrics import metric_range
from graphtrial.published import PublishedResult
from graphtrial.results.departures import Departure, changed_rules, departures_of
from graphtrial.results.model_selection import INCOMPLETE, kernel_choice, shared_specification
from graphtrial.results.nested import NestedSelection, fold_means
from graphtrial.results.statistics.summary import UNBOUNDED, Summary, bootstrapped, summarise
from graphtrial.results.tuning import TuningEffort
from graphtrial.results.verdict import NOTHING_PUBLISHED, Verdict
from graphtrial.training import PROTOCOLS
from graphtrial.training.outcome import EXTRA_METRICS
from graphtrial.trials.store import TrialRecord

if TYPE_CHECKING:
    import pandas as pd

    from graphtrial.results.export.frame import By

TUNED = "tuned"
"""Part of a name that selects rows whose configuration was searched for."""


@dataclass(frozen=True)
class ResultRow:
    """Trials that differ in split and seed alone, their summary statistics, and the published row.

    Where validation selects settings, there is one trial for each split and seed: the selected one. `verdict` and
    `differs_in`, the settings that distinguish it from rows of the same model, encoding and depth, depend on the other
    rows of the table: `result_rows` sets them. `tuning` is the cost of the search for its configuration, if any; the
    trials of a `nested` selection have the configuration of their fold.
    """

    trials: tuple[TrialRecord, ...]
    published: PublishedResult | None
    verdict: Verdict = NOTHING_PUBLISHED
    differs_in: str = ""
    tuning: TuningEffort | None = None
    nested: NestedSelection | None = None

    @property
    def first(self) -> TrialRecord:
        """A representative trial: they share everything but split and seed."""
        return self.trials[0]

    @property
    def id(self) -> str:
        """Identifier for `graphtrial reproduce`: a hash of everything that the trials share."""
        if self.nested is not None:
            return f"row-{self.nested.id[:12]}"
        return f"row-{digest(shared_specification(self.first))[:12]}"

    @property
    def label(self) -> str:
        """Name of the model; -E: with edge features of the dataset, -JK: jumping knowledge, as in the papers."""
        spec = self.first.spec
        jumps = spec.kind.draws_folds and spec.settings.get("jumping")
        return spec.model.name + ("-JK" if jumps else "") + ("-E" if spec.settings.get("edge_features") else "")

    @property
    def name(self) -> str:
        """Name for `graphtrial compare`: `gatedgcn-E/laplacian:8/layers=16`."""
        layers = self.setting("layers")
        encoding = [] if self.encoding == "none" else [self.encoding]
        tuned = [TUNED] if self.nested is not None else []
        return "/".join([self.label, *encoding, *([f"layers={layers}"] if layers else []), *tuned])

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the settings that validation selects, fold by fold."""
        spec = self.first.spec
        names = spec.kind.selected if self.nested is None else self.nested.settings
        return tuple(name for name in names if name in spec.settings)

    @property
    def choices(self) -> list[dict[str, Any]]:
        """Selected settings, rules and encoding of each fold, with trial, split and seed."""
        return [
            {"trial": trial.id, "split": trial.spec.split, "seed": trial.spec.seed} | choice
            for trial in self.trials
            if trial.status != INCOMPLETE and (choice := self.choice(trial))
        ]

    def choice(self, trial: TrialRecord) -> dict[str, Any]:
        """Return what validation selected for the fold of a trial: settings, or those of a kernel and its machine."""
        if self.nested is not None:
            return self.nested.choice(trial)
        return {name: trial.spec.settings[name] for name in self.selected} or kernel_choice(trial)

    def setting(self, name: str) -> str:
        """Return a setting of the model as text: its value, or the range that validation selected."""
        if name not in self.selected:
            return str(self.first.spec.settings.get(name, ""))
        values = sorted({choice[name] for choice in self.choices})
        return "" if not values else str(values[0]) if len(values) == 1 else f"{values[0]}-{values[-1]}"

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the model, but those that validation selects."""
        return {key: value for key, value in self.first.spec.settings.items() if key not in self.selected}

    @property
    def encoding_arguments(self) -> dict[str, Any] | None:
        """Name and arguments of the encoding, none without one."""
        encoding = self.first.spec.encoding
        parts = [{"name": part.name, **encoding_settings(part)} for part, _ in parts_of(encoding)]
        return {"name": encoding.name, "parts": parts} if encoding and len(parts) > 1 else next(iter(parts), None)

    @property
    def encoding(self) -> str:
        """The encoding as typed: `laplacian:20`, `none`."""
        return short_encoding(self.first.spec.encoding)

    @property
    def has_epochs(self) -> bool:
        """Whether the trials are trainings by epochs, not fits of a support vector machine."""
        return self.first.spec.kind.has_epochs

    @property
    def statuses(self) -> dict[str, int]:
        """Number of trials by status."""
        return dict(sorted(Counter(trial.status for trial in self.trials).items()))

    def scores(self, part: str) -> Summary | None:
        """Return the summary of the scores on `train`, `val` or `test`; of nested selection, over means of folds."""
        nested = self.first.spec.kind.is_nested
        values = fold_means(self.trials, part) if nested else [t.scores[part] for t in self.trials if part in t.scores]
        return self._summary(values, self.overlap, metric_range(self.first.metric))

    def _summary(
        self, values: list[float], overlap: float = 0.0, within: tuple[float, float] = UNBOUNDED
    ) -> Summary | None:
        """Summarise one number per trial, with the confidence interval of the protocol: bootstrap or Student's t."""
        protocol = self.first.spec.protocol.partition("@")[0]
        if protocol in PROTOCOLS and PROTOCOLS.get(protocol).interval == "bootstrap":
            return bootstrapped(values)
        return summarise(values, overlap, within)

    @property
    def overlap(self) -> float:
        """Test over training set size of a cross-validation, 1 / (k - 1) for k splits; 0 for a single split."""
        if len({trial.spec.split for trial in self.trials}) < 2:
            return 0.0
        protocol = self.first.spec.protocol.partition("@")[0]
        splits = PROTOCOLS.get(protocol).splits if protocol in PROTOCOLS else 0
        return 1 / (max(splits, *(trial.spec.split + 1 for trial in self.trials)) - 1)

    @property
    def changes(self) -> str:
        """The rules that differ from the protocol's own, such as `stopping.max_epochs = 3`; empty where none does."""
        return changed_rules(self.first, () if self.nested is None else self.nested.rules)

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """Differences from the published experiment: other data, changed rules, old version."""
        return departures_of(self.trials, () if self.nested is None else self.nested.rules)

    @property
    def derived_seeds(self) -> tuple[int, ...]:
        """Seeds of the trials beyond those of the protocol."""
        protocol = self.first.spec.protocol.partition("@")[0]
        if protocol not in PROTOCOLS:
            return ()
        return tuple(sorted({trial.spec.seed for trial in self.trials} - set(PROTOCOLS.get(protocol).seeds)))

    def over_seeds(self, part: str) -> Summary | None:
        """Summarise the mean scores of each seed over its splits: repetitions of a cross-validation."""
        of_seed: dict[int, list[float]] = {}
        for trial in self.trials:
            if part in trial.scores:
                of_seed.setdefault(trial.spec.seed, []).append(trial.scores[part])
        means = [sum(scores) / len(scores) for scores in of_seed.values()]
        return summarise(means, within=metric_range(self.first.metric))

    @property
    def extra_metrics(self) -> dict[str, Summary]:
        """Summaries of the additional metrics of the test set, by name."""
        values: dict[str, list[float]] = {}
        for trial in self.trials:
            for name, value in trial.details.get(EXTRA_METRICS, {}).items():
                if not isinstance(value, list):
                    values.setdefault(name, []).append(value)
        return {
            name: summary
            for name, numbers in values.items()
            if (summary := self._summary(numbers, within=metric_range(name)))
        }

    def mean(self, name: str) -> float | None:
        """Return the mean of a number of the finished trials, such as `epochs`."""
        summary = summarise([getattr(trial, name) for trial in self.trials if getattr(trial, name) is not None])
        return summary.mean if summary else None

    @property
    def params(self) -> int | None:
        """Number of trainable parameters, where it is the same for all trials."""
        if len({trial.params for trial in self.trials if trial.params is not None}) > 1:
            return None
        return next((trial.params for trial in self.trials if trial.params is not None), None)

    @property
    def hours(self) -> float | None:
        """Mean hours per trial."""
        recorded = summarise([trial.details["seconds"] for trial in self.trials if "seconds" in trial.details])
        if recorded is not None:  # by trials without epochs
            return recorded.mean / 3600
        epochs, seconds = self.mean("epochs"), self.mean("epoch_seconds")
        return None if epochs is None or seconds is None else epochs * seconds / 3600

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-like values: the shape of `--json`, documented in docs/json.md."""
        from graphtrial.results.columns.rows import ROW_COLUMNS  # which imports this module

        return ROW_COLUMNS.to_dict(self)

    def to_pandas(self, by: By = "row") -> pd.DataFrame:
        """Return the row as a pandas.DataFrame of one line, or with one line per trial."""
        return ResultRows([self]).to_pandas(by)


class ResultRows(list[ResultRow]):
    """A list of rows with `to_pandas()`."""

    def to_pandas(self, by: By = "row") -> pd.DataFrame:
        """Return a pandas.DataFrame with one line per row, or per trial of the rows, and the columns of the CSV."""
        from graphtrial.results.export.frame import to_pandas

        return to_pandas(self, by)
