"""From trials in the store to the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from graphtrial.core.spec import canonical_json, digest
from graphtrial.encodings.notation import short_encoding
from graphtrial.metrics import metric_range
from graphtrial.published import PublishedResult, find_published
from graphtrial.results.choices import INCOMPLETE, choose
from graphtrial.results.departures import Departure, changed_rules, departures_of
from graphtrial.results.statistics.summary import UNBOUNDED, Summary, bootstrapped, summarise
from graphtrial.results.verdict import NOTHING_PUBLISHED, Verdict, judged
from graphtrial.training import PROTOCOLS
from graphtrial.training.outcome import EXTRA_METRICS
from graphtrial.trials.store import TrialRecord


@dataclass(frozen=True)
class ResultRow:
    """All trials that differ in split and seed alone, summed up, with the published row beside them.

    Where the rules let the validation part choose some settings, there is one trial for each split and seed: the one
    that was chosen. The verdict depends on the other rows of the table: `judged` sets it.
    """

    trials: tuple[TrialRecord, ...]
    published: PublishedResult | None
    verdict: Verdict = NOTHING_PUBLISHED

    @property
    def first(self) -> TrialRecord:
        """Any one of the trials: they share everything but split and seed."""
        return self.trials[0]

    @property
    def id(self) -> str:
        """What `graphtrial reproduce` calls the row: a hash of all that its trials have in common."""
        return f"row-{digest(_row_of(self.first))[:12]}"

    @property
    def label(self) -> str:
        """The model's name; -E marks edge features of the dataset, as in the papers."""
        spec = self.first.spec
        jumps = spec.kind.draws_folds and spec.settings.get("jumping")
        return spec.model.name + ("-JK" if jumps else "") + ("-E" if spec.settings.get("edge_features") else "")

    @property
    def name(self) -> str:
        """What the row is called where rows are compared: `gatedgcn-E/laplacian:8/layers=16`."""
        layers = self.setting("layers")
        encoding = [] if self.encoding == "none" else [self.encoding]
        return "/".join([self.label, *encoding, *([f"layers={layers}"] if layers else [])])

    @property
    def chosen(self) -> tuple[str, ...]:
        """The settings that the validation part chose, fold by fold."""
        spec = self.first.spec
        return tuple(name for name in spec.kind.selected if name in spec.settings)

    @property
    def choices(self) -> list[dict[str, Any]]:
        """What was chosen for each fold."""
        return [
            {"trial": trial.id, "split": trial.spec.split, "seed": trial.spec.seed}
            | {name: trial.spec.settings[name] for name in self.chosen}
            for trial in self.trials
            if self.chosen and trial.status != INCOMPLETE
        ]

    def setting(self, name: str) -> str:
        """Return a setting of the model in words: its value, or the range of those that were chosen."""
        if name not in self.chosen:
            return str(self.first.spec.settings.get(name, ""))
        found = sorted({choice[name] for choice in self.choices})
        return "" if not found else str(found[0]) if len(found) == 1 else f"{found[0]}-{found[-1]}"

    @property
    def encoding(self) -> str:
        """The encoding in short."""
        return short_encoding(self.first.spec.encoding)

    @property
    def has_epochs(self) -> bool:
        """The trials were trainings, not fits of a support vector machine."""
        return self.first.spec.kind.has_epochs

    @property
    def statuses(self) -> dict[str, int]:
        """How many trials ended how."""
        return dict(sorted(Counter(trial.status for trial in self.trials).items()))

    def scores(self, part: str) -> Summary | None:
        """Return the summary of the scores on train, val or test."""
        values = [trial.scores[part] for trial in self.trials if part in trial.scores]
        return self._summary(values, self.overlap, metric_range(self.first.metric))

    def _summary(
        self, values: list[float], overlap: float = 0.0, within: tuple[float, float] = UNBOUNDED
    ) -> Summary | None:
        """Return the summary of a number of each trial, with the kind of interval that the protocol asks for."""
        protocol = self.first.spec.protocol.partition("@")[0]
        if protocol in PROTOCOLS and PROTOCOLS.get(protocol).interval == "bootstrap":
            return bootstrapped(values)
        return summarise(values, overlap, within)

    @property
    def overlap(self) -> float:
        """The tested over the trained examples of a cross-validation; 0 where there is one split alone.

        With k splits the part tested is taken as a k-th, which the part trained on does not have.
        """
        if len({trial.spec.split for trial in self.trials}) < 2:
            return 0.0
        protocol = self.first.spec.protocol.partition("@")[0]
        there = PROTOCOLS.get(protocol).splits if protocol in PROTOCOLS else 0
        return 1 / (max(there, *(trial.spec.split + 1 for trial in self.trials)) - 1)

    @property
    def changes(self) -> str:
        """The rules that differ from the protocol's own, such as `max_epochs = 3`; empty where none does."""
        return changed_rules(self.first)

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """What sets the row apart from the published experiment: other data, changed rules."""
        return departures_of(self.trials)

    @property
    def derived_seeds(self) -> tuple[int, ...]:
        """The seeds of the trials that are not the protocol's own."""
        protocol = self.first.spec.protocol.partition("@")[0]
        known = PROTOCOLS.get(protocol).seeds if protocol in PROTOCOLS else None
        return tuple(sorted({t.spec.seed for t in self.trials if known is not None and t.spec.seed not in known}))

    def over_seeds(self, part: str) -> Summary | None:
        """Return the summary of the mean scores of each seed over its splits: how far repetitions differ."""
        of_seed: dict[int, list[float]] = {}
        for trial in self.trials:
            if part in trial.scores:
                of_seed.setdefault(trial.spec.seed, []).append(trial.scores[part])
        means = [sum(scores) / len(scores) for scores in of_seed.values()]
        return summarise(means, within=metric_range(self.first.metric))

    @property
    def extra_metrics(self) -> dict[str, Summary]:
        """Summaries of the extra metrics of the test set, by title."""
        values: dict[str, list[float]] = {}
        for trial in self.trials:
            for name, value in trial.details.get(EXTRA_METRICS, {}).items():
                if not isinstance(value, list):
                    values.setdefault(name, []).append(value)
        return {
            name: found
            for name, numbers in values.items()
            if (found := self._summary(numbers, within=metric_range(name)))
        }

    def mean(self, name: str) -> float | None:
        """Return the mean of a number of the finished trials, such as `epochs`."""
        found = summarise([getattr(trial, name) for trial in self.trials if getattr(trial, name) is not None])
        return found.mean if found else None

    @property
    def params(self) -> int | None:
        """The number of parameters, where it is the same for all trials."""
        if len({trial.params for trial in self.trials if trial.params is not None}) > 1:
            return None
        return next((trial.params for trial in self.trials if trial.params is not None), None)

    @property
    def hours(self) -> float | None:
        """The mean hours of training per trial."""
        whole = summarise([trial.details["seconds"] for trial in self.trials if "seconds" in trial.details])
        if whole is not None:  # a trial without epochs says itself how long it took
            return whole.mean / 3600
        epochs, seconds = self.mean("epochs"), self.mean("epoch_seconds")
        return None if epochs is None or seconds is None else epochs * seconds / 3600

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-like values; the documented shape of `--json`."""
        spec, extra = self.first.spec, self.extra_metrics
        return {
            "dataset": spec.dataset,
            "model": spec.model.name,
            "settings": {key: value for key, value in spec.settings.items() if key not in self.chosen},
            "encoding": None if spec.encoding is None else {"name": spec.encoding.name, **spec.encoding.arguments},
            "protocol": spec.protocol,
            "metric": self.first.metric,
            "higher_is_better": self.first.higher_is_better,
            **{part: asdict(found) if (found := self.scores(part)) else None for part in ("test", "train", "val")},
            "test_over_seeds": asdict(found) if (found := self.over_seeds("test")) else None,
            "params": self.params,
            "epochs": self.mean("epochs"),
            "epoch_seconds": self.mean("epoch_seconds"),
            "total_hours": self.hours,
            "statuses": self.statuses,
            "trials": [trial.id for trial in self.trials],
            "derived_seeds": list(self.derived_seeds),
            **({"choices": self.choices} if self.chosen else {}),
            **({"extra_metrics": {name: asdict(s) for name, s in extra.items()}} if extra else {}),
            "published": None if self.published is None else asdict(self.published),
            "departures": [asdict(departure) for departure in self.departures],
            "verdict": self.verdict.to_dict(),
        }


def result_rows(trials: Iterable[TrialRecord]) -> list[ResultRow]:
    """Gather trials into rows with their verdicts, in the order in which the first of each was started."""
    groups: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        groups.setdefault(canonical_json(_row_of(trial)), []).append(trial)
    chosen = [choose(group) for group in groups.values()]
    return judged([ResultRow(tuple(group), _published(group)) for group in chosen])


def _row_of(trial: TrialRecord) -> dict[str, Any]:
    """Return what trials of one table row have in common: all but split, seed and what the validation part chooses."""
    values, selected = trial.spec.row, trial.spec.kind.selected
    model = values["model"]
    model["arguments"] = {key: value for key, value in model["arguments"].items() if key not in selected}
    return values


def _published(group: list[TrialRecord]) -> PublishedResult | None:
    spec = group[0].spec
    params = next((trial.params for trial in group if trial.params is not None), None)
    paper = spec.protocol.partition("/")[0]
    return find_published(paper, spec.dataset, spec.model.name, spec.settings, spec.encoding, params)
