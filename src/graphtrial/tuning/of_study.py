"""The searches of a study that declares `tune`: one for each model on each dataset, with the same budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import DATASETS
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials.kinds import kind_of
from graphtrial.trials.store.searches import FOLD, SearchRecord
from graphtrial.tuning.budget import Budget
from graphtrial.tuning.declaration import Tuning, declare_searches
from graphtrial.tuning.space_files import load_space
from graphtrial.tuning.subject import Subject


def tunings_of(study: Study) -> list[Tuning]:
    """Return the searches of a study, none where it declares no `tune`."""
    return [] if study.tune is None else list(_tunings(study))


def is_tuned(study: Study, entry: ModelEntry, dataset: str) -> bool:
    """Whether `tune` applies to a row: a kernel beside networks selects its settings on the validation part itself."""
    protocol = study.protocol_for(DATASETS.get(dataset), entry)
    return protocol.kernel_rules is None or kind_of(protocol.rules_for(entry.model)).has_epochs


def _tunings(study: Study) -> Iterator[Tuning]:
    if study.tune is None:
        return
    for dataset in study.datasets:
        for entry in study.rows:
            if (entry.datasets is None or dataset in entry.datasets) and is_tuned(study, entry, dataset):
                subject = _subject(study, entry, dataset)
                seeds = len(study.seeds) if isinstance(study.seeds, tuple) else study.seeds
                space = load_space(study.tune.space, entry.model)
                yield from declare_searches(subject, space, study.tune, seeds, study.splits)


def _subject(study: Study, entry: ModelEntry, dataset: str) -> Subject:
    if entry.grid or len(entry.encodings) > 1 or study.published is not None or isinstance(study.seeds, tuple):
        raise GraphTrialError(
            f"model '{entry.model}' of a study with `tune` needs one encoding and one value of each setting, and the "
            "study a number of seeds: grid, published and listed seeds are for studies without"
        )
    (encoding,) = entry.encodings
    protocol, rules = entry.protocol or study.protocol, study.rules_of(entry)
    return Subject(dataset, entry.model, entry.settings, encoding, entry.budget, protocol, rules)


def planned_searches(study: Study) -> list[dict[str, Any]]:
    """Return what is known without data of the declaration of each search of a study, as `Tuning.to_dict` has it."""
    if study.tune is None:
        return []
    options = {key: value for key, value in asdict(study.tune).items() if key != "space"}
    planned = []
    for dataset in study.datasets:
        for entry in study.rows:
            if (entry.datasets is not None and dataset not in entry.datasets) or not is_tuned(study, entry, dataset):
                continue
            subject = {
                "dataset": DATASETS.get(dataset).name,
                **{"model": entry.model, "settings": entry.settings, "encoding": entry.encodings[0]},
                **{"params": entry.budget, "rules": study.rules_of(entry)},
            }
            shared = {
                **options,
                "budget": str(Budget.parse(study.tune.budget)),
                "seeds": study.seeds,
                "subject": subject,
            }
            protocol = study.protocol_for(DATASETS.get(dataset), entry)
            if kind_of(protocol.rules_for(entry.model)).is_nested:
                folds = range(protocol.splits if study.splits is None else study.splits)
                planned += [{**shared, "splits": None, FOLD: fold} for fold in folds]
            else:
                planned.append({**shared, "splits": study.splits})
    return planned


def study_searches(study: Study, searches: Sequence[SearchRecord]) -> list[SearchRecord]:
    """Return the finished searches of a store that a study declares."""
    planned = planned_searches(study)
    return [each for each in searches if any(_declares(each.declaration, plan) for plan in planned)]


def finished_searches(study: Study, searches: Sequence[SearchRecord]) -> int:
    """Return how many searches of a study are finished in a store."""
    return sum(any(_declares(each.declaration, plan) for each in searches) for plan in planned_searches(study))


def _declares(declaration: Mapping[str, Any], planned: Mapping[str, Any]) -> bool:
    """Whether a declaration has all planned values, and is of an outer fold where that is planned."""
    if (FOLD in declaration) != (FOLD in planned) or not isinstance(declaration.get("subject"), Mapping):
        return False
    subject = {key: declaration["subject"].get(key) for key in planned["subject"]}
    return {**{key: declaration.get(key) for key in planned}, "subject": subject} == planned
