from __future__ import annotations

import dataclasses
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import load
from graphtrial.encodings import ENCODINGS
from graphtrial.encodings.notation import short_encoding
from graphtrial.nn import MODELS
from graphtrial.results.titles import encoding_title
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.plan import plan
from graphtrial.trials import TrialSpec
from graphtrial.trials.shapes import planned_shapes, shapes_for
from graphtrial.trials.trial import make_job

PRINT_IDS = (
    "from graphtrial.studies import ModelEntry, Study\n"
    "study = Study('s', 'csl', (ModelEntry('gcn', {'width': 8}, ('laplacian:4',)),), seeds=2, splits=1)\n"
    "print(*[trial.id for trial in study.trials()])"
)


@pytest.mark.slow
def test_id_does_not_depend_on_process_or_hash_seed(study: Study) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(PRINT_IDS, {})  # noqa: S102
    environment = {**os.environ, "PYTHONHASHSEED": "123", "LANG": "C.UTF-8", "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_IDS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == printed.getvalue() != ""


def test_id_depends_on_every_field(study: Study) -> None:
    spec = study.trials()[-1]
    other = study.trials()[0]
    changes = {
        "dataset": "zinc",
        "data": "0" * 64,
        "split": 7,
        "model": dataclasses.replace(spec.model, arguments={**spec.model.arguments, "width": 9}),
        "encoding": other.encoding,
        "encoding_version": 99,
        "protocol": "bgnn-v5/csl@2",
        "rules": spec.rules.changed({"optimizer.lr": 0.1}),
        "seed": 1,
        "plugins": {"mine.py": "0" * 64},
        "model_version": 2,
        "score_test": False,
    }
    assert set(changes) == {field.name for field in dataclasses.fields(TrialSpec)}
    assert len({spec.id, *(dataclasses.replace(spec, **{key: value}).id for key, value in changes.items())}) == 13


def test_explicit_defaults_give_the_same_id() -> None:
    short = Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), seeds=1, splits=1).trials()[0]
    explicit = {"width": 8, "layers": 4, "residual": True, "batch_norm": True, "readout": "mean", "dropout": 0.0}
    assert Study("s", "csl", (ModelEntry("gcn", explicit),), seeds=1, splits=1).trials()[0].id == short.id


def test_specification_round_trips_through_json(study: Study) -> None:
    for spec in study.trials():
        again = TrialSpec.from_dict(json.loads(json.dumps(spec.to_dict())))
        assert again == spec
        assert again.id == spec.id


def test_trial_refuses_other_data(study: Study) -> None:
    with pytest.raises(GraphTrialError, match="made for other data"):
        make_job(dataclasses.replace(study.trials()[0], data="0" * 64))


@pytest.mark.parametrize("field", ["model_version", "encoding_version"])
def test_trial_with_other_component_version_raises(study: Study, field: str) -> None:
    spec = next(trial for trial in study.trials() if trial.encoding is not None)
    make_job(spec)
    with pytest.raises(
        GraphTrialError, match=r"was run with version 99 of .*; this is version \d, whose numbers differ"
    ):
        make_job(dataclasses.replace(spec, **{field: 99}))


def test_version_1_is_not_part_of_the_identity(study: Study) -> None:
    spec = next(trial for trial in study.trials() if trial.model.name == "gcn")
    assert spec.model_version == 1
    assert "version" not in spec.row["model"]
    raised = dataclasses.replace(spec, model_version=2)
    assert raised.row["model"]["version"] == 2
    assert TrialSpec.from_dict(raised.to_dict()) == raised


def test_new_model_version_does_not_reuse_old_results(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), seeds=1, splits=1)
    (old,), before = study.trials(), [row.key for row in plan(study)]
    monkeypatch.setattr(MODELS.get("gcn"), "version", 2, raising=False)
    (new,), after = study.trials(), [row.key for row in plan(study)]
    assert (old.model_version, new.model_version) == (1, 2)
    assert old.id != new.id
    assert before != after  # nor does a plan count it as done
    with pytest.raises(GraphTrialError, match="version 1 of model 'gcn'"):
        make_job(old)


def test_version_must_be_an_integer(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (0, "2", True, 1.5):
        monkeypatch.setattr(MODELS.get("gcn"), "version", wrong, raising=False)
        with pytest.raises(GraphTrialError, match="integer from 1 on"):
            Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), seeds=1, splits=1).trials()


def test_missing_split_raises() -> None:
    with pytest.raises(GraphTrialError, match="splits, not 9"):
        Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), splits=9).trials()


COMBINED = Study(
    "s", "csl", (ModelEntry("gcn", {"width": 8}, ("rwse:3+laplacian:4", "laplacian:4+rwse:3")),), seeds=1, splits=1
)


def test_trial_with_several_encodings_has_their_columns_and_shapes() -> None:
    spec, swapped = COMBINED.trials()
    assert spec.id != swapped.id
    assert spec.names == ("csl", "gcn", "random-walk", "laplacian")
    assert TrialSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    job = make_job(spec)
    assert job.graphs.column("encoding").values.shape[1] == 7
    assert job.encoding is not None
    shapes = shapes_for(load("csl"), job.encoding)
    assert [(part.name, part.width) for part in shapes.encodings] == [("random-walk", 3), ("laplacian", 4)]
    assert planned_shapes("csl", job.encoding).encodings == shapes.encodings
    assert shapes.encoding_dim == 7
    assert shapes_for(load("csl"), None).encodings == ()


def test_new_encoding_part_version_does_not_reuse_old_results(monkeypatch: pytest.MonkeyPatch) -> None:
    old = COMBINED.trials()[0]
    monkeypatch.setattr(ENCODINGS.get("random-walk"), "version", 7)
    assert COMBINED.trials()[0].id != old.id
    with pytest.raises(GraphTrialError, match=r"version 1 of encoding 'random-walk'; this is version 7"):
        make_job(old)


@pytest.mark.parametrize("parts", [5, [], ["rwse:3"], [{"name": "os:system"}, {"name": "laplacian"}], [{"name": "x"}]])
def test_unregistered_combination_is_shown_but_not_run(parts: Any) -> None:
    values = COMBINED.trials()[0].to_dict()
    values["encoding"] = {"name": "combined", "arguments": {"parts": parts}}
    spec = TrialSpec.from_dict(values)
    assert encoding_title(spec.encoding)
    assert short_encoding(spec.encoding)
    with pytest.raises(GraphTrialError) as raised:
        make_job(spec)
    assert len(str(raised.value).splitlines()) == 1
