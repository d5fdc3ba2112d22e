"""The searches of a study that declares `tune`: one for each model on each dataset, with the same budget."""

from __future__ import annotations

from collections.abc import Iterator

from graphtrial.core.errors import GraphTrialError
from graphtrial.studies import ModelEntry, Study
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.space_files import load_space
from graphtrial.tuning.subject import Subject


def tunings_of(study: Study) -> list[Tuning]:
    """Return the searches of a study, none where it declares no `tune`."""
    return [] if study.tune is None else list(_tunings(study))


def _tunings(study: Study) -> Iterator[Tuning]:
    if study.tune is None:
        return
    for dataset in study.datasets:
        for entry in study.rows:
            if entry.datasets is None or dataset in entry.datasets:
                subject = _subject(study, entry, dataset)
                seeds = len(study.seeds) if isinstance(study.seeds, tuple) else study.seeds
                yield Tuning(subject, load_space(study.tune.space, entry.model), study.tune, seeds, study.splits)


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
