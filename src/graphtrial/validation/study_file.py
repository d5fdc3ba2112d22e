"""Validate a study file: names, settings, protocols; no dataset is fetched or prepared."""

from __future__ import annotations

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import DATASETS
from graphtrial.datasets.prepare import is_prepared
from graphtrial.nn.budget import parse_budget
from graphtrial.studies import ModelEntry, Study, load_study
from graphtrial.studies.plan import check_entry
from graphtrial.studies.study import parse_encoding
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.training import Protocol
from graphtrial.trials.kinds import kind_of
from graphtrial.tuning.budget import Budget
from graphtrial.tuning.check import check_space
from graphtrial.tuning.of_study import is_tuned
from graphtrial.tuning.space_files import load_space
from graphtrial.tuning.subject import Subject
from graphtrial.validation.verdict import Verdict


def check_study(file: str) -> Verdict:
    """Return all problems of a study file."""
    verdict = Verdict(file, "study")
    with verdict.noting():
        study = load_study(file)
        for name in study.datasets:
            with verdict.noting():
                DATASETS.get(name)
        for row in study.rows:
            _check_row(study, row, verdict)
            if study.tune is not None:
                with verdict.noting(f"[tune] for model '{row.model}'"):
                    _check_tuning(study.tune, row, study)
        if verdict.is_sound:
            with verdict.noting():
                _count(study, verdict)
    return verdict


def _check_row(study: Study, row: ModelEntry, verdict: Verdict) -> None:
    subject = f"model '{row.model}'"
    for name in row.datasets or study.datasets:
        if name not in study.datasets:
            verdict.problems.append(f"{subject} is for dataset '{name}', which the study does not have")
            continue
        try:
            spec = DATASETS.get(name)
        except GraphTrialError:
            continue  # reported already
        with verdict.noting(subject):
            protocol = study.protocol_for(spec, row)
            study.seeds_of(protocol)
            _check_settings(study, row, protocol)


def _check_settings(study: Study, row: ModelEntry, protocol: Protocol) -> None:
    for settings in row.points():
        rules = protocol.rules_for(row.model, settings.get("layers"), study.rules_of(row))
        study.split_count(protocol, rules)
        kind_of(rules).check_settings(row.model, settings)
    kind = kind_of(protocol.rules_for(row.model))
    check_entry(row, kind)
    if kind.takes_encodings:
        for encoding in row.encodings:
            parse_encoding(encoding)
        if row.budget is not None:
            parse_budget(row.budget)


def _check_tuning(tune: TuneOptions, row: ModelEntry, study: Study) -> None:
    """Check the space against the model and the rules, and the budget; the parameter budget needs data."""
    Budget.parse(tune.budget)
    for name in row.datasets or study.datasets:
        if not is_tuned(study, row, name):
            continue
        protocol, rules = row.protocol or study.protocol, study.rules_of(row)
        subject = Subject(name, row.model, row.settings, protocol=protocol, rules=rules)
        check_space(subject.narrowed(load_space(tune.space, row.model)), row.model, subject.base_rules)


def _count(study: Study, verdict: Verdict) -> None:
    absent = [name for name in study.datasets if not is_prepared(name)]
    if absent:
        verdict.facts.append(f"the number of trials needs prepared data: graphtrial data prepare {' '.join(absent)}")
    else:
        verdict.facts.append(f"{len(study.trials())} trials on {', '.join(study.datasets)}")
