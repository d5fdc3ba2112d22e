"""From trials in the store to the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from graphtrial import published
from graphtrial.datasets.base import published_name
from graphtrial.report.stats import Summary, summarise
from graphtrial.spec import Component, canonical_json
from graphtrial.studies.store import TrialRecord
from graphtrial.training import Rules


@dataclass(frozen=True)
class ResultRow:
    """All trials that differ in split and seed alone, summed up, with the published row beside them."""

    trials: tuple[TrialRecord, ...]
    published: published.PublishedRow | None

    @property
    def first(self) -> TrialRecord:
        """Any one of the trials: they share everything but split and seed."""
        return self.trials[0]

    @property
    def label(self) -> str:
        """The model's name; -E marks edge features of the dataset, as in the papers."""
        model = self.first.spec.model
        return model.name + ("-E" if model.arguments.get("edge_features") else "")

    @property
    def encoding(self) -> str:
        """The encoding in short."""
        return short_encoding(self.first.spec.encoding)

    @property
    def has_epochs(self) -> bool:
        """The trials were trainings, not fits of a support vector machine."""
        return isinstance(self.first.spec.rules, Rules)

    @property
    def statuses(self) -> dict[str, int]:
        """How many trials ended how."""
        return dict(sorted(Counter(trial.status for trial in self.trials).items()))

    def scores(self, part: str) -> Summary | None:
        """Return the summary of the scores on train, val or test."""
        return summarise([trial.scores[part] for trial in self.trials if part in trial.scores])

    def over_seeds(self, part: str) -> Summary | None:
        """Return the summary of the mean scores of each seed over its splits: how far repetitions differ."""
        of_seed: dict[int, list[float]] = {}
        for trial in self.trials:
            if part in trial.scores:
                of_seed.setdefault(trial.spec.seed, []).append(trial.scores[part])
        return summarise([sum(scores) / len(scores) for scores in of_seed.values()])

    def mean(self, name: str) -> float | None:
        """Return the mean of a number of the finished trials, such as `epochs`."""
        found = summarise([getattr(trial, name) for trial in self.trials if getattr(trial, name) is not None])
        return found.mean if found else None

    @property
    def params(self) -> int | None:
        """The number of parameters."""
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
        spec = self.first.spec
        return {
            "dataset": spec.dataset,
            "model": spec.model.name,
            "settings": spec.model.arguments,
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
            "published": None if self.published is None else asdict(self.published),
        }


def result_rows(trials: Iterable[TrialRecord]) -> list[ResultRow]:
    """Gather trials into rows, in the order in which the first of each was started."""
    groups: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        groups.setdefault(canonical_json(trial.spec.row), []).append(trial)
    return [ResultRow(tuple(group), _published(group)) for group in groups.values()]


def short_encoding(encoding: Component | None) -> str:
    """Return an encoding as the tables write it: `laplacian:20`, a rule other than the usual one in words."""
    if encoding is None:
        return "none"
    usual = {"sign": "random", "order": "fixed"}
    values = [
        str(v) if i == 0 else f"{k}={v}" for i, (k, v) in enumerate(encoding.arguments.items()) if usual.get(k) != v
    ]
    return ":".join([encoding.name, ",".join(values)]) if values else encoding.name


def _published(group: list[TrialRecord]) -> published.PublishedRow | None:
    spec = group[0].spec
    paper = spec.protocol.partition("/")[0]
    if not published.rows(paper=paper):  # a protocol of the user's own
        return None
    arguments = spec.model.arguments
    encoding = None
    if spec.encoding is not None:
        given = spec.encoding.arguments
        encoding = (spec.encoding.name, given.get("k"), given.get("sign", given.get("order")))
    return published.find(
        published_name(spec.dataset),
        spec.model.name,
        layers=arguments.get("layers"),
        params=next((trial.params for trial in group if trial.params is not None), None),
        encoding=encoding,
        edge_features=bool(arguments.get("edge_features")),
        paper=paper,
    )
