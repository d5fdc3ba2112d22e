"""Checks of a study that need no data, made before a dataset is downloaded or prepared."""

from __future__ import annotations

from typing import Any

from graphtrial.datasets import DATASETS
from graphtrial.datasets.custom.dataset import DEFAULT_PROTOCOL
from graphtrial.datasets.custom.library.resolve import is_to_import
from graphtrial.nn import parse_budget
from graphtrial.studies.plan import check_entry
from graphtrial.studies.study import ModelEntry, Study, parse_encoding
from graphtrial.training import PROTOCOLS, Protocol
from graphtrial.trials.kinds import TrialKind, kind_of


def check_without_data(study: Study) -> None:
    """Raise an error for a name, setting, rule, encoding or budget that no dataset could make valid."""
    checked = set()
    for name in study.datasets:
        for number, entry in enumerate(study.rows):
            if entry.datasets is not None and name not in entry.datasets:
                continue
            protocol = _protocol(study, entry, name)
            if (number, protocol.name) not in checked:
                checked.add((number, protocol.name))
                check_row(entry, kind_of(protocol.rules_for(entry.model, changes=study.rules_of(entry))))


def check_row(entry: ModelEntry, kind: TrialKind[Any] | None = None) -> None:
    """Raise an error for an invalid model, setting, encoding or budget of one row; its trials train by default."""
    kind = kind or kind_of(PROTOCOLS.get(DEFAULT_PROTOCOL).rules)
    check_entry(entry, kind)
    for settings in entry.points():
        kind.check_settings(entry.model, settings)
    for text in entry.encodings:
        parse_encoding(text, entry.model if kind.takes_encodings else None)
    if entry.budget is not None:
        parse_budget(entry.budget)


def _protocol(study: Study, entry: ModelEntry, dataset: str) -> Protocol:
    """Return the protocol of a row; for a dataset that a library has yet to load, that of imported data by default."""
    if not is_to_import(dataset):
        return study.protocol_for(DATASETS.get(dataset), entry)
    given = entry.protocol or study.protocol
    return PROTOCOLS.get(given if given and "*" not in given else DEFAULT_PROTOCOL)
