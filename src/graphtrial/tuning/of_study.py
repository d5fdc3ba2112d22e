"""The searches of a study that declares `tune`: one for each model on each dataset, with the same budget."""

from __future__ import annotations

from collections.abc import Iterator

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import DATASETS
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials.kinds import kind_of
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
    return Subject(
        dataset, entry.model, entry.settings, encoding, entry.budget, entry.protocol or study.protocol, study.rules
    )
